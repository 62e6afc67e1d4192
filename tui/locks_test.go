package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// manyLocks is a recording of n goroutines, each waiting for a lock of its own in one sample less than the one before it; the
// first two for one another's. Some names are such that a terminal or tview could take them for something else.
func manyLocks(t testing.TB, n int) Options {
	t.Helper()
	b := sampledata.NewBuilder(synthetic.Header())
	mutex := b.Function(sampledata.Function{Name: "sync.(*Mutex).Lock"})
	var changes []sampledata.Change
	for i := range n {
		f := b.Function(sampledata.Function{Name: fmt.Sprintf("example.com/a/rather/long/path/pkg%02d.(*Server).[red]work\x1b[1m", i), File: "/src/w.go", Line: 3})
		outer := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f, Line: 7})
		inner := b.Node(sampledata.Node{Parent: outer, Function: mutex})
		g := b.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: f})
		changes = append(changes, sampledata.Change{Goroutine: g, State: sampledata.State{
			Stack: inner, Run: sampledata.Blocked, Reason: "sync.Mutex.Lock", Lock: uint64(0xc000 + 16*i),
		}})
	}
	for i := range 2 {
		st := &changes[i].State
		st.Evidence, st.Holders = sampledata.Inferred, b.HolderSet([]sampledata.GoroutineID{changes[1-i].Goroutine})
	}
	for i := range n {
		if err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}},
			changes[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(sampledata.End{Time: time.Second}); err != nil {
		t.Fatal(err)
	}
	return Options{Path: "many.cpprof", Recording: b.Recording()}
}

// locksOf is a bench with the window of the locks in front.
func locksOf(t testing.TB, o Options) *bench {
	t.Helper()
	b := newBench(t, o)
	b.keys("L")
	return b
}

func (b *bench) locks() (w *lockWindow) {
	b.do(func() { w = b.window().(*lockWindow) })
	return w
}

// picks checks which lock is selected, by its place.
func picks(i int) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		w, got := b.locks(), 0
		b.do(func() { got = w.place() })
		if got != i {
			t.Errorf("item %d is selected, want %d\n%s", got, i, b.text())
		}
	}
}

// lockKeys has a test for every binding of the window, by its first key. It shows a deadlock and 30 locks, the second item
// is selected.
var lockKeys = map[string]keyTest{
	"Enter": {check: shows("Thread View of go:example.com", "..:MONITOR")},
	"h":     {check: shows("Locks, their holders and what these do")},
	"J":     {keys: []string{"g"}, check: shows("▲1 ")},
	"K":     {keys: []string{"g", "J", "J"}, check: shows("▲1 ")},
	"/":     {check: shows("\n/")},
	"n":     {keys: []string{"/", "2", "0", "Enter", "g"}, check: picks(21)},
	"N":     {keys: []string{"/", "2", "0", "Enter", "G"}, check: picks(21)},
	"j":     {check: picks(2)},
	"k":     {check: picks(0)},
	"PgDn":  {keys: []string{"g"}, check: shows("Details")},
	"PgUp":  {keys: []string{"G", "g"}, check: picks(0)},
	"g":     {keys: []string{"G"}, check: picks(0)},
	"G":     {check: picks(30)},
}

func TestEveryKeyOfTheLocks(t *testing.T) {
	o := manyLocks(t, 30)
	var bindings []binding
	first := locksOf(t, o)
	w := first.locks()
	first.do(func() { bindings = w.bindings() })
	for _, own := range bindings {
		test, ok := lockKeys[own.keys[0]]
		if !ok {
			t.Errorf("there is no test for the key %s: %s", own.keys[0], own.description)
			continue
		}
		for _, key := range own.keys {
			for _, byMouse := range []bool{false, true} {
				if byMouse && (own.label == "" || key != own.keys[0]) {
					continue
				}
				t.Run(fmt.Sprint(key, byMouse), func(t *testing.T) {
					b := locksOf(t, o)
					b.keys("j")
					b.keys(test.keys...)
					if byMouse {
						b.click(own.face() + " " + own.label)
					} else {
						b.keys(key)
					}
					test.check(t, b)
				})
			}
		}
	}
}
