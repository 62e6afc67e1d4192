package refine

import (
	"errors"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

var (
	errUnsatisfied = errors.New("no stack satisfies the path")
	errNoCallees   = errors.New("no calls below it")
	errNoCallers   = errors.New("no callers between the two parts")
)

// maxDescend limits the number of entries that one KindFollow
// step adds, each below the last.
const maxDescend = 100

// An editor applies steps to its own copy of the entries.
type editor struct {
	tree    *calltree.Tree
	members *calltree.Membership
	root    *Entry
}

func (e *editor) apply(p parsed) error {
	switch p.Kind {
	case KindUp:
		return e.up(p.path, p.suffix)
	case KindFollow:
		return e.descend(p.path)
	case KindPath:
		if e.ensure(p.path) == nil {
			return errUnsatisfied
		}
		return nil
	case KindExtended:
		return e.down(p.path, callpath.Extended)
	case KindCalls:
		return e.down(p.path, callpath.InPlace)
	}
	return e.down(p.path, callpath.Immediate)
}

// ensure returns the entry of a path, and adds it and the
// entries above it if they are missing. It returns nil if no
// stack satisfies the path.
func (e *editor) ensure(p callpath.Path) *Entry {
	if there := e.root.find(p); there != nil {
		return there
	}
	total := callpath.Total(e.tree, e.members, p)
	if total.Weight.Sign() == 0 || len(p.Elements) < 2 {
		return nil
	}
	parent := e.ensure(p.Prefix(len(p.Elements) - 1))
	if parent == nil {
		return nil
	}
	return parent.merge([]Result{{Path: p, Total: total}})[0]
}

func (e *editor) down(p callpath.Path, spec callpath.Spec) error {
	entry := e.ensure(p)
	if entry == nil {
		return errUnsatisfied
	}
	results := Down(e.tree, e.members, p, spec)
	if spec == callpath.InPlace {
		results = frames(results)
	}
	if len(results) == 0 {
		return errNoCallees
	}
	entry.merge(results)
	return nil
}

// frames returns the results that are frames, not aspects.
func frames(results []Result) []Result {
	return slices.DeleteFunc(results, func(r Result) bool {
		last, _ := r.Path.Last()
		return last.Aspect()
	})
}

// descend refines p by the frames that it calls in place. It
// continues with the first of these frames until there is a real
// branch.
func (e *editor) descend(p callpath.Path) error {
	entry := e.ensure(p)
	if entry == nil {
		return errUnsatisfied
	}
	for i := range maxDescend {
		results := frames(Down(e.tree, e.members, entry.Path, callpath.InPlace))
		if len(results) == 0 && i == 0 {
			return errNoCallees
		}
		entry.merge(results)
		if entry = entry.Straight(); entry == nil {
			break
		}
	}
	return nil
}

// up replaces P1 ..P2 by the split P1 ..x P2. If P1 also calls
// P2 directly, there is no x for these calls: the entry P1 P2
// has them.
func (e *editor) up(p1, p2 callpath.Path) error {
	results := Up(e.tree, e.members, p1, p2)
	if len(results) == 0 {
		return errNoCallers
	}
	parent := e.ensure(p1)
	if parent == nil {
		return errUnsatisfied
	}
	n := len(p1.Elements)
	totals := e.splitTotals(p1, p2)
	callers := make([]Result, len(results))
	for i, r := range results {
		callers[i] = Result{Name: r.Name, Path: r.Path.Prefix(n + 1),
			Total: totals[0][r.Path.Elements[n]]}
	}
	entries := parent.merge(callers)
	for i, r := range results {
		at := entries[i]
		for length := n + 2; length <= len(r.Path.Elements); length++ {
			at = at.merge([]Result{{
				Path:  r.Path.Prefix(length),
				Total: totals[length-n-1][r.Path.Elements[n]],
			}})[0]
		}
	}
	e.direct(p1, p2)
	e.root.cut(p1.Join(callpath.Extended, p2), n)
	return nil
}

// splitTotals returns, by x, the totals of P1 ..x, and of P1 ..x
// with the first 1, 2, ... elements of P2.
func (e *editor) splitTotals(p1, p2 callpath.Path) []map[callpath.Element]calltree.Total {
	byElement := func(results []Result) map[callpath.Element]calltree.Total {
		totals := make(map[callpath.Element]calltree.Total, len(results))
		for _, r := range results {
			totals[r.Path.Elements[len(p1.Elements)]] = r.Total
		}
		return totals
	}
	all := []map[callpath.Element]calltree.Total{byElement(
		Down(e.tree, e.members, p1, callpath.Extended))}
	for length := range p2.Elements {
		all = append(all, byElement(Up(e.tree, e.members, p1, p2.Prefix(length+1))))
	}
	return all
}

// direct adds P1 P2, if P1 calls P2 directly.
func (e *editor) direct(p1, p2 callpath.Path) {
	if last, _ := p1.Last(); !last.Aspect() {
		e.ensure(p1.Join(callpath.Immediate, p2))
	}
}
