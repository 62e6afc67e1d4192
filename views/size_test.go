package views

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// If the holders of locks wait for locks in many ways, chains
// are shortened until the view is small enough. What has fewer
// holders stays as it is, and nothing is lost.
func TestChainsAreShortened(t *testing.T) {
	r := load{goroutines: 60, samples: 300, changed: 0.2, runnable: 0.4}.recording(t)
	const class = "go:pkg0.f0"
	full := thread(t, r, class, Options{})
	o := Options{MaxMemory: int64(full.Tree.Len()) * 9 / 10 * nodeMemory}
	short := thread(t, r, class, o)
	if len(short.Warnings) != 1 || short.Warnings[0].Kind != "cut-chain" || !strings.Contains(short.Warnings[0].Message, "chains end with holder ") {
		t.Fatalf("warnings %+v", short.Warnings)
	}
	if n := short.Tree.Len(); n > o.maxNodes() || n < 1000 {
		t.Errorf("%d nodes, want at most %d", n, o.maxNodes())
	}
	if got, want := short.Tree.Main().Through(0), full.Tree.Main().Through(0); got.Weight.Cmp(want.Weight) != 0 || got.Hits.Cmp(want.Hits) != 0 {
		t.Errorf("%s hits at the root, want %s", got.Hits, want.Hits)
	}
	chains := func(path string) int { return strings.Count(path, ":MONITOR") }
	all, kept, longest := hitsOf(full.Tree), hitsOf(short.Tree), 0
	for path, hits := range kept {
		if !strings.HasSuffix(path, ":cut") {
			if !strings.HasSuffix(path, "deadlock") { // the frame is in place of one more holder
				longest = max(longest, chains(path))
			}
			if all[path] != hits {
				t.Errorf("%s: %s hits, want %s", path, hits, all[path])
			}
		}
	}
	for path := range all {
		if chains(path) <= longest && kept[path] == "" {
			t.Fatalf("%s is missing, and chains of %d are shown", path, longest)
		}
	}
	if longest == 0 {
		t.Error("no holders are shown")
	}
}

// In a view of all classes, chains are shortened long before the
// view is too large, as far as it is permitted: to one holder,
// or to the class of one. If the view is large without holders,
// they stay.
func TestChainsOfAllClasses(t *testing.T) {
	r := load{goroutines: 60, samples: 300, changed: 0.2, runnable: 0.4}.recording(t)
	var o Options
	view := func(maxChained, maxFirst int) *View {
		v, _, err := limitedView(r, o, "view", calltree.RootName, func(b *builder) {
			b.threads, b.maxChained, b.maxFirst = true, maxChained, maxFirst
		})
		fixture.Check(t, err)
		return v
	}
	full := view(0, 0)
	n := full.Tree.Len()
	for _, most := range []int{n * 4 / 5, n / 2} {
		short := view(most, math.MaxInt)
		if short.Tree.Len() > n*4/5 || len(short.Warnings) != 1 || !strings.Contains(short.Warnings[0].Message, "chains end with holder 1") {
			t.Errorf("%d of %d nodes, warnings %+v", short.Tree.Len(), n, short.Warnings)
		}
	}
	none := view(n/2, n/3)
	if none.Tree.Len() > n/2 || len(none.Warnings) != 1 || !strings.Contains(none.Warnings[0].Message, "only their classes are shown") {
		t.Errorf("%d of %d nodes, warnings %+v", none.Tree.Len(), n, none.Warnings)
	}
	if wide := view(10, 10); wide.Tree.Len() != n || len(wide.Warnings) != 0 {
		t.Errorf("%d of %d nodes, warnings %+v", wide.Tree.Len(), n, wide.Warnings)
	}
	o = Options{Places: true, Lock: func(sampledata.Run) string { return "main.mu" }}
	n = view(0, 0).Tree.Len()
	if short := view(n*4/5, math.MaxInt); short.Tree.Len() > n*4/5 || len(short.Warnings) != 1 {
		t.Errorf("with names of locks: %d of %d nodes, warnings %+v", short.Tree.Len(), n, short.Warnings)
	}
}

// A view that is too large without any holders is refused.
func TestViewOfTooManyNodes(t *testing.T) {
	r := load{goroutines: 60, samples: 300, changed: 0.2, runnable: 0.4}.recording(t)
	_, err := Server(r, Options{MaxMemory: 50 * nodeMemory})
	var size *sizeError
	if !errors.As(err, &size) || size.max != 50 || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("got %v", err)
	}
	_, err = Thread(r, "go:pkg0.f0", Options{MaxMemory: 50 * nodeMemory})
	if !errors.As(err, &size) {
		t.Errorf("got %v", err)
	}
}

// Each of many deep stacks has frames of its own, because it is
// cut at another place. They are refused before they fill the
// memory.
func TestManyDeepStacks(t *testing.T) {
	const depth = 9000
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(0, 0)})
	f := b.Function(sampledata.Function{Name: "main.f"})
	g := b.Function(sampledata.Function{Name: "main.g"})
	var changes []sampledata.Change
	stack := sampledata.NoStack
	for i := range depth {
		stack = b.Node(sampledata.Node{Parent: stack, Function: []sampledata.FunctionID{f, g}[i*i/7%2]})
		id := b.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: f})
		changes = append(changes, sampledata.Change{Goroutine: id, State: sampledata.State{Stack: stack, Run: sampledata.Waiting}})
	}
	fixture.Check(t, b.Sample(sampledata.Sample{}, changes))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Thread(b.Recording(), "go:main.f", Options{MaxMemory: 2000 * nodeMemory})
	runtime.ReadMemStats(&after)
	if _, ok := errors.AsType[*sizeError](err); !ok {
		t.Errorf("got %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}
