package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// manyLocks is a recording of n goroutines. Each waits for a
// lock of its own, in one sample less than the one before it;
// the first two wait for each other's. Some names contain text
// that a terminal could interpret.
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
	fixture.Check(t, b.Finish(sampledata.End{Time: time.Second}))
	return Options{Path: "many.cpprof", Recording: b.Recording()}
}

// locksOf returns a bench whose active window shows the locks.
func locksOf(t testing.TB, o Options) *bench {
	t.Helper()
	b := newBench(t, o)
	b.keys("L")
	return b
}

// lockKeys has a test for every binding of the window, by its
// first key. The window has a deadlock and 30 locks; the second
// item is selected.
var lockKeys = map[string]keyTest{
	"Enter":  {check: shows("Thread View of go:example.com", "..:MONITOR")},
	"i":      {check: shows("each instance by itself")},
	"h":      {check: shows("Locks, their holders and what these do")},
	"J":      {keys: []string{"g"}, check: shows("▲1 ")},
	"K":      {keys: []string{"g", "J", "J"}, check: shows("▲1 ")},
	"/":      {check: shows("\n/")},
	"n":      {keys: []string{"/", "2", "0", "Enter", "g"}, check: picks(21)},
	"N":      {keys: []string{"/", "2", "0", "Enter", "G"}, check: picks(21)},
	"j":      {check: picks(2)},
	"k":      {check: picks(0)},
	"PgDn":   {keys: []string{"g"}, check: picks(9)},
	"PgUp":   {check: picks(0)},
	"Ctrl-D": {keys: []string{"g"}, check: picks(5)},
	"Ctrl-U": {check: picks(0)},
	"g":      {keys: []string{"G"}, check: picks(0)},
	"G":      {check: picks(30)},
}

// Enter shows the instances of a field, and i the field again.
func TestLockInstances(t *testing.T) {
	r, err := sampledata.ReadText(strings.NewReader(`cpprof recording 1
function f0 main.work
function f1 sync.(*Mutex).Lock
node n0 f0
node n1 f1 under=n0
goroutine g0 1 start=f0
goroutine g1 2 start=f0
goroutine g2 3 start=f0
lock 0x10 main.(*cache).mu
lock 0x20 main.(*cache).mu
sample 10ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10
	g1 blocked n1 reason=sync.Mutex.Lock lock=0x20
	g2 blocked n1 reason=sync.Mutex.Lock lock=0x20
`))
	fixture.Check(t, err)
	b := locksOf(t, Options{Recording: r, Path: "r.cpprof"})
	b.shows("3 hits of waiting for 2 locks", " 2  66.7 %  main.(*cache).mu\n", "2 instances")
	b.keys("Enter")
	b.shows("main.(*cache).mu of instance 1\n", "›", "main.(*cache).mu of instance 2: sync.Mutex at 0x20")
	b.keys("i")
	b.shows("main.(*cache).mu\n", "2 instances")
}

// The text is that of 'cpprof locks'.
func TestLocksOfBob(t *testing.T) {
	b := locksOf(t, bob(t))
	b.shows(
		" 2 Locks\n 120 hits of waiting for 1 lock; holders: 100.0 % recorded\n",
		"\n waited  mean  hits    known  lock\n",
		"\n› 6.0 s  4.00   120  100.0 %  a lock taken in bob.(*manager).transact\n",
		"sync.Mutex at 0xc000012080", "120  go:bob.(*terminal).run in bob.(*manager).transact",
		"  held by (100.0 % recorded)",
	)
	b.keys("Enter")
	b.shows(" 3 go:bob.(*terminal).run", "▾ ..:MONITOR", "›0.800   120        ▾ go:bob.(*terminal).run", " 0.533    80                bob.(*manager).stamp")
	b.shows("MONITOR 100.0 % known")
	b.keys("h", "h", "h", "v")
	b.shows("MONITOR 0.800, of which 100.0 % is attributed")
	b.keys("L", "L", "1", "L")
	b.shows(" 1 Summary  2 Locks  3 go:bob.(*terminal).run\n 120 hits")
}

// A deadlock of two goroutines is above all locks, with both stacks.
func TestLocksShowADeadlock(t *testing.T) {
	b := locksOf(t, manyLocks(t, 30))
	b.shows("1 DEADLOCK", "›DEADLOCK of goroutines 1, 2, each waiting for a lock of the next", "DEADLOCK in 29 samples, from 2.00 ms to the last sample")
	b.keys("J", "J")
	b.shows("/src/w.go:7")
	b.keys("Enter")
	b.shows("Thread View of go:example.com", "..:MONITOR")
}

// On every screen size, every lock can be reached, and all
// information on it can be read. The terminal interprets none of
// it.
func TestLocksLoseNothing(t *testing.T) {
	o := manyLocks(t, 30)
	for _, size := range [][2]int{{80, 24}, {40, 16}, {200, 60}} {
		b := locksOf(t, o)
		b.resize(size[0], size[1])
		for i := range 31 {
			picks(i)(t, b)
			for last := ""; i > 0; {
				screen := b.text()
				squeezed := strings.Join(strings.Fields(screen), "")
				if strings.Contains(squeezed, fmt.Sprintf(`pkg%02d.(*Server).[red]work\x1b[1m`, i-1)) {
					break
				}
				if last == screen {
					t.Fatalf("at %v, lock %d can't be read:\n%s", size, i, screen)
				}
				last = screen
				b.keys("J")
			}
			b.keys("j")
		}
	}
}

func TestLocksByMouse(t *testing.T) {
	b := locksOf(t, manyLocks(t, 30))
	x, y := b.find("›DEADLOCK")
	b.clickAt(x, y+2)
	picks(2)(t, b)
	b.wheel(x, y+2, tcell.WheelDown)
	picks(5)(t, b)
	b.wheel(x, y+2, tcell.WheelUp)
	picks(2)(t, b)
	b.keys("g")
	x, y = b.find("Details")
	b.wheel(x, y+2, tcell.WheelDown)
	b.shows("▲3 ")
	b.wheel(x, y+2, tcell.WheelUp)
	b.shows("▲0 ")
}

// The same lock is selected in a span. If the span does not have
// it, it is selected again as soon as it is back.
func TestLocksOfASpan(t *testing.T) {
	b := locksOf(t, manyLocks(t, 30))
	b.keys("j", "j", "j")
	picks(3)(t, b)
	b.do(func() { b.setSpan(views.Span{To: 10 * time.Millisecond}) })
	b.waitForJobs()
	b.shows("45 hits of waiting for 9 locks", "only\n 0s to 10ms")
	b.do(func() { b.setSpan(views.Span{From: time.Hour}) })
	b.waitForJobs()
	b.do(func() { b.setSpan(views.Span{}) })
	b.waitForJobs()
	picks(3)(t, b)
}

func TestLocksAreCancelled(t *testing.T) {
	b := locksOf(t, bob(t))
	b.do(func() {
		b.window().refresh()
		b.app.key(tcell.NewEventKey(tcell.KeyEsc, 0, tcell.ModNone))
	})
	b.waitForJobs()
	b.shows("Analysing the locks: cancelled.", "120 hits of waiting")
	b.keys("x")
	b.do(func() {
		openLocks(b.app)
		b.app.key(tcell.NewEventKey(tcell.KeyEsc, 0, tcell.ModNone))
	})
	b.waitForJobs()
	b.hides("2 Locks")
}

func TestNoLocks(t *testing.T) {
	b := locksOf(t, manyClasses(t, 3))
	b.shows("no goroutine was seen waiting for a lock of package sync")
	b.keys("Enter", "j", "n", "J")
	b.keys("h")
	b.shows("no goroutine was seen waiting for a lock of package sync")
}

func TestLocksWithoutColor(t *testing.T) {
	o := manyLocks(t, 3)
	o.NoColor = true
	b := locksOf(t, o)
	b.do(func() {
		cells, _, _ := b.sim.GetContents()
		for _, c := range cells {
			if foreground(c.Style) != tcell.ColorDefault {
				t.Fatalf("%q has a colour", c.Runes)
			}
		}
	})
}

// The table follows a growing recording, and the selection stays.
func TestLocksOfALiveRecording(t *testing.T) {
	o := manyLocks(t, 30)
	whole := o.Recording
	o.Recording = manyLocks(t, 4).Recording
	now := o.Recording
	o.Live = &Live{Recording: func() *sampledata.Recording { return now }, Ended: make(chan struct{})}
	b := locksOf(t, o)
	b.keys("j", "j")
	b.do(func() {
		now = whole
		b.live.next = time.Time{}
		b.live.renew()
	})
	b.waitForJobs()
	b.shows("465 hits of waiting for 30 locks")
	picks(2)(t, b)
}

// What is no lock stands below the locks, with those who likely have it.
func TestLocksShared(t *testing.T) {
	r, err := sampledata.ReadText(strings.NewReader(`cpprof recording 1
function f0 main.send
function f1 main.work
node n0 f0
node n1 f1
goroutine g0 1 start=f0
goroutine g1 2 start=f1
holders h1 g1
sample 10ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h1 evidence=likely
	g1 running n1
end duration time=20ms
`))
	fixture.Check(t, err)
	b := locksOf(t, Options{Path: "shared.cpprof", Recording: r})
	for _, want := range []string{"channel in main.send", "100.0 % likely", "go:main.work in main.work"} {
		if !strings.Contains(b.text(), want) {
			t.Errorf("%q is not in\n%s", want, b.text())
		}
	}
	b.keys("h")
	if want := "the details say who has this"; !strings.Contains(b.text(), want) {
		t.Errorf("%q is not in\n%s", want, b.text())
	}
	b.keys("Enter")
	if want := "Thread View of go:main.send"; !strings.Contains(b.text(), want) {
		t.Errorf("%q is not in\n%s", want, b.text())
	}
}
