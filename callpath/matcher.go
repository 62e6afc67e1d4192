package callpath

import (
	"math/bits"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A Continuation says what a Matcher looks for after its path P.
type Continuation uint8

const (
	Nothing     Continuation = iota // nothing: P itself is to be satisfied
	Immediately                     // the frames x of P x
	Eventually                      // the frames x of P ..x
	Next                            // the frames x of P >x
)

// A Matcher recognises a path in the stacks of one tree, one
// frame at a time from the root. It is an automaton. Its table
// is filled during use, and a walk over a tree needs one table
// access for each node. Only one goroutine may use a Matcher.
//
// To try every way to match would be slow: in "..a ..b c" any a
// and any b may be the right one. Instead, the automaton keeps
// one position: the farthest element reached. The path "* ..a
// ..b c" has the elements 0 to 3. Over the stack "* x a b b c",
// the states are as follows (i, waiting and open are explained
// below):
//
//	frame  state after it
//	*      i=0 open           * is p(0), and does not come again; a may come anywhere below
//	x      i=0 open
//	a      i=1 waiting open   this a is q(0) and p(1); a later a would do as p(1), too
//	b      i=2 waiting open   this b is q(1) and p(2); c must be the very next frame
//	b      i=2 waiting open   not c: the first b was not p(2), but this one may be
//	c      accept
//
// With the path "* a", x leads to the state Dead: a had to be
// the very next frame, and * does not occur again.
//
// The terms p and q are from the definition of a satisfied path.
// A State consists of:
//
//   - i, the highest number with q(i-1) reached in this part of the stack;
//   - waiting: this frame or a later one of the part may be p(i). This lasts
//     until the part ends. Two frames are exceptions, for which it lasts one
//     frame: the root's frame, which does not occur again, and the frame of a
//     call in place;
//   - open: p(i) was found. For an immediate spec and for one in place, p(i) is
//     this very frame. For an extended spec, p(i) is this frame or one before
//     it in the part.
//
// Lower i need not be kept: they could only lead to i again. All
// ways into one part of a stack have crossed the same number of
// boundaries. No spec between them crosses another.
type Matcher struct {
	last    int
	kind    []specKind // by element: the spec that leaves it
	accept  State      // the path is satisfied
	start   State
	class   []int32 // by Func
	classes []class
	column  []int32 // by Func: the index of its class in a row of table
	shared  int32   // the column that stays unknown, or -1
	shift   uint    // log2 of the length of a row
	table   []State // by state, column: the next state, or unknown
	enter   []State // by class: the results of Enter
}

// A State is the state of a Matcher after the frames of a stack.
// From Dead, no stack can satisfy the path any more.
type State int32

const (
	Dead State = 0

	waiting State = 1 << 0
	open    State = 1 << 1
	flags         = 2 // bits before i

	unknown State = -1
)

// maxTable limits the size of a table. If a row for every state
// and a column for every class would be larger, some classes
// share the last column, which stays unknown.
const maxTable = 1 << 18

type specKind uint8

const (
	specNone      specKind = iota // the path ends here
	specImmediate                 // A B, A @B
	specExtended                  // A ..B
	specMember                    // @A B: the same frame
	specInPlace                   // A >B
	specNever                     // @A @B
)

// Compile returns the matcher for a tree of a path, or of a path
// with a continuation. Membership may be nil if there are no
// aspects.
func Compile(t *calltree.Tree, m *calltree.Membership, p Path, next Continuation) *Matcher {
	a, possible := newMatcher(t, m, p, next)
	if possible {
		a.start = a.root(t, p)
	}
	return a
}

// CompileRest returns the matcher of the part of P below a frame
// at which its first element is called: Enter returns its states
// at such frames. Its Start is Dead.
func CompileRest(t *calltree.Tree, m *calltree.Membership, p Path) *Matcher {
	a, possible := newMatcher(t, m, p, Nothing)
	a.enter = make([]State, len(a.classes)) // Dead
	for i, c := range a.classes {
		if possible && c.match.has(0) {
			a.enter[i] = a.advance(0, waiting, c)
		}
	}
	return a
}

// newMatcher also reports whether every element of the path matches some
// frame.
func newMatcher(t *calltree.Tree, m *calltree.Membership, p Path,
	next Continuation) (*Matcher, bool) {
	n := len(p.Elements)
	a := &Matcher{last: n - 1, accept: State(n+1) << flags}
	possible := n > 0
	for i := range p.Elements {
		a.kind = append(a.kind, specOf(p, i, next))
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
	a.table = slices.Repeat([]State{unknown}, rows<<a.shift)
	return a, possible
}

// specOf returns the kind of the spec between element i and what
// comes after it.
func specOf(p Path, i int, next Continuation) specKind {
	member, end := p.Elements[i].Aspect(), i == len(p.Elements)-1
	switch {
	case end && next == Nothing:
		return specNone
	case end && next == Eventually, !end && p.Specs[i] == Extended:
		return specExtended
	case end && next == Next, !end && p.Specs[i] == InPlace:
		return specInPlace
	case !member:
		return specImmediate
	case !end && p.Elements[i+1].Aspect():
		return specNever
	}
	return specMember
}

// Start returns the state at the root.
func (a *Matcher) Start() State { return a.start }

// Next returns the state at a frame of f, below a frame at which
// the state is s.
func (a *Matcher) Next(s State, f calltree.Func) State {
	if next := a.table[uint(s)<<a.shift|uint(a.column[f])]; next >= 0 {
		return next
	}
	return a.fill(s, f)
}

// fill computes a step, and stores it if the class has a column
// of its own.
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

// step returns the state after a frame of class c.
func (a *Matcher) step(s State, c class) State {
	i, now := int(s>>flags), s&(waiting|open)
	kind := a.kind[i]
	if c.begins && kind != specImmediate && kind != specInPlace {
		now &^= open
	}
	if now&open != 0 && i < a.last && c.match.has(i+1) {
		return a.advance(i+1, waiting, c)
	}
	if kind != specExtended {
		now &^= open
	}
	if c.begins {
		now = 0
	}
	return a.advance(i, now, c)
}

// advance moves i on while the same frame, of class c, can also
// be the next element: after an aspect, q(i-1) and p(i) are the
// same frame.
func (a *Matcher) advance(i int, now State, c class) State {
	for now&waiting != 0 && c.match.has(i) {
		if a.kind[i] == specInPlace { // only this first frame is p(i)
			now = open
			break
		}
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

// Satisfied reports whether the stack so far satisfies the path;
// then every longer stack does, too.
func (a *Matcher) Satisfied(s State) bool { return s == a.accept }

// Open reports whether the continuation of the path may come
// below. After an element x, the continuation must be the next
// frame (Immediately, Next), or any later one in the same part
// of the stack (Eventually). If the path ends in an aspect and
// the continuation is immediate, the frame itself is the
// continuation (see Member).
func (a *Matcher) Open(s State) bool { return s&open != 0 && s>>flags == State(a.last) }

// Member reports whether the matcher's path ends in an aspect
// and its continuation is immediate.
func (a *Matcher) Member() bool { return a.last >= 0 && a.kind[a.last] == specMember }

// Neutral reports whether f matches no element of the path and
// begins no part. If one neutral frame leaves a state as it is,
// every neutral frame does.
func (a *Matcher) Neutral(f calltree.Func) bool { return a.classes[a.class[f]].neutral }

// Begins reports whether a frame of f below the root begins
// another goroutine's part of the stack.
func (a *Matcher) Begins(f calltree.Func) bool { return a.classes[a.class[f]].begins }

// Enter returns the state at a frame of f that is called as the
// first element of the path. The state is Dead if f does not
// match the element. Only the matchers of CompileRest have
// Enter.
func (a *Matcher) Enter(f calltree.Func) State { return a.enter[a.class[f]] }

// Both returns one state for two ways in the same part of a
// stack. Neither satisfies the path yet.
func (a *Matcher) Both(s, t State) State {
	switch i, j := s>>flags, t>>flags; {
	case i < j || s == Dead:
		return t
	case i > j || t == Dead:
		return s
	}
	return s | t
}
