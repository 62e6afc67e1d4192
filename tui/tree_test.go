package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// treeRecording has a goroutine that computes: for a third of
// its life in main.hot, and for the rest in thirty functions,
// each of which has 2 % and calls main.common.
func treeRecording(t testing.TB, samples int) *sampledata.Recording {
	t.Helper()
	b := sampledata.NewBuilder(synthetic.Header())
	node := func(parent sampledata.NodeID, name string) sampledata.NodeID {
		f := b.Function(sampledata.Function{Name: name, File: "/src/main.go"})
		return b.Node(sampledata.Node{Parent: parent, Function: f, Line: 7})
	}
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: b.Function(sampledata.Function{Name: "main.worker", File: "/src/main.go"})})
	for i := range samples {
		at := node(sampledata.NoStack, "main.worker")
		if i%3 == 0 {
			at = node(node(at, "main.hot"), "main.leaf["+strings.Repeat("go.shape.int,", 60)+"]")
		} else {
			at = node(node(at, fmt.Sprintf("main.part%02d", i/3%30)), "main.common")
		}
		s := sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond, Processors: []sampledata.GoroutineID{g}}
		if err := b.Sample(s, []sampledata.Change{{Goroutine: g, State: sampledata.State{Run: sampledata.Running, Stack: at}}}); err != nil {
			t.Fatal(err)
		}
	}
	fixture.Check(t, b.Finish(sampledata.End{Time: time.Duration(samples+1) * 10 * time.Millisecond}))
	return b.Recording()
}

// treeKeys has a test for every binding of the window, by its
// first key. The lines are the root, main.worker, main.hot,
// main.leaf, its :RUN, and 30 more; main.worker is selected.
var treeKeys = map[string]keyTest{
	"Enter":  {keys: []string{"j", "j"}, check: shows("Server View", "›0.333   300        ▾ main.leaf")},
	"Space":  {check: hides("main.hot")},
	"l":      {check: picks(2)},
	"h":      {check: hides("main.hot")},
	"J":      {keys: []string{"j", "j"}, check: shows("▲1 ")},
	"K":      {keys: []string{"j", "j", "J"}, check: hides("▲1 ")},
	"/":      {check: shows("\n/")},
	"n":      {keys: []string{"/", "2", "0", "Enter", "g"}, check: shows("›NO")},
	"N":      {keys: []string{"/", "2", "0", "Enter", "G"}, check: shows("›NO")},
	"j":      {check: picks(2)},
	"k":      {check: picks(0)},
	"PgDn":   {keys: []string{"g"}, check: picks(10)},
	"PgUp":   {check: picks(0)},
	"Ctrl-D": {keys: []string{"g"}, check: picks(5)},
	"Ctrl-U": {check: picks(0)},
	"g":      {keys: []string{"G"}, check: picks(0)},
	"G":      {check: shows("* ..main.common")},
}

// The tree shows the bottlenecks open, each callee with its
// verdict and its share, and what is a bottleneck only over all
// its callers.
func TestTreeWindow(t *testing.T) {
	b := newBench(t, Options{Path: "slow.cpprof", Recording: treeRecording(t, 900)})
	b.resize(130, 60)
	b.keys("T")
	b.shows("2 Tree", "Server View: ", "YES    33.3 %", "▾ main.hot", "NO      2.2 %", "▸ main.part07", "YES    66.7 %", "* ..main.common")
	b.keys("/", "p", "a", "r", "t", "0", "7", "Enter")
	b.shows("* main.worker main.part07", "NO: less than 10 %")
	b.hides("not tried")
	b.keys("l", "l")
	b.shows("* main.worker main.part07 main.common", "not tried: its caller takes less than 10 %")
	b.keys("h", "h")
	b.hides("part07 main.common")
	b.line(":tree go:main.worker")
	b.shows("3 Tree go:main.worker", "Thread View of go:main.worker: ")
	b.keys("2", "T")
	b.shows("2 Tree", "Server View: ") // it is not opened again
	b.line(":tree go:main.nobody")
	b.shows("go:main.nobody")
}

// While a recording grows, verdicts become certain; the selected call remains.
func TestTreeGrows(t *testing.T) {
	small := treeRecording(t, 15)
	b := newBench(t, Options{Path: "slow.cpprof", Recording: small})
	b.keys("T", "/", "p", "a", "r", "t", "0", "1", "Enter")
	b.shows("›MAYBE", "more samples will decide it")
	b.do(func() {
		b.grown(treeRecording(t, 900))
		b.window().refresh()
	})
	b.waitForJobs()
	b.shows("›NO      2.2 %", "* main.worker main.part01", "NO: less than 10 %")
}
