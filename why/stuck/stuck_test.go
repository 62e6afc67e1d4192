package stuck

import (
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// group returns a group of goroutines.
func group(wait sampledata.Wait, ids ...int64) sampledata.MarkedGroup {
	return sampledata.MarkedGroup{Verdict: sampledata.Stuck, Wait: wait, Count: len(ids), IDs: ids}
}

// waits returns an edge: a goroutine waits for another one.
func waits(from, to int64, at uint64) sampledata.MarkedEdge {
	return sampledata.MarkedEdge{From: from, To: to, At: at, Sure: true, Taken: "f"}
}

// marked returns a recording with these groups and edges.
func marked(groups []sampledata.MarkedGroup, edges ...sampledata.MarkedEdge) *sampledata.Recording {
	r := sampledata.NewBuilder(sampledata.Header{}).Recording()
	r.Marking = &sampledata.Marking{Groups: groups, Edges: edges, Whole: true}
	return r
}

// Roots wait for nobody, or for one another. Roots of one kind
// at the same places are one finding.
func TestFaults(t *testing.T) {
	type finding struct {
		fault         Fault
		count, behind int
		sure          bool
	}
	lock, read := sampledata.ForLock, sampledata.ForReadLock
	unsure := waits(1, 1, 7)
	unsure.Sure = false
	for name, test := range map[string]struct {
		r    *sampledata.Recording
		want []finding
	}{
		"a chain": {marked([]sampledata.MarkedGroup{group(sampledata.ForSender, 1), group(sampledata.ForGroup, 2), group(lock, 3)},
			waits(1, 0, 5), waits(2, 1, 6), waits(3, 2, 7)), []finding{{NobodyLeft, 3, 2, true}}},
		"a lock's holder": {marked([]sampledata.MarkedGroup{group(lock, 1), group(lock, 2)}, waits(1, 0, 7), waits(2, 0, 7)),
			[]finding{{HolderGone, 2, 0, true}}},
		"circles": {marked([]sampledata.MarkedGroup{group(lock, 1, 2, 3), group(lock, 4, 5)},
			waits(1, 4, 6), waits(4, 1, 7), waits(2, 5, 8), waits(5, 2, 9), waits(3, 4, 6)), []finding{{Circle, 5, 1, true}}},
		"circles and others": {marked([]sampledata.MarkedGroup{group(lock, 1, 2, 3), group(lock, 4, 5)},
			waits(1, 4, 6), waits(4, 1, 7), waits(2, 5, 8), waits(5, 0, 9), waits(3, 0, 10)),
			[]finding{{Circle, 2, 0, true}, {HolderGone, 2, 1, true}, {HolderGone, 1, 0, true}}},
		"itself":           {marked([]sampledata.MarkedGroup{group(lock, 1)}, waits(1, 1, 7)), []finding{{Itself, 1, 0, true}}},
		"perhaps":          {marked([]sampledata.MarkedGroup{group(lock, 1)}, unsure), []finding{{Itself, 1, 0, false}}},
		"a recursive read": {marked([]sampledata.MarkedGroup{group(read, 1), group(lock, 2)}, waits(1, 2, 7), waits(2, 1, 7)), []finding{{Recursive, 2, 0, true}}},
		"no channel": {marked([]sampledata.MarkedGroup{group(sampledata.ForNil, 1), group(sampledata.ForNothing, 2)}),
			[]finding{{NilChannel, 1, 0, true}, {NoCases, 1, 0, true}}},
	} {
		a := Find(test.r)
		var got []finding
		for _, f := range a.Findings {
			n := 0
			for _, g := range f.Behind {
				n += g.Count
			}
			got = append(got, finding{f.Fault, f.Count, n, f.Sure})
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// What helps against a circle depends on what its goroutines wait for.
func TestRemedyOfCircle(t *testing.T) {
	for want, waitsFor := range map[string][]sampledata.Wait{
		"take the locks in one order":                                                      {sampledata.ForLock, sampledata.ForReadLock},
		"hold no lock while waiting for another goroutine":                                 {sampledata.ForLock, sampledata.ForReceiver},
		"let one of them not wait: a buffer, or a select with a context that is cancelled": {sampledata.ForReceiver, sampledata.ForSender},
	} {
		a := Find(marked([]sampledata.MarkedGroup{group(waitsFor[0], 1), group(waitsFor[1], 2)}, waits(1, 2, 6), waits(2, 1, 7)))
		if got := a.Findings[0].Remedy(); a.Findings[0].Fault != Circle || got != want {
			t.Errorf("%v: got %q, want %q", waitsFor, got, want)
		}
	}
}

// Goroutines that are not listed count, once.
func TestNotListed(t *testing.T) {
	g := group(sampledata.ForLock, 1, 2)
	g.Count = 12
	n := 0
	for _, f := range Find(marked([]sampledata.MarkedGroup{g}, waits(1, 1, 6), waits(2, 0, 7))).Findings {
		n += f.Count
	}
	if n != 12 {
		t.Errorf("%d goroutines", n)
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
	roots := rootsOf(ahead)
	if len(roots) != 1 || len(roots[0].members) != 2 || len(roots[0].behind) != n-2 {
		t.Errorf("%d roots", len(roots))
	}
}

// Who has waited for minutes, and can be woken, is not stuck.
func TestLive(t *testing.T) {
	live, stuck := group(sampledata.ForSender, 1, 2), group(sampledata.ForSender, 3)
	live.Verdict, live.Waited = sampledata.Live, time.Hour
	r := marked([]sampledata.MarkedGroup{stuck, live}, waits(3, 1, 7))
	a := Find(r)
	if a.Stuck != 1 || a.Others != 0 || len(a.Findings) != 1 || a.Findings[0].Count != 1 {
		t.Errorf("got %+v", a)
	}
	if w := r.Marking.Waits(); w[2] != time.Hour || len(r.Marking.Verdicts()) != 1 {
		t.Errorf("waits %v, verdicts %v", w, r.Marking.Verdicts())
	}
}

// What is only suspected is not said to be anybody's fault.
func TestSuspected(t *testing.T) {
	g := group(sampledata.ForSender, 1)
	g.Verdict, g.Kept = sampledata.Suspected, -1
	a := Find(marked([]sampledata.MarkedGroup{g}))
	if a.Stuck != 0 || a.Others != 1 || len(a.Findings) != 1 || a.Findings[0].Fault != Unknown {
		t.Errorf("got %+v", a)
	}
}
