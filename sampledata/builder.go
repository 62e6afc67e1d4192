package sampledata

import (
	"fmt"
	"slices"
	"sync"
)

// A Builder keeps a recording in memory while it is made. It is a Sink. Its
// methods may be called from any goroutine, and a growing recording can be
// read. A function, node, goroutine, holder set or monitor that breaks a rule
// gets the code -1 (a holder set gets 0). The next call of Sample then returns
// the error. Sample also returns the errors in names of locks and in values of
// monitors.
type Builder struct {
	mu     sync.Mutex
	tables tables
	rec    Recording // without its runs
	runs   growingRuns
	meter  meter

	measured []measurement // in the last sample

	warnings warnings
}

var _ Sink = (*Builder)(nil)

// NewBuilder starts a recording. Its start time is kept in UTC.
func NewBuilder(h Header) *Builder {
	return &Builder{
		tables: newTables(),
		rec: Recording{Header: h.normal(), LabelSets: [][]Label{nil},
			HolderSets: [][]GoroutineID{nil}},
		runs: growingRuns{index: newStateIndex(), kinds: newStateIndex()},
	}
}

// Function returns the code of a function.
func (b *Builder) Function(f Function) FunctionID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, isNew := b.tables.function(f)
	if isNew {
		b.rec.Functions = append(b.rec.Functions, f)
	}
	return id
}

// Node returns the code of a stack.
func (b *Builder) Node(n Node) NodeID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, isNew := b.tables.node(n)
	if isNew {
		b.rec.Nodes = append(b.rec.Nodes, n)
	}
	return id
}

// Goroutine returns a new code for a goroutine.
func (b *Builder) Goroutine(g Goroutine) GoroutineID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, isNew := b.tables.goroutine(g)
	if isNew {
		b.rec.Goroutines.add(g)
		b.runs.open = append(b.runs.open, 0)
	}
	return id
}

// LabelSet returns the code of a set of labels, in any order. If two have the
// same key, the last one counts.
func (b *Builder) LabelSet(set []Label) LabelSetID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, isNew := b.tables.labelSet(set)
	if isNew != nil {
		b.rec.LabelSets = append(b.rec.LabelSets, isNew)
	}
	return id
}

// HolderSet returns the code of a set of goroutines, in any order.
func (b *Builder) HolderSet(set []GoroutineID) HolderSetID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, isNew := b.tables.holderSet(set)
	if isNew != nil {
		b.rec.HolderSets = append(b.rec.HolderSets, isNew)
	}
	return id
}

// Monitor returns the code of a monitor.
func (b *Builder) Monitor(m Monitor) MonitorID {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, _ := b.tables.monitor(m)
	return id
}

// Measure sets a monitor's value from the next sample on.
func (b *Builder) Measure(m MonitorID, v Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables.measure(m, v)
}

// LockName names a lock.
func (b *Builder) LockName(n LockName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tables.lockName(n) {
		b.rec.LockNames = append(b.rec.LockNames, n)
	}
}

// Probe replaces what an instrument has measured of a function.
func (b *Builder) Probe(p Probe) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables.probe(p)
	b.rec.Probes, b.tables.newProbes = b.tables.probes, nil
}

// Sample ends a sample. Changes may be in any order, at most one for each
// goroutine; Sample ignores those that change nothing. It keeps neither slice.
// After an error, the recording is as it was before the call.
func (b *Builder) Sample(s Sample, changes []Change) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := int32(b.tables.samples)
	if err := b.rec.Samples.room(); err != nil {
		return fmt.Errorf("sample %d: %w", n, err)
	}
	changes, err := b.tables.sample(&s, changes, b.runs.state)
	if err != nil {
		return fmt.Errorf("sample %d: %w", n, err)
	}
	b.rec.Samples.add(&s)
	for i := range changes {
		b.runs.change(n, &changes[i])
	}
	b.measured = b.tables.monitors.measured(b.measured[:0])
	b.addPoints(n, b.measured)
	return nil
}

// addPoints adds the values that changed in a sample to the series.
func (b *Builder) addPoints(sample int32, measured []measurement) {
	b.addSeries()
	for i := range measured {
		b.addPoint(sample, &measured[i])
	}
}

// addSeries adds a series for each new monitor.
func (b *Builder) addSeries() {
	for _, m := range b.tables.monitors.list[len(b.rec.Series):] {
		b.rec.Series = append(b.rec.Series, Series{Monitor: m})
	}
}

func (b *Builder) addPoint(sample int32, m *measurement) {
	s := &b.rec.Series[m.id]
	s.column.add(sample, m)
	if m.measured && s.Kind == Nominal && m.step == uint64(len(s.Words)) {
		// a refused sample may have added others
		s.Words = b.tables.monitors.words[m.id].list[:m.step+1]
	}
}

// Warn adds to the count of a kind of warning. It ignores counts below 1 and
// empty kinds.
func (b *Builder) Warn(kind, message string, count int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.warnings.add(kind, message, count)
}

// Finish ends the recording: Sample returns an error after it.
func (b *Builder) Finish(e End) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tables.ended {
		return errEnded
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	b.tables.ended = true
	b.rec.End = &e
	return nil
}

// Recording returns what has been recorded so far. The result does not change
// when the recording grows. It shares memory with the builder, so it must not
// be modified.
func (b *Builder) Recording() *Recording {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recording(b.runs.list.clone())
}

// last returns the recording of a builder that does not grow any more.
func (b *Builder) last() *Recording { return b.recording(b.runs.list) }

// recording returns a recording with the builder's runs. It ends the open ones.
func (b *Builder) recording(runs runList) *Recording {
	r := b.rec
	r.Functions = slices.Clip(r.Functions)
	r.Nodes = slices.Clip(r.Nodes)
	r.Goroutines = r.Goroutines.clip()
	r.LabelSets = slices.Clip(r.LabelSets)
	r.HolderSets = slices.Clip(r.HolderSets)
	r.LockNames = slices.Clip(r.LockNames)
	r.Samples = r.Samples.clip()
	r.Runs = b.runs.upTo(runs, b.tables.samples)
	r.Series = slices.Clone(r.Series)
	for i := range r.Series {
		s := &r.Series[i]
		s.Words, s.column = slices.Clip(s.Words), s.column.clip()
	}
	r.Warnings = append([]Warning(nil), b.warnings.list...)
	return &r
}
