package locks

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Watch returns a sink that hands everything on to another one, and reports deadlocks while they last: each once, in the
// second sample that shows it, so that what was seen while goroutines moved is not taken for one. Tell is called from
// Sample. A lock is called by its name if the sink has been given one, else by its address.
//
// The sink keeps the tables of functions and stacks, and the states of the goroutines that wait for a lock with a known
// holder.
func Watch(sink sampledata.Sink, o views.Options, tell func(Deadlock)) sampledata.Sink {
	w := &watcher{
		kept: sampledata.KeepTables(sink), o: o, tell: tell,
		blocked: make(map[sampledata.GoroutineID]sampledata.State), told: make(map[string]bool),
	}
	return sampledata.AfterSample(w.kept, w.sample)
}

// A watcher looks for deadlocks after each sample.
type watcher struct {
	kept    *sampledata.TableKeeper
	o       views.Options
	tell    func(Deadlock)
	blocked map[sampledata.GoroutineID]sampledata.State
	moved   []sampledata.GoroutineID   // into another state, in the last sample
	fresh   [][]sampledata.GoroutineID // circles that the last sample was first to show
	told    map[string]bool            // by key
	samples int32
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
		if !c.Gone && blames(&c.State) {
			w.blocked[c.Goroutine] = c.State
		}
	}
	look := w.moved
	for _, circle := range w.fresh {
		if !w.confirm(circle) {
			look = append(look, circle...) // who has not moved may be in another one
		}
	}
	w.fresh = w.fresh[:0]
	for _, g := range look {
		if circle := cycle(g, w.holdersOf); circle != nil {
			w.fresh = append(w.fresh, circle)
		}
	}
	w.samples++
}

func (w *watcher) holdersOf(g sampledata.GoroutineID) []sampledata.GoroutineID {
	return w.kept.Tables().HolderSets[w.blocked[g].Holders]
}

// confirm tells of a circle that the sample before showed, if nobody in it has moved.
func (w *watcher) confirm(circle []sampledata.GoroutineID) (stands bool) {
	if slices.ContainsFunc(w.moved, func(g sampledata.GoroutineID) bool { return slices.Contains(circle, g) }) {
		return false
	}
	circle, key := turned(circle)
	if w.told[key] {
		return true
	}
	w.told[key] = true
	classOf := views.ClassOf(w.kept.Tables(), w.o)
	d := Deadlock{First: w.samples - 1, Last: w.samples, Samples: 2}
	for _, g := range circle {
		s := w.blocked[g]
		name := w.kept.LatestLockName(s.Lock)
		if name == "" {
			name = fmt.Sprintf("the lock at %#x", s.Lock)
		}
		d.Members = append(d.Members, member(w.kept.Tables(), g, &s, classOf(&sampledata.Run{Goroutine: g, State: s}), name))
	}
	w.tell(d)
	return true
}
