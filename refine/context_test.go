package refine

import (
	"math/big"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// drawTree draws a tree in which functions call one another
// again, and that has typed time and holders of locks.
func drawTree(t *rapid.T) *calltree.Tree {
	b := calltree.NewBuilder(new(calltree.Symbols), "go:root", "time", "samples")
	frame := rapid.SampledFrom([]string{"f", "g", "h"})
	for range rapid.IntRange(1, 8).Draw(t, "stacks") {
		frames := rapid.SliceOfN(frame, 0, 6).Draw(t, "frames")
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0:
			frames = append(frames, ":RUN")
		case 1:
			frames = append(frames, ":WAIT", ":select")
		case 2:
			frames = append(append(frames, ":MONITOR", "go:holder"), rapid.SliceOfN(frame, 0, 3).Draw(t, "holder")...)
			frames = append(frames, ":RUN")
		}
		b.AddRat(0, b.Stack(frames...), big.NewRat(rapid.Int64Range(1, 9).Draw(t, "hits"), rapid.Int64Range(1, 4).Draw(t, "of")))
	}
	return fixture.Must(b.Tree())(t)
}

// TestContextsAreAPartition follows the tree of contexts
// everywhere: the entries below one, and what ends there, are
// it.
func TestContextsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		s := NewSession(tree, nil)
		s.SetThreshold(Threshold{})
		s.Auto(s.Root().Path, 1000)
		var entries int
		s.Walk(func(e *Entry, _ int) {
			entries++
			if !e.Path.Context() {
				t.Fatalf("%s is no context", e.Path)
			}
			if e.Shared {
				t.Fatalf("%s shares stacks with a sibling", e.Path)
			}
			sum := new(big.Rat)
			for n := range int32(tree.Len()) {
				if samePath(tree, n, e.Path) {
					sum.Add(sum, tree.Main().Own(n))
				}
			}
			for _, c := range e.Children {
				sum.Add(sum, c.Weight)
			}
			if sum.Cmp(e.Weight) != 0 {
				t.Fatalf("%s weighs %v, and its parts %v", e.Path, e.Weight, sum)
			}
		})
		if entries != tree.Len() {
			t.Fatalf("%d entries for %d nodes", entries, tree.Len())
		}
	})
}

// samePath reports whether a node's stack is a context.
func samePath(t *calltree.Tree, n int32, p callpath.Path) bool {
	frames := t.Frames(n)
	if len(frames) != len(p.Elements) {
		return false
	}
	for i, f := range frames {
		if p.Elements[i] != callpath.Frame(f) {
			return false
		}
	}
	return true
}

// TestOwnTimesSumToTheWhole sums the own times of the root, and
// of all that it leads to; and those of all contexts that are
// not below typed time.
func TestOwnTimesSumToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		whole := tree.Main().Cum(0)
		root := callpath.Root(tree)
		sum := callpath.Own(tree, nil, root)
		for _, r := range Down(tree, nil, root, callpath.Extended) {
			sum.Add(sum, callpath.Own(tree, nil, r.Path))
		}
		if sum.Cmp(whole) != 0 {
			t.Fatalf("the own times of functions are %v of %v", sum, whole)
		}
		sum.SetInt64(0)
		owners := tree.Owners()
		for n := range int32(tree.Len()) {
			p := root
			for _, f := range tree.Frames(n)[1:] {
				p = p.Then(callpath.Frame(f), callpath.InPlace)
			}
			own := callpath.Own(tree, nil, p)
			if own.Cmp(callpath.Total(tree, nil, p).Weight) > 0 {
				t.Fatalf("%s has more own time than time", p)
			}
			if owners[n] == n {
				sum.Add(sum, own)
			}
		}
		if sum.Cmp(whole) != 0 {
			t.Fatalf("the own times of contexts are %v of %v", sum, whole)
		}
	})
}

// TestZoom checks that a zoomed path costs 1, that the contexts
// below one that is zoomed sum to 1 at most, and that one undo
// reverts it.
func TestZoom(t *testing.T) {
	one := big.NewRat(1, 1)
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		s := NewSession(tree, nil)
		s.SetThreshold(Threshold{})
		s.Auto(s.Root().Path, 1000)
		var all []*Entry
		s.Walk(func(e *Entry, _ int) { all = append(all, e) })
		e := rapid.SampledFrom(all).Draw(t, "entry")
		fixture.Check(t, s.Apply(Step{KindZoom, e.Key()}))
		fixture.Check(t, s.Tree().Check())
		for n := range e.Path.Elements { // the entries that lead there cost the same
			above := s.Find(e.Path.Prefix(n + 1))
			if above == nil || s.Cost(above).Cmp(one) != 0 {
				t.Fatalf("%s zoomed: %s costs %v", e.Path, e.Path.Prefix(n+1), above)
			}
		}
		sum := new(big.Rat)
		for _, c := range s.Find(e.Path).Children {
			sum.Add(sum, s.Cost(c))
		}
		if sum.Cmp(one) > 0 {
			t.Fatalf("below %s are %v", e.Path, sum)
		}
		whole := new(big.Rat)
		for _, r := range append(Down(s.Tree(), nil, s.Root().Path, callpath.Extended), Result{Path: s.Root().Path}) {
			whole.Add(whole, s.Tree().Main().Cost(callpath.Own(s.Tree(), nil, r.Path)))
		}
		if whole.Cmp(one) != 0 {
			t.Fatalf("%s zoomed: own times are %v", e.Path, whole)
		}
		s.Undo()
		if s.Tree() != tree {
			t.Fatal("undo does not restore the tree")
		}
	})
}

// TestDisplay shows entries by own time, as shares of the entry
// above, and filtered.
func TestDisplay(t *testing.T) {
	s := session(t, "* f :RUN", "* f g :RUN", "* f g :RUN", "* h :RUN")
	s.Open(1)
	expect(t, s, `
1.000 *
  0.750 f
  0.250 h
`)
	s.Open(2)
	s.SetDisplay(Display{ByOwn: true, Own: true, OfParent: true, Filter: "G"})
	if s.Arranged() {
		t.Error("own times are known before Arrange")
	}
	s.Arrange()
	g := s.Find(parse(t, "* f >g"))
	if own, known := s.Own(g); !known || own.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("g has %v of its own", own)
	}
	if share := s.Share(g); share.Cmp(big.NewRat(2, 3)) != 0 {
		t.Errorf("g is %v of f", share)
	}
	expect(t, s, `
1.000 *
  0.750 f
    0.500 g
`)
	s.SetDisplay(Display{ByOwn: true})
	s.Arrange()
	var labels []string
	s.Walk(func(e *Entry, _ int) { labels = append(labels, e.Label()) })
	if got, want := labels[:4], []string{"*", "f", "g", ":RUN"}; !slices.Equal(got, want) {
		t.Errorf("by own time %v, want %v", got, want)
	}
}
