package report

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Why a heap was not marked is said if the recording knows it.
func TestUnmarked(t *testing.T) {
	r := &sampledata.Recording{}
	if got := Unmarked(r); !strings.Contains(got, "heap was not marked. Record") {
		t.Error(got)
	}
	r.Warnings = []sampledata.Warning{{Kind: sampledata.UnmarkedHeap, Message: "it is too large"}}
	if got := Unmarked(r); !strings.Contains(got, "heap was not marked (it is too large). Record") {
		t.Error(got)
	}
}

// If the heap proves nothing, a deadlock that the samples show
// is not denied, nor what seems to be one.
func TestStuckBesideADeadlock(t *testing.T) {
	for _, c := range []struct {
		evidence   sampledata.Evidence
		next       int // who has the lock that a goroutine waits for
		text, json string
	}{
		{sampledata.Inferred, 1, "But the samples show 2 goroutines in a deadlock", `"deadlocked": 2`},
		{sampledata.Ambiguous, 0, "But 2 goroutines seem to wait for a lock that they hold", `"seeming": 2`},
	} {
		b := sampledata.NewBuilder(sampledata.Header{GOMAXPROCS: 2})
		f := b.Function(sampledata.Function{Name: "main.move"})
		stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f})
		both := []sampledata.GoroutineID{b.Goroutine(sampledata.Goroutine{ID: 1, Start: f}), b.Goroutine(sampledata.Goroutine{ID: 2, Start: f})}
		var changes []sampledata.Change
		for i, g := range both {
			has := both[(i+c.next)%2:][:1]
			changes = append(changes, sampledata.Change{Goroutine: g, State: sampledata.State{Run: sampledata.Blocked, Stack: stack,
				Reason: "sync.Mutex.Lock", Lock: 0x10 * uint64(i+1), Evidence: c.evidence, Holders: b.HolderSet(has)}})
		}
		idle := []sampledata.GoroutineID{sampledata.IdleProcessor, sampledata.IdleProcessor}
		for i, changes := range [][]sampledata.Change{changes, nil, nil, nil} {
			fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i+1) * time.Second, Processors: idle}, changes))
		}
		r := b.Recording()
		r.Marking = &sampledata.Marking{Goroutines: 2, Passes: 1}
		text, data := new(strings.Builder), new(strings.Builder)
		of := StuckOf(r, "move")
		of.Write(text)
		if err := of.WriteJSON(data); err != nil || !strings.Contains(data.String(), c.json) {
			t.Errorf("%v: %s", err, data)
		}
		if got := text.String(); !strings.Contains(got, "none was found to be stuck for good\n"+c.text) {
			t.Error(got)
		}
	}
}

// A wait is rounded down, and of several goroutines, one waits so long.
func TestStuckWords(t *testing.T) {
	group := func(count int, ids ...int64) []sampledata.MarkedGroup {
		return []sampledata.MarkedGroup{{Count: count, IDs: ids, Verdict: sampledata.Stuck, Wait: sampledata.ForSender, Reason: "chan receive",
			Waited: 8700 * time.Millisecond, Kept: -1, Creator: sampledata.Call{Function: "runtime.newproc"}}}
	}
	for _, c := range []struct {
		m    sampledata.Marking
		want []string
	}{
		{sampledata.Marking{Groups: group(1, 1)}, []string{"1 goroutine, the main one, waits [chan receive]\n", "  waits for at least 8s\n"}},
		{sampledata.Marking{Groups: group(2, 7, 8)}, []string{"2 goroutines, created by runtime.newproc, wait [chan receive]\n", "  one waits for at least 8s\n"}},
		{sampledata.Marking{Doubt: "a page can't be read"}, []string{"0 goroutines, and whether one is stuck for good could not be found out: a page can't be read\n"}},
		{sampledata.Marking{Passes: 1, MaxHalt: time.Millisecond}, []string{"none was found to be stuck for good\n", "halted once, for 1ms;"}},
		{sampledata.Marking{Passes: 2, MaxHalt: time.Millisecond}, []string{"halted twice, for at most 1ms;"}},
	} {
		b := new(strings.Builder)
		StuckOf(&sampledata.Recording{Marking: &c.m}, "move").Write(b)
		for _, want := range c.want {
			if got := b.String(); !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	}
}
