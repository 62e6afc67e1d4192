package syncflow

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestOwner(t *testing.T) {
	for name, want := range map[string]string{
		"a.b/c.(*T).Write":       "a.b/c.(*T)",
		"a.b/c.(*T).Write.func1": "a.b/c.(*T)",
		"a.b/c.T.Write":          "a.b/c.T",
		"main.run":               "main.run",
		"main.run.func2.1":       "main.run",
		"main.(*box[...]).get":   "main.(*box[...])",
		"odd":                    "odd",
		"main.(":                 "main.(",
	} {
		if got := ownerIn(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Large functions are analysed for actions only if nothing else
// was unknown between the last two Refills.
func TestLargeFunctionsComeLast(t *testing.T) {
	a := &Analyzer{wanted: true, metSmall: true}
	const small, large = largeFunction, largeFunction + 1
	for i, c := range []struct {
		size uint64
		want bool
	}{{large, false}, {small, true}, {large, false}, {large, true}} {
		if i != 1 {
			a.Refill(1000)
		}
		if got := a.mayLearnActions(0x1000, 0x1000+c.size); got != c.want {
			t.Errorf("step %d: may learn: %v, want %v", i, got, c.want)
		}
	}
}

// While little may be learned, that is for the functions that
// wait for locks, and for the methods of the same types.
func TestAwaitedFirst(t *testing.T) {
	a := analyzer(t, build(t, "amd64"))
	frames := callsOf(t, a, "main.(*thing).field", "main.(*thing).deferred", "main.global")
	methods := callsOf(t, a, "main.(*thing).field", "main.(*thing).deferred")
	fresh := func() *Analyzer {
		b := fixture.Must(New(a.p))(t)
		b.Refill(1)
		b.reserve = 1 // nothing is left for others
		return b
	}
	knows := func(b *Analyzer, i int) bool {
		b.left = 1
		_, complete := b.Held(nil, frames[i:i+1], words("whatever it is"), nil)
		return complete
	}
	b := fresh()
	for i := range frames {
		if knows(b, i) {
			t.Errorf("at %#x, something was learned", frames[i].PC)
		}
	}
	b = fresh()
	b.Awaited(frames[:1])
	for i := range frames {
		if got, want := knows(b, i), i < len(methods); got != want {
			t.Errorf("at %#x, learned %v, want %v", frames[i].PC, got, want)
		}
	}
	// For them, what was not allowed yet is borrowed, up to a bound.
	for debt, want := range map[int]bool{maxDebt - 1: true, maxDebt: false} {
		b = fresh()
		b.Awaited(frames[:1])
		b.Limit(-debt)
		if _, complete := b.Held(nil, frames[:1], words("whatever it is"), nil); complete != want {
			t.Errorf("with a debt of %d, learned %v, want %v", debt, complete, want)
		}
	}
}
