package sampledata

import (
	"strconv"
	"testing"
	"time"
)

// What a sampler learns of a stack's timer is true of its first
// waits, too: not of another stack's, of waits for a channel, or of
// a stack most of whose later waits no timer ends.
func TestFirstWaitsForTimers(t *testing.T) {
	const learned = 10 // the first sample in which it is known
	for name, c := range map[string]struct {
		later string // the reason from then on; or of how many waits one has none
		lock  uint64
		other bool // it is another stack's
		want  string
	}{
		"a timer's":        {inSelectTimed, 0, false, inSelectTimed},
		"of another stack": {inSelectTimed, 0, true, inSelect},
		"for a channel":    {inSelectTimed, 0x100, false, inSelect},
		"never known":      {inSelect, 0, false, inSelect},
		"half a timer's":   {"1", 0, false, inSelect},
		"nearly always so": {"5", 0, false, inSelectTimed},
	} {
		b := NewBuilder(Header{GOMAXPROCS: 1})
		stack := b.Node(Node{Parent: NoStack, Function: b.Function(Function{Name: "main.wait"})})
		first := stack
		if c.other {
			first = b.Node(Node{Parent: NoStack, Function: b.Function(Function{Name: "main.receive"})})
		}
		g := b.Goroutine(Goroutine{ID: 1})
		for i := range 40 {
			s := State{Run: Waiting, Stack: first, Reason: inSelect, Lock: c.lock}
			if i >= learned {
				s = State{Run: Waiting, Stack: stack, Reason: c.later}
				if others, err := strconv.Atoi(c.later); err == nil {
					if s.Reason = inSelect; i%(others+1) > 0 || others > 1 && i == learned {
						s.Reason = inSelectTimed
					}
				}
			}
			if err := b.Sample(Sample{Time: time.Duration(i) * time.Millisecond}, []Change{{Goroutine: g, State: s}}); err != nil {
				t.Fatal(err)
			}
		}
		r := b.Recording()
		if got := r.Runs.At(0).Reason; got != c.want {
			t.Errorf("%s: the first wait's reason is %q", name, got)
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
