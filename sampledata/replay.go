package sampledata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Write writes the recording to a new folder, as [Create] does.
func (r *Recording) Write(dir string) error { return r.write(dir, Create) }

// Replace writes the recording in place of one that may exist,
// as the function [Replace] does.
func (r *Recording) Replace(dir string) error { return r.write(dir, Replace) }

func (r *Recording) write(dir string, create func(string, Header) (*Writer, error)) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("write recording %s: %w", dir, err)
	}
	w, err := create(dir, r.Header)
	if err != nil {
		return err
	}
	if err := r.replay(w); err != nil {
		_ = w.Close() // the first error is the cause
		return err
	}
	return w.Close()
}

var errProfile = errors.New("a profile has no samples: 'cpprof import' writes it as a pprof profile")

// replay passes a valid recording to an empty sink, sample by
// sample. The codes stay the same. Functions, nodes and other
// things that have codes come first.
func (r *Recording) replay(sink Sink) error {
	if r.Profile != nil {
		return errProfile
	}
	ends, endsBefore := r.ends()
	m := measuring{r: r, sink: sink}
	if err := m.begin(); err != nil {
		return err
	}
	r.replayNames(sink)
	var changes []Change
	run, lockNames := 0, r.LockNames
	for i := range r.Samples.Len() {
		changes = changes[:0]
		for len(lockNames) > 0 && int(lockNames[0].First) <= i {
			sink.LockName(lockNames[0])
			lockNames = lockNames[1:]
		}
		for ; run < r.Runs.Len(); run++ {
			begun := r.Runs.At(run)
			if int(begun.First) > i {
				break
			}
			changes = append(changes, Change{Goroutine: begun.Goroutine, Again: true, State: begun.State()})
		}
		for _, e := range ends[endsBefore[i]:endsBefore[i+1]] {
			changes = append(changes, Change{Goroutine: r.Runs.At(int(e)).Goroutine, Gone: true})
		}
		slices.SortFunc(changes, func(a, b Change) int {
			return cmp.Compare(a.Goroutine, b.Goroutine)
		})
		if err := m.upTo(i); err != nil {
			return err
		}
		if i == r.Samples.Len()-1 { // not later, since a recording may lack an end
			r.replayNews(sink)
		}
		if err := sink.Sample(r.Samples.At(i), changes); err != nil {
			return err
		}
	}
	for _, n := range lockNames { // valid after the last sample
		sink.LockName(n)
	}
	if r.Samples.Len() == 0 {
		r.replayNews(sink)
	}
	for _, w := range r.Warnings {
		sink.Warn(w.Kind, w.Message, w.Count)
	}
	if r.End == nil {
		return nil
	}
	return sink.Finish(*r.End)
}

// replayNames passes on what has codes: functions just before
// what needs them, as a sampler does.
func (r *Recording) replayNames(sink Sink) {
	functions := 0
	upTo := func(end int) {
		for ; functions < end; functions++ {
			sink.Function(r.Functions[functions])
		}
	}
	for _, n := range r.Nodes {
		upTo(int(n.Function) + 1)
		sink.Node(n)
	}
	for _, g := range r.Goroutines.All() {
		upTo(int(g.Start) + 1)
		sink.Goroutine(g)
	}
	upTo(len(r.Functions))
	for _, set := range r.LabelSets[1:] {
		sink.LabelSet(set)
	}
	for _, set := range r.HolderSets[1:] {
		sink.HolderSet(set)
	}
}

// replayNews passes on what does not belong to one sample.
func (r *Recording) replayNews(sink Sink) {
	for _, p := range r.Probes {
		sink.Probe(p)
	}
	for _, t := range r.Calls {
		sink.Calls(t)
	}
	if r.Marking != nil {
		sink.Mark(r.Marking)
	}
}

// ends returns the runs after which their goroutine is gone.
// They are ordered by the first sample without the goroutine:
// sample i has ends[before[i]:before[i+1]].
func (r *Recording) ends() (ends, before []int32) {
	next := make([]int32, r.Goroutines.Len()) // the first sample of the goroutine's next run
	before = make([]int32, r.Samples.Len()+1)
	gone := make([]bool, r.Runs.Len())
	for i := r.Runs.Len() - 1; i >= 0; i-- {
		run := r.Runs.At(i)
		gone[i] = run.Last+1 != next[run.Goroutine] && int(run.Last+1) < r.Samples.Len()
		next[run.Goroutine] = run.First
		if gone[i] {
			before[run.Last+2]++
		}
	}
	for i := range r.Samples.Len() {
		before[i+1] += before[i]
	}
	ends = make([]int32, before[r.Samples.Len()])
	at := append([]int32(nil), before...)
	for i, run := range r.Runs.All() {
		if gone[i] {
			s := run.Last + 1
			ends[at[s]] = int32(i)
			at[s]++
		}
	}
	return ends, before
}

// measuring passes the values of the series to a sink.
type measuring struct {
	r       *Recording
	sink    Sink
	cursors []cursor
	more    []bool // by series: the cursor is at a point
}

// begin passes all monitors to the sink.
func (m *measuring) begin() error {
	m.cursors, m.more = make([]cursor, len(m.r.Series)), make([]bool, len(m.r.Series))
	for i := range m.r.Series {
		s := &m.r.Series[i]
		m.sink.Monitor(s.Monitor)
		m.cursors[i] = s.column.cursor(s.form())
		var err error
		if m.more[i], err = m.cursors[i].advance(); err != nil {
			return err
		}
	}
	return nil
}

// upTo passes the values that changed in a sample to the sink.
// It is called for one sample after the other.
func (m *measuring) upTo(sample int) (err error) {
	for i := range m.cursors {
		c := &m.cursors[i]
		if !m.more[i] || int(c.sample) != sample {
			continue
		}
		m.sink.Measure(MonitorID(i), m.r.Series[i].value(c.reading))
		if m.more[i], err = c.advance(); err != nil {
			return err
		}
	}
	return nil
}
