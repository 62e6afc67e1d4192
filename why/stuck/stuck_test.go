package stuck

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// group returns a group of one goroutine.
func group(id int64, wait sampledata.Wait, reaches ...int32) sampledata.MarkedGroup {
	return sampledata.MarkedGroup{Verdict: sampledata.Stuck, Wait: wait, Count: 1, IDs: []int64{id}, Reaches: reaches}
}

// marked returns a recording with these groups.
func marked(groups ...sampledata.MarkedGroup) *sampledata.Recording {
	r := sampledata.NewBuilder(sampledata.Header{}).Recording()
	r.Marking = &sampledata.Marking{Groups: groups}
	return r
}

// Groups wait for those that reach what they wait for. Roots wait for nobody, or for one another.
func TestRoots(t *testing.T) {
	a := Find(marked(
		group(1, sampledata.ForSender, 1, 2), // 2 and 3 wait for 1
		group(2, sampledata.ForReceiver),
		group(3, sampledata.ForGroup, 3), // 4 waits for 3
		group(4, sampledata.ForCondition),
		group(5, sampledata.ForLock, 5), // 5 and 6 wait for one another
		group(6, sampledata.ForLock, 4, 6),
		group(7, sampledata.ForChannels), // it waits for 6
		group(8, sampledata.ForLock),
		group(9, sampledata.ForNil),
		group(10, sampledata.ForNothing),
	))
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
	g := group(1, sampledata.ForSender)
	g.Verdict, g.Kept = sampledata.Suspected, -1
	a := Find(marked(g))
	if a.Stuck != 0 || a.Others != 1 || len(a.Findings) != 1 || a.Findings[0].Fault != Unknown {
		t.Errorf("got %+v", a)
	}
}
