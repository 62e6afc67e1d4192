package refine

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"pgregory.net/rapid"
)

// drawTree draws a tree in which functions call one another again, and that has typed time and holders of locks.
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
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestContextsAreAPartition follows the tree of contexts everywhere: the entries below one, and what ends there, are it.
func TestContextsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		s := NewSession(tree, nil)
		s.SetThreshold(Threshold{})
		s.Auto(1000)
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

// TestOwnTimesSumToTheWhole sums the own times of the root, and of all that it leads to; and those of all contexts that
// are not below typed time.
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
