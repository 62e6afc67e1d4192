// Package monitor reads values beside the samples: what the
// layers around a program did while its goroutines were sampled.
//
// A [Source] is a place to read values from, such as a file of
// /proc. It has the monitors of these values. To add a source,
// write a file in this package and add an entry to the list of
// [Builtin].
//
// Values are read outside the halts, right after them. If a halt
// has copied a value anyway, it is taken from there. A value
// that can't be read is recorded as not measured, which differs
// from 0, and the recording says why.
//
// Between two samples, other programs push a sample's data out
// of the processor's caches. Most of the reading time is then
// spent waiting for memory, so each sample touches little
// memory.
package monitor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Builtin returns the sources that every recording reads by
// default: they cost next to nothing.
func Builtin() []Source {
	return append([]Source{
		runtimeStatistics,
		heapObjects,
		processClock,
		processStat,
		threadTimes,
	}, system()...)
}

// A Target is the program that is recorded.
type Target struct {
	PID    int
	Binary *gobinary.Binary // what is known of its executable; nil if nothing is

	// Seen returns memory that has been copied from the program
	// for the current sample. ReadAlso asks for more memory.
	// Both are nil if there are no samples.
	Seen     func() memory.Copy
	ReadAlso func(addr uint64, size int)
}

// A Source is a place that values are read from.
type Source struct {
	// Monitors are those that the recording defines as not
	// measured, with the reason, if Open fails.
	Monitors []sampledata.Monitor

	// Every is the least time between two reads of a source that
	// costs more than others. At samples in between, the values
	// are the last ones.
	Every time.Duration

	// Required: without this source, there is to be no recording.
	Required bool

	// Open opens the source for a target. An error says why
	// nothing can be measured, and what to do about it.
	Open func(Target) (Reader, error)
}

// A Reader reads the values of one source for one target. It is
// not safe for concurrent use.
type Reader interface {
	// Monitors returns the monitors in the order of their
	// values. There may be more monitors after a Read. Monitors
	// with a reason why they are not measured have no values.
	Monitors() []sampledata.Monitor

	// Read appends a value for each monitor. If it returns an
	// error, nothing is measured at that sample, unless it is a
	// *partError.
	Read([]sampledata.Value) ([]sampledata.Value, error)

	Close() error
}

// A partError says that there is more to measure than was
// measured. The values are good.
type partError struct{ error }

// hasValues reports whether a read with this error has values.
func hasValues(err error) bool {
	if err == nil {
		return true
	}
	var part *partError // on the heap, so not at each sample
	return errors.As(err, &part)
}

// A source is expensive if a read takes longer than this. Then
// the time until the next read is at least costShare times as
// long as the read: a program with thousands of threads takes
// milliseconds.
const (
	expensive = 250 * time.Microsecond
	costShare = 100
)

// pause returns the least time from one read of the source to the next.
func (o *openSource) pause() time.Duration {
	if o.took > expensive {
		return max(o.every, o.took*costShare)
	}
	return o.every
}

// A Set reads all sources of one recording.
type Set struct {
	began   time.Time
	due     []time.Duration // by source: when it is read again, since began
	sources []openSource
	values  []sampledata.Value // of the source that is read
	names   map[string]int     // how often each name was given
}

type openSource struct {
	reader  Reader // nil if the source can't be read
	outputs []output
	every   time.Duration
	// to read it: the shorter of the last two reads, since in
	// one something else may have had the CPU
	took       time.Duration
	lastTook   time.Duration // to read it the last time
	absent     []sampledata.Monitor
	unreported error // a *partError of the read that was a test
}

// An output is where the values of a monitor go.
type output struct {
	id     sampledata.MonitorID
	has    bool             // it has values
	before sampledata.Value // the value that the sink has
}

// Open opens the sources. If a required one can't be read, it
// closes them again, and the error says why.
func Open(t Target, sources []Source) (*Set, error) {
	s := &Set{began: time.Now(), names: map[string]int{}}
	for _, source := range sources {
		o := openSource{every: source.Every}
		if err := o.open(source, t); err != nil {
			if source.Required {
				return nil, errors.Join(fmt.Errorf("monitor %w", err), s.Close())
			}
			for _, m := range source.Monitors {
				m.Unmeasured, _, _ = strings.Cut(err.Error(), "\n")
				o.absent = append(o.absent, m)
			}
		}
		s.sources = append(s.sources, o)
	}
	return s, nil
}

// Define defines the monitors in the sink of the recording,
// before its first sample. If a source can't be read, its
// monitors are defined, too, with the reason why they are not
// measured.
func (s *Set) Define(sink sampledata.Sink) {
	for i := range s.sources {
		o := &s.sources[i]
		for _, m := range o.absent {
			sink.Monitor(s.unique(m))
		}
		if o.reader != nil {
			s.define(o, sink)
		}
	}
	s.sources = slices.DeleteFunc(s.sources, func(o openSource) bool { return o.reader == nil })
	s.due = make([]time.Duration, len(s.sources))
}

// open opens a source and reads it once as a test. If it fails,
// there is no reader.
func (o *openSource) open(source Source, t Target) error {
	reader, err := source.Open(t)
	if err != nil {
		return err
	}
	if _, o.unreported = reader.Read(nil); !hasValues(o.unreported) {
		return errors.Join(o.unreported, reader.Close())
	}
	o.reader = reader
	return nil
}

// unique returns the monitor with a name that no other has: two
// endpoints may use the same names.
func (s *Set) unique(m sampledata.Monitor) sampledata.Monitor {
	s.names[m.Name]++
	if n := s.names[m.Name]; n > 1 {
		m.Name = fmt.Sprintf("%s (%d)", m.Name, n)
	}
	return m
}

// define defines the reader's new monitors.
func (s *Set) define(o *openSource, sink sampledata.Sink) {
	all := o.reader.Monitors()
	for _, m := range all[len(o.outputs):] {
		m = s.unique(m)
		o.outputs = append(o.outputs, output{id: sink.Monitor(m), has: m.Unmeasured == ""})
	}
}

// Measure reads the sources that are due and passes the values
// to the sink for its next sample. Values that can't be read are
// not measured in that sample, and Measure returns the reason.
func (s *Set) Measure(sink sampledata.Sink) error {
	var failed error
	begin := time.Since(s.began)
	from := begin
	for i, due := range s.due {
		if begin < due {
			continue
		}
		o := &s.sources[i]
		failed = errors.Join(failed, s.measure(o, sink))
		now := time.Since(s.began)
		o.took, o.lastTook = min(now-from, o.lastTook), now-from
		s.due[i], from = begin+o.pause(), now
	}
	return failed
}

// measure reads a source, and passes on what has changed.
func (s *Set) measure(o *openSource, sink sampledata.Sink) (err error) {
	if s.values, err = o.reader.Read(s.values[:0]); !hasValues(err) {
		s.values = slices.Grow(s.values[:0], len(o.outputs))[:len(o.outputs)]
		clear(s.values)
	}
	if len(s.values) > len(o.outputs) {
		s.define(o, sink)
	}
	for k, v := range s.values {
		if to := &o.outputs[k]; to.has && v != to.before {
			sink.Measure(to.id, v)
			to.before = v
		}
	}
	err, o.unreported = errors.Join(err, o.unreported), nil
	return err
}

// Close closes all sources. A second Close does nothing.
func (s *Set) Close() error {
	var failed error
	for i := range s.sources {
		if r := s.sources[i].reader; r != nil {
			failed = errors.Join(failed, r.Close())
		}
	}
	s.sources, s.due = nil, nil
	if failed != nil {
		return fmt.Errorf("close monitors: %w", failed)
	}
	return nil
}
