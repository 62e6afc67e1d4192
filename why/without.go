package why

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// A Removal is what it would bring if a cost that somebody names
// went away.
type Removal struct {
	Target string `json:"without"` // a lock, or call paths
	Half   bool   `json:"half"`    // only half of the cost goes away
	Gain   *Gain  `json:"gain"`
}

// Without says what it would bring if a cost went away, or half
// of it. The target is the name of a lock that goroutines wait
// for, a function, or an expression of call paths. The cost of a
// finding brings what the finding says.
func Without(r *sampledata.Recording, o Options, name string, half bool) (*Removal, error) {
	a, err := findIn(r, o)
	if err != nil {
		return nil, err
	}
	t, err := a.targetNamed(name)
	if err != nil {
		return nil, err
	}
	found, its := a.gainFound(t)
	if found == nil || half && found.Silent == "" {
		return &Removal{name, half, a.gainWithout(its, half, found)}, nil
	}
	return &Removal{name, half, found}, nil
}

// gainWithout returns what it would bring if a target went away, or
// half of it: to the class of a finding's gain, if there is one, or to
// the one that it costs most.
func (s *searcher) gainWithout(t target, half bool, found *Gain) *Gain {
	part := 1.0
	if half {
		part = 0.5
	}
	b := newMoments(s).tracer(t)
	classes := b.most()
	if found != nil {
		classes = []int32{s.e.byName[found.Class]}
	}
	g := b.gain(classes, part)
	if half {
		g.Half, g.Under = nil, nil
	}
	return g
}

// sameCost is the share of two costs that is both, if they are one.
const sameCost = 0.95

// gainFound returns the gain of the first finding whose cost is the
// target, and what that counts; nil and the target if there is none. What is
// copied is no cost that somebody names.
func (a *searched) gainFound(t target) (*Gain, target) {
	for _, f := range a.Findings {
		its, both, either := a.targetOf(f), 0.0, 0.0
		if f.Kind == AllocationKind {
			its.hit = a.hits(f)
		}
		for _, at := range a.e.situations {
			if at.idle || at.still {
				continue
			}
			one, other := t.hit(at), its.hit(at)
			if one && other {
				both += at.weight
			}
			if one || other {
				either += at.weight
			}
		}
		if both > 0 && both >= sameCost*either {
			return f.Gain, a.targetOf(f)
		}
	}
	return nil, t
}

// targetNamed returns the cost that somebody names.
func (s *searcher) targetNamed(name string) (target, error) {
	if hit := awaits(name); slices.ContainsFunc(s.e.situations, hit) {
		return target{hit: hit}, nil
	}
	text := name
	if slices.ContainsFunc(s.e.r.Functions,
		func(f sampledata.Function) bool { return f.Name == name }) {
		text = through(name)
	}
	expr, err := callpath.ParseExpr(text)
	if err != nil {
		return target{}, err
	}
	hit, err := s.satisfying(expr)
	if err != nil {
		return target{}, err
	}
	t, some := target{hit: func(at *situation) bool { return hit[at] }}, false
	for _, at := range s.e.situations {
		some = some || hit[at] && !at.idle
		t.code = t.code || hit[at] && at.state.Doing.Executes()
	}
	if some {
		return t, nil
	}
	t.hit, err = s.awaitsShared(name)
	if err == nil && t.hit == nil {
		err = fmt.Errorf("%s: no goroutine does that, or waits for a lock of this name: 'cpprof report' shows call paths, 'cpprof locks' locks", name)
	}
	return t, err
}

// awaitsShared returns the waits for a channel or something else
// that is shared like a lock, nil if it has another name. The
// kind of thing may come before the name.
func (s *searcher) awaitsShared(name string) (func(*situation) bool, error) {
	a, err := locks.Analyse(s.e.r, s.o.Views, locks.ByField)
	if err != nil {
		return nil, err
	}
	type wait struct {
		address uint64
		class   string
	}
	waits := make(map[wait]bool)
	for _, l := range a.Shared {
		if l.Name != name && l.Name != l.Kind+" "+name {
			continue
		}
		for _, p := range l.Parts {
			for _, w := range l.Waiters {
				waits[wait{p.Address, w.Class}] = true
			}
		}
	}
	if len(waits) == 0 {
		return nil, nil
	}
	hit, address := make(map[*situation]bool), locks.Addresses(s.e.r)
	for run, at := range s.e.runs(func(at *situation) bool { return at.waits() && !at.idle }) {
		if a := address(run); a != 0 && waits[wait{a, s.e.name(at)}] {
			hit[at] = true
		}
	}
	return func(at *situation) bool { return hit[at] }, nil
}

// satisfying returns the situations whose stacks satisfy an
// expression: as in the Thread View of their class or, if a path
// begins with *, of any class.
func (s *searcher) satisfying(expr callpath.Expr) (map[*situation]bool, error) {
	paths := expr.Paths()
	satisfied := make([][]bool, len(s.e.situations)) // by path
	for i := range satisfied {
		satisfied[i] = make([]bool, len(paths))
	}
	for i, p := range paths {
		if err := s.satisfy(p, func(at int) { satisfied[at][i] = true }); err != nil {
			return nil, err
		}
	}
	hit := make(map[*situation]bool)
	for i, at := range s.e.situations {
		if expr.Eval(satisfied[i]) {
			hit[at] = true
		}
	}
	return hit, nil
}

// satisfy calls each for the situations whose stacks satisfy a path.
func (s *searcher) satisfy(p callpath.Path, each func(at int)) error {
	root := p.Elements[0].Name
	b := calltree.NewBuilder(new(calltree.Symbols), root, "goroutines", "")
	nodes := make([]int32, len(s.e.situations))
	for i, at := range s.e.situations {
		nodes[i] = -1
		if root == calltree.RootName || root == s.e.name(at) {
			nodes[i] = b.Stack(s.frames(at)...)
		}
	}
	tree, numbers, err := b.Numbered()
	if err != nil {
		return err
	}
	members := s.o.Aspects.Membership(tree.Symbols())
	if err := callpath.Aspects(members, p); err != nil {
		return err
	}
	hit := make([]bool, tree.Len())
	ends := tree.Ends()
	callpath.Satisfying(tree, members, p, func(node int32) {
		for n := node; n < ends[node]; n++ {
			hit[n] = true
		}
	})
	for i, node := range nodes {
		if node >= 0 && hit[numbers[node]] {
			each(i)
		}
	}
	return nil
}

// frames returns the stack of a situation as Thread Views have it.
func (s *searcher) frames(at *situation) (all []string) {
	for n := at.state.Stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		if name := s.e.places.function(n); name != bootstrap {
			all = append(all, name)
		}
	}
	slices.Reverse(all)
	all = append(all, at.state.Doing.Time().String())
	if at.state.Doing.Waits() {
		all = append(all, views.ReasonFrame(at.state.Reason))
	}
	return all
}
