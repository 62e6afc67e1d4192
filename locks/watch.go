package locks

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Watch returns a sink that hands everything on to another one, and tells of deadlocks while they stand: each once, in the
// second sample that shows it, so that what was seen while goroutines moved is not taken for one. Tell is called from
// Sample. A lock is called by its name where the sink has been told of one, else by its address.
//
// The watching sink keeps the tables of functions and stacks, and the states of the goroutines that wait for a lock with a
// known holder.
func Watch(sink sampledata.Sink, o views.Options, tell func(Deadlock)) sampledata.Sink {
	w := &watcher{Sink: sink, o: o, tell: tell, blocked: make(map[sampledata.GoroutineID]sampledata.State), told: make(map[string]bool)}
	w.r.LabelSets, w.r.HolderSets = [][]sampledata.Label{nil}, [][]sampledata.GoroutineID{nil}
	w.names = make(map[uint64]string)
	return w
}

// A watcher is the sink of Watch.
type watcher struct {
	sampledata.Sink
	o       views.Options
	tell    func(Deadlock)
	r       sampledata.Recording // its tables, as the sink has numbered them
	names   map[uint64]string    // of locks
	blocked map[sampledata.GoroutineID]sampledata.State
	moved   []sampledata.GoroutineID   // into another state, in the last sample
	fresh   [][]sampledata.GoroutineID // circles that the last sample was first to show
	told    map[string]bool            // by key
	samples int32
}

// entered puts what the sink has given a code into a table, where the code is new.
func entered[T any, C ~int32](table []T, code C, t T) []T {
	if int(code) == len(table) {
		return append(table, t)
	}
	return table
}

func (w *watcher) Function(f sampledata.Function) sampledata.FunctionID {
	id := w.Sink.Function(f)
	w.r.Functions = entered(w.r.Functions, id, f)
	return id
}

func (w *watcher) Node(n sampledata.Node) sampledata.NodeID {
	id := w.Sink.Node(n)
	w.r.Nodes = entered(w.r.Nodes, id, n)
	return id
}

func (w *watcher) Goroutine(g sampledata.Goroutine) sampledata.GoroutineID {
	id := w.Sink.Goroutine(g)
	w.r.Goroutines = entered(w.r.Goroutines, id, g)
	return id
}

func (w *watcher) LabelSet(set []sampledata.Label) sampledata.LabelSetID {
	id := w.Sink.LabelSet(set)
	w.r.LabelSets = entered(w.r.LabelSets, id, slices.Clone(set))
	return id
}

func (w *watcher) HolderSet(set []sampledata.GoroutineID) sampledata.HolderSetID {
	id := w.Sink.HolderSet(set)
	w.r.HolderSets = entered(w.r.HolderSets, id, slices.Clone(set))
	return id
}

func (w *watcher) LockName(n sampledata.LockName) {
	w.Sink.LockName(n)
	w.names[n.Address] = n.Name
}

func (w *watcher) Sample(s sampledata.Sample, changes []sampledata.Change) error {
	if err := w.Sink.Sample(s, changes); err != nil {
		return err
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
	return nil
}

func (w *watcher) holdersOf(g sampledata.GoroutineID) []sampledata.GoroutineID {
	return w.r.HolderSets[w.blocked[g].Holders]
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
	classOf := views.ClassOf(&w.r, w.o)
	d := Deadlock{First: w.samples - 1, Last: w.samples, Samples: 2}
	for _, g := range circle {
		s := w.blocked[g]
		name := w.names[s.Lock]
		if name == "" {
			name = fmt.Sprintf("the lock at %#x", s.Lock)
		}
		d.Members = append(d.Members, member(&w.r, g, &s, classOf(&sampledata.Run{Goroutine: g, State: s}), name))
	}
	w.tell(d)
	return true
}
