package refine

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// Up returns the upward split of P1 ..P2 at P2: all paths P1 ..x
// P2 with a weight that is not zero. They are sorted by
// decreasing weight, then by name. x calls the first element of
// P2 immediately. P2 has no calls in place: where a stack first
// satisfies the path before one depends on x.
func Up(t *calltree.Tree, m *calltree.Membership, p1, p2 callpath.Path) []Result {
	if len(p1.Elements) == 0 || len(p2.Elements) == 0 {
		return nil
	}
	s := split{
		tally:   newTally(t, m),
		above:   callpath.Compile(t, m, p1, callpath.Eventually),
		below:   callpath.CompileRest(t, m, p2),
		aspects: !p2.Elements[0].Aspect(),
	}
	s.walk()
	return s.results(func(x callpath.Element) callpath.Path {
		return p1.Then(x, callpath.Extended).Join(callpath.Immediate, p2)
	})
}

// A split computes an upward split: one walk over the tree finds
// the totals of all x of P1 ..x P2 at once. A node may be an x
// with a child that is the first element of P2. Then the walk
// launches a search below for the rest of P2, for that x. It
// carries the launches that are still searching down the stack
// and back. For example, we split "* ..lock" at "lock", that is
// P1 = * and P2 = lock, in the tree of two stacks
//
//	root:  a  lock  lock
//	       b  lock
//
// The first lock is called by a. P2 has no further element and
// is found at once: its subtree counts for x = a. Inside it, the
// second lock is called by lock, and counts for x = lock. The
// third counts for x = b. If P2 were "lock ..wait", each lock
// would launch a search for wait instead. The first wait below
// it would count for all callers whose searches reach it.
//
// Two rules make this fast. If a node was counted for an x,
// nothing inside the node is searched for that x (tally.until),
// and there is at most one launch for each x. Frames on which no
// search depends (Neutral) share the launches of the frame
// above.
type split struct {
	*tally
	above   *callpath.Matcher // of P1
	below   *callpath.Matcher // of P2
	aspects bool              // whether x can be an aspect: it cannot be if P2 begins with one

	stack []splitFrame
	arena []launch // of the frames on the stack, the deeper ones last
}

// A splitFrame is a node on the walk's current stack.
type splitFrame struct {
	fn       calltree.Func
	end      int32 // of the node's subtree
	above    callpath.State
	caller   bool // whether the node can be x: it comes after P1, in the same part
	stable   bool // neutral frames do not change the launches
	from, to int  // its launches in the arena; several frames may share them
	top      int  // length of the arena before it
	bottom   int  // length of the arena with it
}

// A launch is a search for the rest of P2 below a call x F; F is
// the first element of P2. Two searches for one x in one part of
// a stack are merged (Matcher.Both), since only the farther one
// matters.
type launch struct {
	x     int32
	state callpath.State
}

func (s *split) walk() {
	fns := s.tree.Funcs()
	s.stack = []splitFrame{{fn: fns[0], end: s.ends[0], above: s.above.Start()}}
	if s.stack[0].above == callpath.Dead {
		return
	}
	for n := int32(1); int(n) < len(fns); {
		for s.stack[len(s.stack)-1].end <= n {
			s.stack = s.stack[:len(s.stack)-1]
		}
		if s.enter(n, fns[n]) {
			n++
		} else {
			n = s.ends[n]
		}
	}
}

// enter puts node n on the stack, and reports whether anything
// below it can matter.
func (s *split) enter(n int32, f calltree.Func) bool {
	up := &s.stack[len(s.stack)-1]
	s.arena = s.arena[:up.bottom]
	here := splitFrame{
		fn: f, end: s.ends[n], from: up.from, to: up.to, stable: up.stable, top: up.bottom,
		above:  s.above.Next(up.above, f),
		caller: s.above.Open(up.above) && !s.above.Begins(f),
	}
	if up.from < up.to && !(up.stable && s.below.Neutral(f)) {
		s.step(&here, n)
	}
	if up.caller || here.caller && s.aspects {
		if state := s.below.Enter(f); state != callpath.Dead {
			s.launchAll(up, &here, n, state)
		}
	}
	if here.above == callpath.Dead && !here.caller && here.from == here.to {
		return false
	}
	here.bottom = len(s.arena)
	s.stack = append(s.stack, here)
	return true
}

// step updates the launches of the frame above for the node n.
func (s *split) step(here *splitFrame, n int32) {
	shared := true
	neutral := s.below.Neutral(here.fn)
	for i := here.from; i < here.to; i++ {
		l := s.arena[i]
		next := callpath.Dead
		if s.until[l.x] <= n {
			next = s.below.Next(l.state, here.fn)
			if s.below.Satisfied(next) {
				s.count(l.x, n)
				next = callpath.Dead
			}
		}
		if shared && next != l.state {
			shared = false
			s.arena = append(s.arena, s.arena[here.from:i]...)
		}
		if !shared && next != callpath.Dead {
			s.arena = append(s.arena, launch{l.x, next})
		}
	}
	here.stable = shared && neutral
	if !shared {
		here.from, here.to = here.top, len(s.arena)
	}
}

// launchAll begins the search for every x that calls node n as
// the first element of P2.
func (s *split) launchAll(up, here *splitFrame, n int32, state callpath.State) {
	if up.caller {
		s.launch(int32(up.fn), here, n, state)
	}
	if here.caller && s.aspects {
		for _, set := range s.m.Of(here.fn) {
			s.launch(s.funcs+set, here, n, state)
		}
	}
}

func (s *split) launch(x int32, here *splitFrame, n int32, state callpath.State) {
	if s.until[x] > n {
		return
	}
	if s.below.Satisfied(state) {
		s.count(x, n)
		return
	}
	at := here.from
	for at < here.to && s.arena[at].x != x {
		at++
	}
	if at < here.to {
		if state = s.below.Both(s.arena[at].state, state); state == s.arena[at].state {
			return
		}
	}
	if here.from < here.top { // shared with the frame above
		s.arena = append(s.arena, s.arena[here.from:here.to]...)
		at += here.top - here.from
		here.from, here.to = here.top, len(s.arena)
	}
	if at == here.to {
		s.arena = append(s.arena, launch{x: x})
		here.from, here.to = here.top, len(s.arena)
		at = len(s.arena) - 1
	}
	s.arena[at].state = state
	here.stable = false
}
