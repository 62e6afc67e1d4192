// Package monitor reads values beside the samples: what the layers around a program did while its goroutines were sampled.
//
// A [Source] is one place that values are read from, such as a file of /proc, with the monitors that it has. A new one is a
// file in this package, with an entry in the list of [Builtin].
//
// Reading happens outside the halts. What can't be read is not measured, which is not 0: the recording says why.
package monitor

import (
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
)

// Builtin returns the sources that every recording has unless something else is asked for: they cost next to nothing.
func Builtin() []Source {
	return []Source{
		processStat,
	}
}

// A Target is the program that is observed.
type Target struct {
	PID int
}

// A Source is a place that values are read from.
type Source struct {
	Monitors []sampledata.Monitor // in the order of a Reader's values

	// Open makes ready to read. The error says why nothing can be measured, and what to do about it.
	Open func(Target) (Reader, error)
}

// A Reader reads the values of one source for one target. It is used by one goroutine.
type Reader interface {
	// Read sets the values, which are as many as the source's monitors, and which are not measured as they come. If there is
	// an error, none of them counts.
	Read(values []sampledata.Value) error

	Close() error
}

// A Set reads the sources of one recording.
type Set struct {
	sources []openSource
}

type openSource struct {
	reader Reader
	ids    []sampledata.MonitorID
	values []sampledata.Value
}

// Open makes ready to read the sources, and defines their monitors in the sink. Those of a source that can't be read are
// there, too, with the reason why they are not measured.
func Open(t Target, sources []Source, sink sampledata.Sink) *Set {
	s := &Set{}
	for _, source := range sources {
		o := openSource{values: make([]sampledata.Value, len(source.Monitors))}
		err := o.open(source, t)
		for _, m := range source.Monitors {
			if err != nil {
				m.Unmeasured = err.Error()
			}
			o.ids = append(o.ids, sink.Monitor(m))
		}
		if err == nil {
			s.sources = append(s.sources, o)
		}
	}
	return s
}

// open opens a source and tries to read it.
func (o *openSource) open(source Source, t Target) (err error) {
	if o.reader, err = source.Open(t); err != nil {
		return err
	}
	if err = o.reader.Read(o.values); err != nil {
		return errors.Join(err, o.reader.Close())
	}
	return nil
}

// Measure reads all sources and hands the values to the sink, for its next sample. What can't be read is not measured in
// that sample, and the error says why.
func (s *Set) Measure(sink sampledata.Sink) error {
	var failed error
	for i := range s.sources {
		o := &s.sources[i]
		clear(o.values)
		if err := o.reader.Read(o.values); err != nil {
			clear(o.values)
			failed = errors.Join(failed, err)
		}
		for k, v := range o.values {
			sink.Measure(o.ids[k], v)
		}
	}
	return failed
}

// Close ends the reading.
func (s *Set) Close() error {
	var failed error
	for i := range s.sources {
		failed = errors.Join(failed, s.sources[i].reader.Close())
	}
	if failed != nil {
		return fmt.Errorf("close monitors: %w", failed)
	}
	return nil
}
