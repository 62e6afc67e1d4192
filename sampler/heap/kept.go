package heap

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// maxTraced is the number of objects up to which it is found out
// what stuck goroutines keep.
const maxTraced = 1 << 20

// shared marks an object that more than one group reaches.
const shared = int32(-1)

// A tracer follows what groups of stuck goroutines reach.
type tracer struct {
	x      *Examination
	of     map[uint64]int32 // the group of an object
	left   int
	awaits map[uint64][]int // groups by the object that they wait for
	todo   []uint64
	seen   map[uint64]bool
	group  int32
}

// relate finds out what memory only one group keeps, and which
// groups reach what others wait for. No live object leads to any
// of that.
func (x *Examination) relate(groups []Group) {
	t := &tracer{x: x, of: map[uint64]int32{}, left: maxTraced, awaits: map[uint64][]int{}}
	for i := range groups {
		for _, g := range groups[i].Goroutines {
			for _, at := range g.Awaits {
				if s, object := x.h.find(at); s != nil && !slices.Contains(t.awaits[object], i) {
					t.awaits[object] = append(t.awaits[object], i)
				}
			}
		}
	}
	stacks := make([]int64, len(groups))
	for i := range groups {
		if groups[i].Verdict != sampledata.Stuck {
			continue
		}
		t.group, t.seen = int32(i), map[uint64]bool{}
		for _, g := range groups[i].Goroutines {
			stacks[i] += int64(g.g.hi - g.g.lo)
			t.add(x.wordsOf(g.g))
		}
		t.trace()
		for object := range t.seen {
			for _, k := range t.awaits[object] {
				if k != i && !slices.Contains(groups[i].Reaches, k) {
					groups[i].Reaches = append(groups[i].Reaches, k)
				}
			}
		}
		slices.Sort(groups[i].Reaches)
	}
	if t.left <= 0 {
		return
	}
	for i := range groups {
		if groups[i].Verdict == sampledata.Stuck {
			groups[i].Kept = stacks[i]
		}
	}
	for object, i := range t.of {
		if s, _ := x.h.find(object); s != nil && i != shared {
			groups[i].Kept += int64(s.elem)
		}
	}
}

// add notes the objects that words lead to.
func (t *tracer) add(ws []uint64) {
	for _, w := range ws {
		s, object := t.x.h.find(w)
		if s == nil || t.seen[object] || t.left <= 0 {
			continue
		}
		if live, _ := t.x.h.marked(object); live || t.x.isG[object] {
			continue
		}
		t.left--
		t.seen[object] = true
		switch before, known := t.of[object]; {
		case !known:
			t.of[object] = t.group
		case before != t.group:
			t.of[object] = shared
		}
		if !s.noscan && !t.x.w.isSudog(object) {
			t.todo = append(t.todo, object)
		}
	}
}

// trace follows the objects that were noted.
func (t *tracer) trace() {
	r := &copyReader{t.x}
	for len(t.todo) > 0 {
		object := t.todo[len(t.todo)-1]
		t.todo = t.todo[:len(t.todo)-1]
		s, _ := t.x.h.find(object)
		part := [1]memory.Range{{Addr: object, Buf: make([]byte, min(s.elem, maxContent))}}
		r.ReadRanges(part[:])
		t.add(gostate.Words(part[0].Buf))
	}
}

// isSudog reports whether an object is a sudog of a goroutine that waits.
func (w *world) isSudog(object uint64) bool {
	if w.inQueue == nil {
		w.inQueue = map[uint64]bool{}
		for _, s := range w.semas {
			w.inQueue[s] = true
		}
		for i := range w.gs {
			for _, s := range w.gs[i].sudogs {
				w.inQueue[s] = true
			}
		}
	}
	return w.inQueue[object]
}
