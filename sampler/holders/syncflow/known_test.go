package syncflow

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// callsOf returns a frame for each call in functions of a program.
func callsOf(t testing.TB, a *Analyzer, names ...string) (frames []unwind.Frame) {
	t.Helper()
	for _, name := range names {
		f, ok := a.p.Table.Find(name)[name]
		if !ok {
			t.Fatalf("no function %s", name)
		}
		for _, x := range a.flowOf(f).code {
			if x.Op == machinecode.OpCall {
				frames = append(frames, unwind.Frame{PC: x.Next, SP: 1 << 20, Site: unwind.Site(len(frames))})
			}
		}
	}
	return frames
}

// learn makes an analyzer find out about frames, and reports
// whether it knows all of them.
func learn(a *Analyzer, frames []unwind.Frame) bool {
	all := true
	for i := range frames {
		_, known := a.actionsAt(&frames[i])
		all = all && known && a.locksAt(&frames[i], false) != nil
	}
	return all
}

var rememberedFunctions = []string{"main.global", "main.(*thing).field", "main.(*thing).deferred", "main.inMap", "main.locker",
	"main.(*thing).maybe", "main.(*thing).relax", "main.(*thing).lending", "main.choose"}

// What one analyzer has learned, another one knows without learning.
func TestRemember(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		p := build(t, arch)
		a := analyzer(t, p)
		frames := callsOf(t, a, rememberedFunctions...)
		learn(a, frames)
		want := a.AppendKnown(nil)
		b := fixture.Must(New(p))(t)
		fixture.Check(t, b.Remember(want))
		if !learn(b, frames) || b.Spent() != 0 {
			t.Errorf("%s: it does not know all places, or spent %d units on learning them again", arch, b.Spent())
		}
		if got := b.AppendKnown(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes were taken over, and written they are %d others", arch, len(want), len(got))
		}
		for i := range frames {
			one, two := []Held{}, []Held{}
			one, _ = a.Held(one, frames[i:i+1], words(want), nil)
			if two, _ = b.Held(two, frames[i:i+1], words(want), nil); !slices.Equal(one, two) {
				t.Errorf("%s: at %#x, %v are held, and in the second run %v", arch, frames[i].PC, one, two)
			}
		}
	}
}

// Of bytes that are not whole, nothing is taken over.
func TestRememberDamaged(t *testing.T) {
	p := build(t, "amd64")
	a := analyzer(t, p)
	learn(a, callsOf(t, a, rememberedFunctions...))
	whole := a.AppendKnown(nil)
	other := build(t, "arm64")
	for name, b := range map[string][]byte{
		"empty": nil, "cut off": whole[:len(whole)-1], "half": whole[:len(whole)/2], "more": append(whole[:len(whole):len(whole)], 0),
		"another version": append([]byte("cpprof learned 0\n"), whole[len(knownMagic):]...),
	} {
		fresh := analyzer(t, p)
		if fresh.Remember(b) == nil || len(fresh.known.locks) > 0 {
			t.Errorf("%s: it was used", name)
		}
	}
	if fresh := analyzer(t, other); fresh.Remember(whole) == nil {
		t.Error("what is known of another program was used")
	}
}

// Whatever bytes are taken over, asking for locks stays within bounds.
func FuzzRemember(f *testing.F) {
	p := build(f, "amd64")
	a := analyzer(f, p)
	frames := callsOf(f, a, rememberedFunctions...)
	learn(a, frames)
	f.Add(a.AppendKnown(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := analyzer(t, p)
		if a.Remember(append([]byte(knownMagic), data...)) != nil && a.Remember(data) != nil {
			return
		}
		a.Held(nil, frames, words(data), make([]uint64, 16))
		a.Actions(nil, frames, words(data), make([]uint64, 16))
		if again := analyzer(t, p); again.Remember(a.AppendKnown(nil)) != nil {
			t.Error("what was taken over and written can't be read")
		}
	})
}
