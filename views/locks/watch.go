package locks

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Watch returns a sink that passes everything to another one, and reports deadlocks while they last. Each is reported
// once, in the second sample that shows it: one sample may show a circle that never existed, because goroutines moved
// while it was taken. Sample calls report. A lock has its name if the sink knows one, else its address.
//
// The sink keeps the tables of functions and stacks, and the states of the goroutines that wait for a lock with a known
// holder.
func Watch(sink sampledata.Sink, o views.Options, report func(Deadlock)) sampledata.Sink {
	w := &watcher{
		kept: sampledata.KeepTables(sink), o: o, report: report,
		blocked: make(map[sampledata.GoroutineID]sampledata.State), reported: make(map[string]bool),
	}
	return sampledata.AfterSample(w.kept, w.sample)
}

// A watcher searches for deadlocks after each sample.
type watcher struct {
	kept     *sampledata.TableKeeper
	o        views.Options
	report   func(Deadlock)
	blocked  map[sampledata.GoroutineID]sampledata.State
	moved    []sampledata.GoroutineID   // goroutines that entered another state in the last sample
	fresh    [][]sampledata.GoroutineID // circles that the last sample showed first
	reported map[string]bool            // by key
	samples  int32
}

func (w *watcher) sample(_ sampledata.Sample, changes []sampledata.Change, err error) {
	if err != nil {
		return
	}
	w.moved = w.moved[:0]
	for _, c := range changes {
		if old, was := w.blocked[c.Goroutine]; was && !c.Gone && old == c.State {
			continue
		}
		w.moved = append(w.moved, c.Goroutine)
		delete(w.blocked, c.Goroutine)
		if !c.Gone && proves(views.DoingIn(c.State), c.State.Evidence) {
			w.blocked[c.Goroutine] = c.State
		}
	}
	from := w.moved
	for _, circle := range w.fresh {
		if !w.confirm(circle) {
			from = append(from, circle...) // a goroutine that has not moved may be in another circle
		}
	}
	w.fresh = w.fresh[:0]
	for _, g := range from {
		if circle := cycle(g, w.holdersOf); circle != nil {
			w.fresh = append(w.fresh, circle)
		}
	}
	w.samples++
}

func (w *watcher) holdersOf(g sampledata.GoroutineID) []sampledata.GoroutineID {
	return w.kept.Tables().HolderSets[w.blocked[g].Holders]
}

// confirm reports a circle of the sample before if none of its goroutines has moved.
func (w *watcher) confirm(circle []sampledata.GoroutineID) (lasts bool) {
	if slices.ContainsFunc(w.moved, func(g sampledata.GoroutineID) bool { return slices.Contains(circle, g) }) {
		return false
	}
	circle, key := rotated(circle)
	if w.reported[key] {
		return true
	}
	w.reported[key] = true
	classOf := views.ClassOf(w.kept.Tables(), w.o)
	d := Deadlock{First: w.samples - 1, Last: w.samples, Samples: 2}
	for _, g := range circle {
		s := w.blocked[g]
		name := w.kept.LatestLockName(s.Lock)
		if name == "" {
			name = fmt.Sprintf("the lock at %#x", s.Lock)
		}
		d.Members = append(d.Members, member(w.kept.Tables(), g, &s, classOf(sampledata.RunOf(g, d.First, d.Last, s)), name))
	}
	w.report(d)
	return true
}
