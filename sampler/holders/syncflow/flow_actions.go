package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// An action is what an instruction of a function does to a
// channel, a WaitGroup or a Cond.
type action struct {
	at       int // in flow.code
	object   value
	kind     ActionKind
	byCallee bool // a function that it calls does it
}

// allActions lists the actions of a function, in the order of its code.
func (w *flow) allActions() []action {
	if w.actions != nil {
		return w.actions
	}
	w.actions = []action{}
	for k, s := range w.states() {
		if w.leavesFunction(&w.code[k]) {
			w.addCallActions(s, k)
		}
	}
	return w.actions
}

// callActions are what calls do to what their first argument is.
var callActions = map[goruntime.CallRole]ActionKind{
	goruntime.CallSend: Send, goruntime.CallReceive: Receive, goruntime.CallClose: Close,
	goruntime.CallSignal: Signal, goruntime.CallDone: Done, goruntime.CallAcquire: Acquire,
	goruntime.CallRelease: Release,
}

// addCallActions adds the actions of one call.
func (w *flow) addCallActions(s *state, k int) {
	target, _ := w.target(s, &w.code[k])
	if target == 0 {
		return
	}
	m := w.a.machine
	arg := s.regs[m.argument]
	c := w.a.callee(target)
	if kind, ok := callActions[c.role]; ok {
		w.addAction(action{at: k, object: arg, kind: kind})
		return
	}
	switch c.role {
	case goruntime.CallSelect:
		w.addSelectActions(s, k)
	case goruntime.CallReturn:
		w.addAction(action{at: k, object: w.values.load(arg), kind: Return})
	case goruntime.CallReturnOf:
		w.addAction(action{at: k, object: w.values.load(w.values.load(arg)), kind: Return})
	case goruntime.CallAdd:
		if n, ok := w.constantOf(s.regs[m.arguments[1]]); ok && n < 0 {
			w.addAction(action{at: k, object: arg, kind: Done})
		}
	case goruntime.CallOther:
		for _, d := range w.a.argumentActions(c, w.actionDepth) {
			w.addAction(action{at: k, object: w.valueAtCall(s, d.object), kind: d.kind,
				byCallee: true})
		}
	}
}

// addSelectActions adds the cases of a select.
func (w *flow) addSelectActions(s *state, k int) {
	at, sends, cases := w.casesOf(s)
	for i := range cases {
		c := action{at: k, object: s.slot(at + 16*i), kind: Receive}
		if i < sends {
			c.kind = Send
		}
		w.addAction(c)
	}
}

// casesOf returns the cases of a select before its call: an
// array of pairs of words in the frame, the sends first. It
// returns no cases if they are not known.
func (w *flow) casesOf(s *state) (at, sends, cases int64) {
	m := w.a.machine
	at, ok := w.values.inFrame(s.regs[m.argument])
	sends, known := w.constantOf(s.regs[m.arguments[3]])
	receives, knownToo := w.constantOf(s.regs[m.arguments[4]])
	if !ok || !known || !knownToo || sends < 0 || receives < 0 {
		return 0, 0, 0
	}
	return at, sends, min(sends+receives, maxCases)
}

func (w *flow) constantOf(v value) (int64, bool) {
	n := w.values.nodes[v]
	return n.c, n.kind == kConst
}

// maxFunctionActions bounds the actions of a function that are listed.
const maxFunctionActions = 64

func (w *flow) addAction(c action) {
	if c.object != 0 && len(w.actions) < maxFunctionActions && !slices.Contains(w.actions, c) {
		w.actions = append(w.actions, c)
	}
}

// An argumentAction is what a call of a function does to a
// WaitGroup, a Cond, a channel, a semaphore or a pool that the
// caller knows: at some time, or if it takes turns, first.
type argumentAction struct {
	object *expr // by the registers at entry
	kind   ActionKind
}

// maxActionDepth bounds the functions that call one another
// until one acts: a deferred closure, a helper.
const maxActionDepth = 2

// maxChannelHelper bounds the functions, in bytes, whose use of
// channels counts as their callers': func (s sem) release() {
// <-s }.
const maxChannelHelper = 1 << 9

// isChannelHelper reports whether a function that was scanned is one.
func (c *function) isChannelHelper() bool {
	return c.usesChannels && c.f.End-c.f.Entry <= maxChannelHelper
}

// argumentActions returns what a function does to things that
// its caller knows, itself or by other functions: up to depth of
// them that call one another, the function included. Closures
// that the compiler makes for deferred calls don't count.
func (a *Analyzer) argumentActions(c *function, depth int) []argumentAction {
	if c.wrapper {
		depth++
	}
	if depth <= c.actionDepth || c.ignored || c.role != goruntime.CallOther ||
		c.f.End-c.f.Entry > maxHelper {
		return c.actions
	}
	c.actionDepth = depth
	if !c.scanned {
		a.scan(c)
	}
	if !c.isChannelHelper() && !a.mayEndWaits(c, depth-1) {
		return nil
	}
	w := a.newFlow(c.f, maxDepth)
	if w == nil {
		return nil
	}
	w.actionDepth = depth - 1
	c.actions = nil
	for _, act := range w.actionsAfter(0, true) {
		ofChannel := act.kind == Send || act.kind == Receive
		if e := w.argumentExpr(act.object); e != nil &&
			(!ofChannel || act.byCallee || c.isChannelHelper()) {
			c.actions = append(c.actions, argumentAction{e, act.kind})
		}
	}
	return c.actions
}

// mayEndWaits reports whether a function that was scanned may
// act on WaitGroups, Conds, semaphores and pools, or on channels
// by others.
func (a *Analyzer) mayEndWaits(c *function, depth int) bool {
	return c.endsWaits || slices.ContainsFunc(c.calls, func(entry uint64) bool {
		return len(a.argumentActions(a.callee(entry), depth)) > 0
	})
}
