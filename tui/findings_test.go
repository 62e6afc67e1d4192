package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// slowRecording has 30 classes, each of which waits for a lock
// of its own: 30 findings. Names contain text that a terminal
// could interpret.
func slowRecording(t testing.TB) *sampledata.Recording {
	t.Helper()
	b := sampledata.NewBuilder(synthetic.Header())
	mutex := b.Function(sampledata.Function{Name: "sync.(*Mutex).Lock"})
	flush := b.Function(sampledata.Function{Name: "main.flush", File: "/src/flush.go"})
	holder := b.Goroutine(sampledata.Goroutine{ID: 1000, Start: flush})
	other := b.Goroutine(sampledata.Goroutine{ID: 1001, Start: b.Function(sampledata.Function{Name: "main.compact"})})
	changes := []sampledata.Change{{Goroutine: other, State: sampledata.State{
		Run: sampledata.Waiting, Reason: "sleep", Stack: b.Node(sampledata.Node{
			Parent: sampledata.NoStack, Function: b.Function(sampledata.Function{Name: "main.compact", File: "/src/compact.go"}), Line: 5,
		}),
	}}, {Goroutine: holder, State: sampledata.State{
		Run: sampledata.Waiting, Reason: "IO wait", Stack: b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: flush, Line: 9}),
	}}}
	for i := range 30 {
		f := b.Function(sampledata.Function{Name: fmt.Sprintf("example.com/a/rather/long/path/to/the/package/main.work%02d[red]\x1b[1m", i), File: "/src/w.go"})
		stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f, Line: 7})
		stack = b.Node(sampledata.Node{Parent: stack, Function: mutex})
		for n := range 40 - i {
			changes = append(changes, sampledata.Change{
				Goroutine: b.Goroutine(sampledata.Goroutine{ID: int64(100*i + n + 2000), Start: f}),
				State: sampledata.State{
					Stack: stack, Run: sampledata.Blocked, Reason: "sync.Mutex.Lock", Lock: uint64(0xc000 + 16*i), Evidence: sampledata.Inferred,
					Holders: b.HolderSet([]sampledata.GoroutineID{holder, other}),
				},
			})
		}
	}
	for i := range 40 {
		s := sampledata.Sample{Time: time.Duration(i+1) * 20 * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}}
		fixture.Check(t, b.Sample(s, changes))
		changes = nil
	}
	fixture.Check(t, b.Finish(sampledata.End{Time: time.Second}))
	return b.Recording()
}

// findingsKeys has a test for every binding of the window, by
// its first key. The window has 30 findings; the second one is
// selected.
var findingsKeys = map[string]keyTest{
	"Enter":  {check: shows("Thread View of go:example.com", "..:MONITOR")},
	"J":      {check: shows("▲1 ")},
	"K":      {keys: []string{"J"}, check: hides("▲1 ")},
	"/":      {check: shows("\n/")},
	"n":      {keys: []string{"/", "2", "0", "Enter", "g"}, check: picks(20)},
	"N":      {keys: []string{"/", "2", "0", "Enter", "G"}, check: picks(20)},
	"j":      {check: picks(2)},
	"k":      {check: picks(0)},
	"PgDn":   {keys: []string{"g"}, check: picks(10)},
	"PgUp":   {check: picks(0)},
	"Ctrl-D": {keys: []string{"g"}, check: picks(5)},
	"Ctrl-U": {check: picks(0)},
	"g":      {keys: []string{"G"}, check: picks(0)},
	"G":      {check: picks(29)},
}

// The window shows each finding, where, why and when; Enter
// opens the view that proves it.
func TestFindingsWindow(t *testing.T) {
	b := newBench(t, Options{Path: "slow.cpprof", Recording: slowRecording(t)})
	b.keys("W")
	b.shows("2 Why", "›1. go:example.com", "main.work00[red]", "w.go:7", "go:main.flush holds it, in main.flush:")
	b.keys("Enter")
	b.shows("Thread View of go:example.com", ":MONITOR", "go:main.flush")
	b.keys("2", "W")
	b.shows("2 Why", "›1. go:example.com")
}

// A recording in which nothing is slow says so, if a person asks.
func TestNoFindings(t *testing.T) {
	b := newBench(t, manyClasses(t, 3))
	b.keys("W")
	b.shows("2 Why", "Too few samples")
}

// At the start the window is in front if there are findings, and
// closes itself if there are none.
func TestFindingsComeFirst(t *testing.T) {
	b := newBench(t, Options{Path: "slow.cpprof", Recording: slowRecording(t), Findings: true})
	b.waitForJobs()
	b.shows("2 Why", "›1. go:example.com")
	o := manyClasses(t, 3)
	o.Findings = true
	b = newBench(t, o)
	b.waitForJobs()
	b.hides("Why\n", "2 Why")
	b.shows("⏎ Open  s Server")
}
