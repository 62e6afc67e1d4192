package refine

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// An Entry is a call path in a profile, with its weight and its
// hits. Entries form a trie: the path of a child is its parent's
// path and one more element. The path is an entry's identity:
// entries of different moments with equal paths are the same
// entry. Entries must not be changed.
type Entry struct {
	Path callpath.Path
	calltree.Total
	Shared   bool     // stacks of the entry also count for a sibling, see Result
	Children []*Entry // by decreasing weight, then by label
}

// Key is the entry's identity: its path, as text.
func (e *Entry) Key() string { return e.Path.String() }

// Label returns the last element of the entry's path, which the
// parent's path lacks. ".." stands before it if its spec is
// extended.
func (e *Entry) Label() string {
	last, spec := e.Path.Last()
	if spec == callpath.Extended {
		return spec.String() + last.String()
	}
	return last.String()
}

// Len returns the number of entries in the subtree of e.
func (e *Entry) Len() int {
	n := 1
	for _, c := range e.Children {
		n += c.Len()
	}
	return n
}

func (e *Entry) clone() *Entry {
	c := *e
	c.Children = lists.Each(e.Children, (*Entry).clone)
	return &c
}

// Straight returns the first child if there is no real branch:
// if it has at least 95 % of the weight. Otherwise it returns
// nil.
func (e *Entry) Straight() *Entry {
	if len(e.Children) == 0 {
		return nil
	}
	first := e.Children[0]
	if new(big.Rat).Mul(first.Weight, straight).Cmp(e.Weight) < 0 {
		return nil
	}
	return first
}

var straight = big.NewRat(20, 19)

// child returns the child whose path ends in the given way, or nil.
func (e *Entry) child(last callpath.Element, spec callpath.Spec) *Entry {
	for _, c := range e.Children {
		if edgeOf(c.Path) == (edge{last, spec}) {
			return c
		}
	}
	return nil
}

// find returns the entry of a path, or nil. The path must begin
// with the path of e.
func (e *Entry) find(p callpath.Path) *Entry {
	if len(p.Elements) == 0 || p.Elements[0] != e.Path.Elements[0] {
		return nil
	}
	for i := 1; i < len(p.Elements) && e != nil; i++ {
		e = e.child(p.Elements[i], p.Specs[i-1])
	}
	return e
}

// merge adds results as children, keeps existing children, and returns the
// child of each result.
func (e *Entry) merge(results []Result) []*Entry {
	there := make(map[edge]*Entry, len(e.Children))
	for _, c := range e.Children {
		there[edgeOf(c.Path)] = c
	}
	entries := make([]*Entry, len(results))
	for i, r := range results {
		k := edgeOf(r.Path)
		if there[k] == nil {
			there[k] = &Entry{Path: r.Path, Total: r.Total}
			e.Children = append(e.Children, there[k])
		}
		there[k].Shared = there[k].Shared || r.Shared
		entries[i] = there[k]
	}
	e.sort()
	return entries
}

// An edge leads from an entry to a child.
type edge struct {
	last callpath.Element
	spec callpath.Spec
}

func edgeOf(p callpath.Path) edge {
	last, spec := p.Last()
	return edge{last, spec}
}

// sort orders the children, by name before "..".
func (e *Entry) sort() {
	slices.SortFunc(e.Children, func(a, b *Entry) int {
		if c := b.Weight.Cmp(a.Weight); c != 0 {
			return c
		}
		x, _ := a.Path.Last()
		y, _ := b.Path.Last()
		if c := cmp.Compare(x.Name, y.Name); c != 0 {
			return c // without the labels and keys, which are made for each comparison
		}
		return cmp.Or(cmp.Compare(a.Label(), b.Label()), cmp.Compare(a.Key(), b.Key()))
	})
}

// cut removes the entry of a path if it has no children. Then it
// removes the entries above that have no children left. The
// entry of the first n elements stays.
func (e *Entry) cut(p callpath.Path, n int) {
	for length := len(p.Elements); length > n; length-- {
		parent := e.find(p.Prefix(length - 1))
		if parent == nil {
			continue
		}
		gone := parent.child(p.Elements[length-1], p.Specs[length-2])
		if gone == nil {
			continue
		}
		if len(gone.Children) > 0 {
			return
		}
		parent.Children = slices.DeleteFunc(parent.Children,
			func(c *Entry) bool { return c == gone })
	}
}
