package views

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// inlinedStack makes a stack of frames "file:function"; those
// that begin with "~" are inlined.
func inlinedStack(b *sampledata.Builder, frames ...string) sampledata.NodeID {
	n := sampledata.NoStack
	for i, f := range frames {
		f, inlined := strings.CutPrefix(f, "~")
		file, name, _ := strings.Cut(f, ":")
		fn := b.Function(sampledata.Function{Name: name, File: file})
		n = b.Node(sampledata.Node{Parent: n, Function: fn, Line: int32(i + 1), Inlined: inlined})
	}
	return n
}

func recordingOf(t *testing.T, frames ...string) *sampledata.Recording {
	s := newSketch(t)
	s.sample(map[sampledata.GoroutineID]sampledata.State{
		s.goroutine("a"): {Run: sampledata.Running, Stack: inlinedStack(s.Builder, frames...)},
	})
	return s.Recording()
}

func TestNoInlines(t *testing.T) {
	r := recordingOf(t, "x.go:a", "~y.go:b", "~z.go:c", "x.go:d", "y.go:e")
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "go:a a b c d e :RUN"},
		{Options{NoInlines: true}, "go:a a d e :RUN"},
		{Options{NoInlines: true, Granularity: ByLine}, "go:a a:1 d:4 e:5 :RUN"},
		{Options{NoInlines: true, Granularity: ByFile}, "go:a x.go y.go :RUN"},
		{Options{NoInlines: true, AlsoInlined: map[Call]bool{{"c", "d"}: true, {"a", "e"}: true}}, "go:a a e :RUN"},
		{Options{AlsoInlined: map[Call]bool{{"c", "d"}: true}}, "go:a a b c d e :RUN"},
	} {
		stack := strings.ReplaceAll(c.want, " ", "\n")
		compareHits(t, c.want, hitsOf(thread(t, r, "go:a", c.o).Tree), map[string]string{stack: "1"})
	}
}

// A stack that ends within inlined calls keeps its outermost frame.
func TestNoInlinesKeepsAnOutermostFrame(t *testing.T) {
	r := recordingOf(t, "~x.go:b", "~x.go:c")
	compareHits(t, "torn", hitsOf(thread(t, r, "go:a", Options{NoInlines: true}).Tree), map[string]string{"go:a\nb\n:RUN": "1"})
}

// With every merging, each hit stays at its stack, and two
// builds of one program have the same view.
func TestNoInlinesOfTwoBuilds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"f:a", "f:b", "g:c", "g:d"}), 1, 8).Draw(rt, "stack")
		build := func(label string) *sampledata.Recording {
			var frames []string
			for i, name := range names {
				if i > 0 && rapid.Bool().Draw(rt, label) {
					name = "~" + name
				}
				frames = append(frames, name)
			}
			return recordingOf(t, frames...)
		}
		a, b := build("a"), build("b")
		by := Granularity(rapid.IntRange(0, int(ByPackage)).Draw(rt, "by"))
		if by == ByLine {
			by = ByFunction
		}
		o := Options{Granularity: by, NoInlines: true, AlsoInlined: inlined(a, b)}
		va, vb := thread(t, a, "go:a", o), thread(t, b, "go:a", o)
		compareHits(rt, "two builds", hitsOf(va.Tree), hitsOf(vb.Tree))
		if m := va.Tree.Main(); m.Cost(m.Cum(0)).Cmp(big.NewRat(1, 1)) != 0 {
			rt.Fatal("hits are lost")
		}
	})
}

func TestInliningChanges(t *testing.T) {
	old := recordingOf(t, "f:a", "~f:b", "~f:c", "f:d", "f:b", "f:e")
	cur := recordingOf(t, "f:a", "f:b", "f:c", "~f:d", "f:e", "f:a", "~f:b")
	// a calls b both ways in the newer build, and e is called by
	// different functions.
	want := []Call{{"b", "c"}, {"c", "d"}}
	if got := inliningChanges(old, cur); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := inliningChanges(old, old); len(got) > 0 {
		t.Errorf("a recording differs from itself: %v", got)
	}
}
