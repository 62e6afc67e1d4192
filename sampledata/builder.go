package sampledata

import (
	"fmt"
	"slices"
	"time"
)

// A Builder keeps a recording in memory while it is made. It is
// a Sink. Its methods may be called from any goroutine, and a
// growing recording can be read. A function, node, goroutine,
// holder set or monitor that breaks a rule gets the code -1 (a
// holder set gets 0). The next call of Sample then returns the
// error. Sample also returns the errors in names of locks and in
// values of monitors.
type Builder struct {
	*keeper
	rec      Recording // without its runs, probes and warnings
	runs     growingRuns
	warnings warnings
	meter    meter
}

var _ Sink = (*Builder)(nil)

// NewBuilder starts a recording. Its start time is kept in UTC.
func NewBuilder(h Header) *Builder {
	b := &Builder{
		keeper: &keeper{tables: newTables()},
		rec: Recording{Header: h.normal(), LabelSets: [][]Label{nil},
			HolderSets: [][]GoroutineID{nil}},
		runs: growingRuns{index: newStateIndex(), kinds: newStateIndex()},
	}
	b.stores = []store{b}
	return b
}

func (b *Builder) function(f Function) { b.rec.Functions = append(b.rec.Functions, f) }

func (b *Builder) node(n Node) { b.rec.Nodes = append(b.rec.Nodes, n) }

func (b *Builder) goroutine(g Goroutine) {
	b.rec.Goroutines.add(g)
	b.runs.open = append(b.runs.open, 0)
}

func (b *Builder) labelSet(set []Label) {
	b.rec.LabelSets = append(b.rec.LabelSets, set)
	b.meter.sets += setMemory + int64(len(set))*labelMemory
}

func (b *Builder) holderSet(set []GoroutineID) {
	b.rec.HolderSets = append(b.rec.HolderSets, set)
	b.meter.sets += setMemory + int64(len(set))*holderMemory
}

func (b *Builder) monitor(Monitor) {} // gets a series in the next sample

func (b *Builder) lockName(n LockName) { b.rec.LockNames = append(b.rec.LockNames, n) }

func (b *Builder) warn(kind, message string, count int64) { b.warnings.add(kind, message, count) }

func (b *Builder) state(g GoroutineID) (State, bool) { return b.runs.state(g) }

func (b *Builder) ready() error {
	if err := b.rec.Samples.room(); err != nil {
		return fmt.Errorf("sample %d: %w", b.tables.samples, err)
	}
	return nil
}

func (b *Builder) take(s *Sample, _ time.Duration, changes []Change) error {
	n := int32(b.rec.Samples.Len())
	b.rec.Samples.add(s)
	for i := range changes {
		b.runs.change(n, &changes[i])
	}
	b.addSeries()
	for i := range b.measured {
		b.addPoint(n, &b.measured[i])
	}
	b.takeCalls()
	return nil
}

// takeCalls adds the new calls. The tables have checked them.
func (b *Builder) takeCalls() {
	for _, t := range b.tables.news.calls {
		b.rec.Calls, _ = addCalls(b.rec.Calls, t)
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
		s.Words = b.tables.monitors.words[m.id].All[:m.step+1]
	}
}

func (b *Builder) finish(e *End) error {
	b.takeCalls()
	b.rec.End = e
	return nil
}

// Recording returns what has been recorded so far. The result
// does not change when the recording grows. It shares memory
// with the builder, so it must not be modified.
func (b *Builder) Recording() *Recording {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.recording(b.runs.list.clone())
	r.Runs = r.withTimers()
	return r
}

// last returns the recording of a builder that does not grow any more.
func (b *Builder) last() *Recording {
	r := b.recording(b.runs.list)
	r.Runs = r.withTimers()
	return r
}

// recording returns a recording with the builder's runs. It ends
// the open ones.
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
	r.Calls = clipCalls(r.Calls)
	r.Probes, r.Marking = b.tables.probes, b.tables.marking
	r.Warnings = append([]Warning(nil), b.warnings.list...)
	return &r
}
