package sampledata

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/memory"
)

// A Ring is a Sink that keeps the end of a recording in memory,
// for as long as that grows. Kept returns it.
//
// It consists of parts: each is a Builder with tables of its
// own, and begins with the states of all goroutines. The oldest
// part is dropped whole. What no part and no living goroutine
// refers to is forgotten, so a program that makes goroutines and
// labels for ever does not fill the memory. Only the functions
// and stacks that the program has are kept for good.
type Ring struct {
	*keeper
	header Header
	o      RingOptions

	// What the sampler's codes stand for. These codes are never used again.
	functions  []Function
	nodes      []Node
	goroutines map[GoroutineID]Goroutine
	labelSets  map[LabelSetID][]Label
	holderSets map[HolderSetID][]GoroutineID
	lockNames  []LockName
	statesNow        // in the last sample
	before     sizes // when the last part began

	parts   []*ringPart // the last one grows
	changes []Change
	short   bool // for want of memory, a part was dropped too early
}

// RingOptions say what a Ring keeps.
type RingOptions struct {
	Keep   time.Duration // at least that much, unless it needs too much memory
	Memory int64         // an estimate of the bytes that it may take
	part   time.Duration // the length of a part; 0: by Keep
}

// A part is so long that its first sample, which has all
// goroutines, takes a small share of the time: of many
// goroutines it takes milliseconds.
const (
	ringParts   = 8
	longestPart = 15 * time.Second
	firstShare  = 200
)

// A ringPart is a part of a Ring. Its codes are its own.
type ringPart struct {
	*Builder
	rec        *Recording // of a part that does not grow any more; it has no Builder
	first      int        // number of its first sample in the ring
	begin      time.Duration
	took       time.Duration // to add the first sample
	origins    []GoroutineID // by own code: the ring's
	size, base int64         // bytes: now, and after the first sample

	recoder                                // from the ring's codes
	goroutines map[GoroutineID]GoroutineID // own codes by the ring's
}

// NewRing starts a recording that keeps only its last part.
func NewRing(h Header, o RingOptions) *Ring {
	o.part = cmp.Or(o.part, min(o.Keep/ringParts, longestPart))
	r := &Ring{
		keeper: &keeper{tables: newTables()}, header: h.normal(), o: o,
		goroutines: make(map[GoroutineID]Goroutine), labelSets: make(map[LabelSetID][]Label),
		holderSets: make(map[HolderSetID][]GoroutineID), statesNow: make(statesNow),
	}
	r.stores = []store{r}
	return r
}

// Allow sets how many bytes the ring may take, from now on.
func (r *Ring) Allow(memory int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o.Memory = memory
}

// Probe does nothing: a probe sums up all calls since it was put in.
func (r *Ring) Probe(Probe) {}

func (r *Ring) function(f Function) { r.functions = append(r.functions, f) }
func (r *Ring) node(n Node)         { r.nodes = append(r.nodes, n) }
func (r *Ring) goroutine(g Goroutine) {
	r.goroutines[GoroutineID(r.tables.goroutines-1)] = g
}
func (r *Ring) labelSet(set []Label) { r.labelSets[LabelSetID(r.tables.labelSets-1)] = set }
func (r *Ring) holderSet(set []GoroutineID) {
	r.holderSets[HolderSetID(r.tables.holderSets-1)] = set
}
func (r *Ring) monitor(Monitor)     {} // gets a series in the next sample
func (r *Ring) lockName(n LockName) { r.lockNames = append(r.lockNames, n) }
func (r *Ring) finish(*End) error   { return nil }
func (r *Ring) ready() error        { return nil }

func (r *Ring) warn(kind, message string, count int64) {
	r.growing(0).Warn(kind, message, count)
}

// growing returns the part that grows.
func (r *Ring) growing(begin time.Duration) *ringPart {
	if len(r.parts) == 0 {
		r.parts = append(r.parts, r.newPart(0, begin))
	}
	return r.parts[len(r.parts)-1]
}

func (r *Ring) newPart(first int, begin time.Duration) *ringPart {
	p := &ringPart{Builder: NewBuilder(r.header), first: first, begin: begin,
		goroutines: make(map[GoroutineID]GoroutineID)}
	p.recoder = recoder{
		to:        p.Builder,
		labelSet:  func(id LabelSetID) []Label { return r.labelSets[id] },
		holderSet: func(id HolderSetID) []GoroutineID { return r.holderSets[id] },
		goroutine: func(g GoroutineID) GoroutineID { return r.goroutineIn(p, g) },
		labelSets: make(map[LabelSetID]LabelSetID), holderSets: make(map[HolderSetID]HolderSetID),
	}
	return p
}

// take passes a sample to the part that grows, or to a new one.
func (r *Ring) take(s *Sample, _ time.Duration, changes []Change) error {
	r.statesNow.take(changes)
	r.tables.calls = 0 // the limit is one of a recording that is kept
	p := r.growing(s.Time)
	isFirst := p.tables.samples == 0
	if r.isFull(p, s.Time) {
		r.rotate(s.Time)
		p, isFirst = r.growing(s.Time), true
	}
	began := time.Now()
	if isFirst {
		changes = r.changes[:0]
		for _, g := range slices.Sorted(maps.Keys(r.statesNow)) {
			changes = append(changes, Change{Goroutine: g, State: r.statesNow[g]})
		}
		r.changes = changes
	}
	if err := r.pass(p, s, changes, isFirst); err != nil {
		return err
	}
	if p.size = p.memory(); isFirst {
		p.base, p.took = p.size, time.Since(began)
	}
	return r.fit()
}

// isFull reports whether a part is to end before a sample.
func (r *Ring) isFull(p *ringPart, at time.Duration) bool {
	least := min(max(r.o.part, firstShare*p.took), r.o.Keep)
	return p.tables.samples > 0 &&
		(at-p.begin >= least || p.size >= max(r.o.Memory/ringParts, 2*p.base))
}

// rotate ends the part that grows, and begins another.
func (r *Ring) rotate(at time.Duration) {
	p := r.growing(at)
	p.close()
	first := p.first + p.rec.Samples.Len()
	for len(r.parts) > 1 && r.parts[1].begin <= at-r.o.Keep {
		r.parts = slices.Delete(r.parts, 0, 1)
	}
	if len(r.parts) > 0 && r.parts[0].begin <= at-r.o.Keep {
		r.short = false
	}
	r.forget()
	r.parts = append(r.parts, r.newPart(first, at))
}

// close drops what only a growing part needs.
func (p *ringPart) close() {
	p.rec = p.last()
	p.Builder, p.recoder, p.goroutines = nil, recoder{}, nil
}

// fit drops parts until the ring fits into its memory.
func (r *Ring) fit() error {
	for {
		size := int64(len(r.functions))*functionMemory + int64(len(r.nodes))*nodeMemory +
			int64(len(r.lockNames))*lockNameMemory
		for _, p := range r.parts {
			size += p.size
		}
		switch {
		case size <= r.o.Memory:
			return nil
		case len(r.parts) == 1:
			return fmt.Errorf("to keep one moment of the program takes %s of memory: allow more with --max-memory",
				memory.Size(size))
		}
		r.parts, r.short = slices.Delete(r.parts, 0, 1), true
	}
}

// forget drops what no living goroutine refers to, unless it is
// new: the sampler may have got its code for a sample that
// failed.
func (r *Ring) forget() {
	labels, holders := make(map[LabelSetID]bool), make(map[HolderSetID]bool)
	used := make(map[GoroutineID]bool)
	for g, s := range r.statesNow {
		used[g], labels[s.Labels], holders[s.Holders] = true, true, true
	}
	old := r.before
	maps.DeleteFunc(r.labelSets, func(id LabelSetID, _ []Label) bool {
		return int(id) < old.labelSets && !labels[id]
	})
	maps.DeleteFunc(r.holderSets, func(id HolderSetID, set []GoroutineID) bool {
		if int(id) < old.holderSets && !holders[id] {
			return true
		}
		for _, g := range set {
			used[g] = true
		}
		return false
	})
	maps.DeleteFunc(r.goroutines, func(id GoroutineID, _ Goroutine) bool {
		return int(id) < old.goroutines && !used[id]
	})
	t := &r.tables
	maps.DeleteFunc(t.byLabels, func(_ string, id LabelSetID) bool { return r.labelSets[id] == nil })
	maps.DeleteFunc(t.byHolders,
		func(_ string, id HolderSetID) bool { return r.holderSets[id] == nil })
	r.before = t.sizes
	for i, v := range t.monitors.next {
		if t.monitors.words[i] = (wordTable{}); v.form == word {
			t.monitors.last[i].bits = t.monitors.words[i].code(v.word)
		}
	}
}

// pass passes a sample to a part, in the part's codes.
func (r *Ring) pass(p *ringPart, s *Sample, changes []Change, isFirst bool) error {
	p.recoder.functions, p.recoder.nodes = r.functions, r.nodes
	values := &r.tables.monitors
	for _, m := range values.list[len(p.tables.monitors.list):] {
		p.Monitor(m)
	}
	if isFirst {
		for i, v := range values.next {
			p.Measure(MonitorID(i), v)
		}
	}
	for _, m := range r.measured {
		p.Measure(m.id, values.next[m.id])
	}
	for _, c := range r.tables.news.calls {
		p.Calls(c)
	}
	own := make([]Change, len(changes))
	for i, c := range changes {
		own[i] = Change{Goroutine: r.goroutineIn(p, c.Goroutine), Gone: c.Gone, Again: c.Again}
		if !c.Gone {
			own[i].State = p.recoder.state(c.State)
		}
	}
	of := *s
	of.Processors = p.recoder.processors(s.Processors)
	return p.Sample(of, own)
}

func (r *Ring) goroutineIn(p *ringPart, id GoroutineID) GoroutineID {
	return lists.Made(p.goroutines, id, func() GoroutineID {
		g := r.goroutines[id]
		g.Start = p.recoder.function(g.Start)
		p.origins = append(p.origins, id)
		return p.Goroutine(g)
	})
}
