package stuck

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampler/heap"
)

// group returns a group of one goroutine.
func group(id int64, wait heap.Wait, reaches ...int) heap.Group {
	one := &heap.Goroutine{ID: id, Verdict: heap.Stuck, Wait: wait, Awaits: []uint64{uint64(id)}}
	return heap.Group{Verdict: heap.Stuck, Wait: wait, Goroutines: []*heap.Goroutine{one}, Reaches: reaches}
}

// Groups wait for those that reach what they wait for. Roots wait for nobody, or for one another.
func TestRoots(t *testing.T) {
	a := Find(nil, &heap.Result{Groups: []heap.Group{
		group(1, heap.ForSender, 1, 2), // 2 and 3 wait for 1
		group(2, heap.ForReceiver),
		group(3, heap.ForGroup, 3), // 4 waits for 3
		group(4, heap.ForCondition),
		group(5, heap.ForLock, 5), // 5 and 6 wait for one another
		group(6, heap.ForLock, 4, 6),
		group(7, heap.ForChannels), // it waits for 6
		group(8, heap.ForLock),
		group(9, heap.ForNil),
		group(10, heap.ForNothing),
	}})
	type finding struct {
		fault         Fault
		count, behind int
		sure          bool
	}
	var got []finding
	for _, f := range a.Findings {
		got = append(got, finding{f.Fault, f.Count, len(f.Behind), f.Sure})
	}
	want := []finding{{NobodyLeft, 4, 3, true}, {Circle, 3, 1, false}, {HolderGone, 1, 0, true}, {NilChannel, 1, 0, true}, {NoCases, 1, 0, true}}
	if !slices.Equal(got, want) || a.Stuck != 10 || a.Others != 0 {
		t.Errorf("got %+v, want %+v; %d stuck", got, want, a.Stuck)
	}
}

// A long chain takes no recursion, and has one root.
func TestLongChain(t *testing.T) {
	const n = 100_000
	ahead := make([][]edge, n)
	for i := range n - 1 {
		ahead[i] = []edge{{to: i + 1}}
	}
	ahead[n-1] = []edge{{to: n - 2}}
	parts := components(ahead)
	if len(parts) != n-1 || len(parts[0]) != 2 {
		t.Errorf("%d parts, the first of %d", len(parts), len(parts[0]))
	}
}

// What is only suspected is not said to be anybody's fault.
func TestSuspected(t *testing.T) {
	g := group(1, heap.ForSender)
	g.Verdict, g.Kept = heap.Suspected, -1
	a := Find(nil, &heap.Result{Groups: []heap.Group{g}})
	if a.Stuck != 0 || a.Others != 1 || len(a.Findings) != 1 || a.Findings[0].Fault != Unknown {
		t.Errorf("got %+v", a)
	}
}
