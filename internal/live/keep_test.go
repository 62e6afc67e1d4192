package live

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

func TestParseWhen(t *testing.T) {
	for text, want := range map[string]string{
		"goroutines.blocked > 100":                          "goroutines.blocked > 100",
		"goroutines > 5 for 2s":                             "goroutines > 5",
		"calls(main.(*T).f) >500ms":                         "calls(main.(*T).f) > 500000000",
		"calls(f) > 1s && (calls(g) >= 2ms || gc.cycles>1)": "calls(f) > 1000000000 && (calls(g) >= 2000000 || gc.cycles>1)",
	} {
		if w, err := ParseWhen(text); err != nil || w.expr != want {
			t.Errorf("%q: got %+v, %v", text, w, err)
		}
	}
	for text, want := range map[string]string{
		"":                       "it is empty",
		"calls(main.f":           "want calls(FUNCTION)",
		"calls() > 1s":           "want calls(FUNCTION)",
		"calls(main.f)":          "compare the calls with a time",
		"calls(main.f) < 5ms":    "compare the calls with a time",
		"calls(main.f) > 5":      "compare the calls with a time",
		"goroutines > 5 for ten": "want a time after 'for'",
		"goroutines > 5 for -2s": "want a time after 'for'",
	} {
		if w, err := ParseWhen(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want %q", text, w, err, want)
		}
	}
}

// A program feeds a Keeper with a goroutine that makes calls, at
// ten samples a second.
type program struct {
	*Keeper
	t       *testing.T
	at      time.Duration
	g       sampledata.GoroutineID
	in, out sampledata.NodeID
	told    []Keeping
	full    bool
	fail    atomic.Bool
}

func newProgram(t *testing.T, when string, times int) *program {
	t.Helper()
	w := fixture.Must(ParseWhen(when))(t)
	p := &program{t: t}
	p.Keeper = Keep(sampledata.Header{Start: time.Unix(1000, 0)}, KeepOptions{
		Ring: sampledata.RingOptions{Keep: 10 * time.Second, Memory: int64(memory.Default())}, Quota: NewQuota(times), When: w,
		Write: func(_ *sampledata.Kept, _ sampledata.End) (string, error) {
			if p.fail.Load() {
				return "", errors.New("the disk is full")
			}
			return "run.cpprof", nil
		},
		Told: func(k Keeping) { p.told = append(p.told, k) }, Full: func() { p.full = true },
	})
	main := p.Node(sampledata.Node{Parent: sampledata.NoStack, Function: p.Function(sampledata.Function{Name: "main.main"})})
	p.out = main
	p.in = p.Node(sampledata.Node{Parent: main, Function: p.Function(sampledata.Function{Name: "main.handle"})})
	p.g = p.Goroutine(sampledata.Goroutine{ID: 7, Start: -1})
	return p
}

// spend takes samples in which the goroutine stays where it is.
func (p *program) spend(stack sampledata.NodeID, d time.Duration) {
	p.t.Helper()
	for end := p.at + d; p.at < end; p.at += 100 * time.Millisecond {
		c := sampledata.Change{Goroutine: p.g, State: sampledata.State{Stack: stack, Run: sampledata.Running}}
		fixture.Check(p.t, p.Sample(sampledata.Sample{Time: p.at}, []sampledata.Change{c}))
	}
}

// end lets the Keeper look at all samples, and ends it.
func (p *program) end() {
	p.t.Helper()
	time.Sleep(2 * look)
	fixture.Check(p.t, p.Finish(sampledata.End{Cause: sampledata.EndExited, Time: p.at}))
}

// A long call is kept when it is over, not when it is long
// enough. Short ones are not.
func TestKeepLongCall(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "calls(main.handle) > 500ms", 5)
	for range 5 {
		p.spend(p.out, 300*time.Millisecond)
		p.spend(p.in, 300*time.Millisecond)
	}
	p.spend(p.out, time.Second)
	p.spend(p.in, 900*time.Millisecond)
	p.spend(p.out, 2*time.Second)
	time.Sleep(2 * look)
	p.spend(p.out, 200*time.Millisecond)
	p.end()
	if len(p.told) != 2 || p.told[0].Reason != "main.handle took 900ms" || p.told[1].Reason != "the program ended with status 0" || p.full {
		t.Errorf("kept %+v", p.told)
	}
}

// A call that does not end is kept once, and its end is no
// reason to keep it again.
func TestKeepEndlessCall(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "calls(main.handle) > 500ms", 1)
	p.spend(p.out, time.Second)
	p.spend(p.in, 8*time.Second)
	p.spend(p.out, time.Second)
	p.end()
	if len(p.told) != 1 || !strings.HasPrefix(p.told[0].Reason, "main.handle has taken 5") || !p.full {
		t.Errorf("kept %+v", p.told)
	}
}

// What must hold for some time does not count sooner. What is
// under way at the end is named.
func TestKeepHeld(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "goroutines.running > 0 && time > 3 for 2s", 5)
	p.spend(p.in, 4*time.Second)
	p.end()
	if len(p.told) != 1 || p.told[0].Reason != "the program ended with status 0" {
		t.Errorf("kept %+v", p.told)
	}
	p = newProgram(t, "goroutines.running > 0 && time > 3 for 2s", 5)
	p.spend(p.in, 6*time.Second)
	p.end()
	if len(p.told) != 1 || !strings.HasPrefix(p.told[0].Reason, "the program ended with status 0, while goroutines.running > 0 && time > 3 held for 2.") {
		t.Errorf("kept %+v", p.told)
	}
}

// Of calls that are timed one by one, two that follow one
// another between samples are not one.
func TestKeepTimedCalls(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "calls(main.handle) > 500ms", 5)
	for range 20 { // it is always in the function when a sample is taken
		p.spend(p.in, 200*time.Millisecond)
		p.Calls(sampledata.CallTable{Function: "main.handle", Windows: []sampledata.CallWindow{{From: p.at - 200*time.Millisecond, To: p.at}},
			Calls: []sampledata.TimedCall{{Goroutine: 7, Begin: p.at - 150*time.Millisecond, End: p.at - 10*time.Millisecond}}})
	}
	p.spend(p.in, 700*time.Millisecond)
	p.Calls(sampledata.CallTable{Function: "main.handle", Windows: []sampledata.CallWindow{{From: p.at - 700*time.Millisecond, To: p.at}},
		Calls: []sampledata.TimedCall{{Goroutine: 7, Begin: p.at - 650*time.Millisecond, End: p.at - 50*time.Millisecond}}})
	p.spend(p.out, 300*time.Millisecond)
	p.Calls(sampledata.CallTable{Function: "main.handle", Windows: []sampledata.CallWindow{{From: p.at - 300*time.Millisecond, To: p.at}}})
	p.spend(p.out, 300*time.Millisecond)
	p.end()
	if len(p.told) != 1 || p.told[0].Reason != "main.handle took 600ms" {
		t.Errorf("kept %+v", p.told)
	}
}

// What can't be written is reported, does not count, and is
// tried again when there is a reason.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "goroutines > 5", 2)
	p.spend(p.out, time.Second)
	p.fail.Store(true)
	p.Ask("it was asked for")
	time.Sleep(2 * look)
	p.fail.Store(false)
	p.Ask("it was asked for")
	p.end()
	if len(p.told) != 2 || p.told[0].Err == nil || p.told[1].Err != nil || p.told[1].Number != 1 || p.full {
		t.Errorf("kept %+v", p.told)
	}
}
