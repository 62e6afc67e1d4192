package locks

import (
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A deadlock is reported once, with the latest names of the
// locks, and the sink below receives everything.
func TestWatchTells(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(1e9, 0)})
	var reported []Deadlock
	w := Watch(b, views.Options{}, func(d Deadlock) { reported = append(reported, d) })
	lock := w.Function(sampledata.Function{Name: "sync.(*Mutex).Lock"})
	var states [2]sampledata.State
	var ids [2]sampledata.GoroutineID
	for i, name := range []string{"main.left", "main.right"} {
		f := w.Function(sampledata.Function{Name: name, File: "main.go"})
		n := w.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f, Line: int32(10 + i)})
		ids[i] = w.Goroutine(sampledata.Goroutine{ID: int64(7 + i), Start: f})
		states[i] = sampledata.State{
			Stack: w.Node(sampledata.Node{Parent: n, Function: lock}), Run: sampledata.Blocked, Reason: "sync.Mutex.Lock",
			Lock: uint64(16 + i), Evidence: sampledata.Inferred,
		}
	}
	states[0].Holders, states[1].Holders = w.HolderSet(ids[1:]), w.HolderSet(ids[:1])
	changes := []sampledata.Change{{Goroutine: ids[0], State: states[0]}, {Goroutine: ids[1], State: states[1]}}
	for i := range 4 {
		fixture.Check(t, w.Sample(sampledata.Sample{Time: time.Duration(i)}, changes))
		if len(reported) != min(i, 1) {
			t.Fatalf("%d deadlocks reported after %d samples", len(reported), i+1)
		}
		if i == 0 {
			w.LockName(sampledata.LockName{Address: 16, Name: "main.mu"})
		}
	}
	got := say(&Analysis{Deadlocks: []*Deadlock{&reported[0]}})
	want := `deadlock in 2 samples, 0-1:
  7 go:main.left waits for main.mu
    sync.(*Mutex).Lock:0
    main.left:10
  8 go:main.right waits for the lock at 0x11
    sync.(*Mutex).Lock:0
    main.right:11
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r := b.Recording(); r.Samples.Len() != 4 || len(r.Nodes) != 4 || len(r.HolderSets) != 3 || len(r.LockNames) != 1 {
		t.Errorf("the sink below has %+v", r)
	}
}
