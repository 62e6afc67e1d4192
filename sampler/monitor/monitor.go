// Package monitor reads values beside the samples: what the layers around a program did while its goroutines were sampled.
//
// A [Source] is a place that values are read from, such as a file of /proc, and the monitors whose values it has. To add
// one, write a file in this package and add an entry to the list of [Builtin].
//
// Values are read outside the halts. A value that can't be read is recorded as not measured, which differs from 0, and
// the recording says why.
package monitor

import (
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
)

// Builtin returns the sources that every recording reads by default: they cost next to nothing.
func Builtin() []Source {
	return []Source{
		processStat,
	}
}

// A Target is the program that is recorded.
type Target struct {
	PID int
}

// A Source is a place that values are read from.
type Source struct {
	Monitors []sampledata.Monitor // in the order of the values that a Reader returns

	// Open opens the source for a target. An error says why nothing can be measured, and what to do about it.
	Open func(Target) (Reader, error)
}

// A Reader reads the values of one source for one target. It is not safe for concurrent use.
type Reader interface {
	// Read sets the values, one for each monitor of the source. All are passed in as not measured. If Read returns an
	// error, all values are ignored.
	Read(values []sampledata.Value) error

	Close() error
}

// A Set reads all sources of one recording.
type Set struct {
	sources []openSource
}

type openSource struct {
	reader Reader
	ids    []sampledata.MonitorID
	values []sampledata.Value
}

// Open opens the sources and defines their monitors in the sink. If a source can't be read, its monitors are defined,
// too, with the reason why they are not measured.
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

// open opens a source and reads it once as a test.
func (o *openSource) open(source Source, t Target) (err error) {
	if o.reader, err = source.Open(t); err != nil {
		return err
	}
	if err = o.reader.Read(o.values); err != nil {
		return errors.Join(err, o.reader.Close())
	}
	return nil
}

// Measure reads all sources and passes the values to the sink for its next sample. Values that can't be read are not
// measured in that sample, and Measure returns the reason.
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

// Close closes all sources.
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
