package callpath

import (
	"math/bits"

	"github.com/cpprof/cpprof/calltree"
)

// A Follow says what a Matcher looks for after its path P.
type Follow uint8

const (
	Nothing     Follow = iota // that P is satisfied
	Immediately               // the frames x of P x
	Eventually                // the frames x of P ..x
)

// A Matcher recognises a path in the stacks of one tree, a frame at a time from the root. It is an automaton
// whose table fills as it is used, so that a walk over a tree is one look-up a node; it is for one goroutine.
//
// To try every way to match would be slow: in "..a ..b c" any a and any b may be the one. The automaton keeps one position
// instead, that of the farthest element that was reached. The path "* ..a ..b c" has the elements 0 to 3, and over the stack
// "* x a b b c" its states are (i, waiting and open are explained below):
//
//	frame  state after it
//	*      i=0 open           * is p(0), and does not come again; a may follow anywhere below
//	x      i=0 open
//	a      i=1 waiting open   this a is q(0) and p(1); a later a would do as p(1), too
//	b      i=2 waiting open   this b is q(1) and p(2); c must be the very next frame
//	b      i=2 waiting open   it is not c, so that the first b was not p(2), but this one may be
//	c      accept
//
// Of the path "* a", x makes the state Dead: a had to be the very next frame, and * does not come again.
//
// A State says, with p and q as in the definition of a path that is satisfied, and i the highest with q(i-1)
// reached in this part of the stack:
//
//   - i;
//   - waiting: this frame or a later one of the part may be p(i). It is so until the part ends, or for the
//     root's frame, which does not come again, for that frame only;
//   - open: p(i) was found. For an immediate spec it is this very frame, for an extended one this frame or one
//     before it in the part.
//
// Lower i need not be kept. They could only lead to i again: all ways into one part of a stack have stepped
// over the same number of boundaries, so that no spec between them steps over another.
type Matcher struct {
	last    int
	kind    []specKind // by element: the spec that leaves it
	accept  State      // the path is satisfied
	start   State
	class   []int32 // by Func
	classes []class
	column  []int32 // by Func: where its class stands in a row of table
	shared  int32   // the column that stays unknown, or -1
	shift   uint    // log2 of the length of a row
	table   []State // by state, column: the next state, or unknown
	enter   []State // by class: what Enter gives
}

// A State is where a Matcher stands after the frames of a stack. Dead is the state from which nothing can come.
type State int32

const (
	Dead State = 0

	waiting State = 1 << 0
	open    State = 1 << 1
	flags         = 2 // bits before i

	unknown State = -1
)

// maxTable bounds a table. Where a path has so many names that a row for every state and a column for every
// class take more, some classes share the last column, which stays unknown.
const maxTable = 1 << 18

type specKind uint8

const (
	specNone      specKind = iota // the path ends here
	specImmediate                 // A B, A @B
	specExtended                  // A ..B
	specMember                    // @A B: the same frame
	specNever                     // @A @B
)

// Compile makes the matcher of a path, or of what follows it, for a tree. Membership may be nil where there are
// no aspects.
func Compile(t *calltree.Tree, m *calltree.Membership, p Path, follow Follow) *Matcher {
	a, possible := newMatcher(t, m, p, follow)
	if possible {
		a.start = a.root(t, p)
	}
	return a
}

// CompileRest is the matcher of what lies below a frame at which the first element of P is called: Enter gives
// its states at such frames. Its Start is Dead.
func CompileRest(t *calltree.Tree, m *calltree.Membership, p Path) *Matcher {
	a, possible := newMatcher(t, m, p, Nothing)
	a.enter = make([]State, len(a.classes)) // Dead
	for i, c := range a.classes {
		if possible && c.match.has(0) {
			a.enter[i] = a.settle(0, waiting, c)
		}
	}
	return a
}

// newMatcher also reports whether every element of the path can be some frame.
func newMatcher(t *calltree.Tree, m *calltree.Membership, p Path, follow Follow) (*Matcher, bool) {
	n := len(p.Elements)
	a := &Matcher{last: n - 1, accept: State(n+1) << flags}
	possible := n > 0
	for i := range p.Elements {
		a.kind = append(a.kind, specOf(p, i, follow))
		possible = possible && a.kind[i] != specNever
	}
	possible = a.classify(t, m, p) && possible
	rows := (n + 2) << flags
	columns := max(1, min(len(a.classes), maxTable/rows))
	a.shift = uint(bits.Len(uint(columns - 1)))
	a.column, a.shared = a.class, -1
	if columns < len(a.classes) {
		a.shared = int32(columns - 1)
		a.column = make([]int32, len(a.class))
		for f, c := range a.class {
			a.column[f] = min(c, a.shared)
		}
	}
	a.table = make([]State, rows<<a.shift)
	for i := range a.table {
		a.table[i] = unknown
	}
	return a, possible
}

// specOf is the kind of the spec between element i and what follows it.
func specOf(p Path, i int, follow Follow) specKind {
	member, end := p.Elements[i].Aspect(), i == len(p.Elements)-1
	switch {
	case end && follow == Nothing:
		return specNone
	case end && follow == Eventually, !end && p.Extended[i]:
		return specExtended
	case !member:
		return specImmediate
	case !end && p.Elements[i+1].Aspect():
		return specNever
	}
	return specMember
}

// Start is the state at the root.
func (a *Matcher) Start() State { return a.start }

// Next is the state at a frame of f, below a frame at which the state is s.
func (a *Matcher) Next(s State, f calltree.Func) State {
	if next := a.table[uint(s)<<a.shift|uint(a.column[f])]; next >= 0 {
		return next
	}
	return a.fill(s, f)
}

// fill works out a step, and keeps it where the class has a column of its own.
func (a *Matcher) fill(s State, f calltree.Func) State {
	next := s
	if s != Dead && s != a.accept {
		next = a.step(s, a.classes[a.class[f]])
	}
	if c := a.column[f]; c != a.shared {
		a.table[uint(s)<<a.shift|uint(c)] = next
	}
	return next
}

// step is the state after a frame of class c.
func (a *Matcher) step(s State, c class) State {
	i, now := int(s>>flags), s&(waiting|open)
	kind := a.kind[i]
	if c.begins && kind != specImmediate {
		now &^= open
	}
	if now&open != 0 && i < a.last && c.match.has(i+1) {
		return a.settle(i+1, waiting, c)
	}
	if kind != specExtended {
		now &^= open
	}
	if c.begins {
		now = 0
	}
	return a.settle(i, now, c)
}

// settle lets a frame of class c that is some q(i-1) be p(i) at once, and so on.
func (a *Matcher) settle(i int, now State, c class) State {
	for now&waiting != 0 && c.match.has(i) {
		if i == a.last || a.kind[i] != specMember {
			now |= open
			break
		}
		if !c.match.has(i + 1) {
			break
		}
		i, now = i+1, waiting
	}
	switch {
	case now == 0:
		return Dead
	case a.kind[a.last] == specNone && i == a.last && (i > 0 || now&open != 0):
		return a.accept
	}
	return State(i)<<flags | now
}

// Satisfied reports whether the stack so far satisfies the path; every stack that goes on does so too.
func (a *Matcher) Satisfied(s State) bool { return s == a.accept }

// Open reports whether what follows the path may stand below. After an element x, a following frame must be
// the next one (Immediately), or any later one in the same part of the stack (Eventually). Where the path ends
// in an aspect and what follows is immediate, the frame itself is the one that follows (see Member).
func (a *Matcher) Open(s State) bool { return s&open != 0 && s>>flags == State(a.last) }

// Member reports whether the matcher's path ends in an aspect and what follows is immediate.
func (a *Matcher) Member() bool { return a.last >= 0 && a.kind[a.last] == specMember }

// Neutral reports whether f is no element of the path and begins no part. A state that one such frame leaves as
// it is, every such frame does.
func (a *Matcher) Neutral(f calltree.Func) bool { return a.classes[a.class[f]].neutral }

// Begins reports whether a frame of f below the root begins another goroutine's part of the stack.
func (a *Matcher) Begins(f calltree.Func) bool { return a.classes[a.class[f]].begins }

// Enter is the state at a frame of f that is called as the first element of the path, or Dead if it is not one.
// Only the matchers of CompileRest have it.
func (a *Matcher) Enter(f calltree.Func) State { return a.enter[a.class[f]] }

// Both is the state of two ways at once, neither of which satisfies the path, in the same part of a stack.
func (a *Matcher) Both(s, t State) State {
	switch i, j := s>>flags, t>>flags; {
	case i < j || s == Dead:
		return t
	case i > j || t == Dead:
		return s
	}
	return s | t
}
