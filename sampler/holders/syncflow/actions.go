package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// An ActionKind is what ends a wait that is not for a lock.
type ActionKind uint8

const (
	Send    ActionKind = iota // to a channel
	Receive                   // from a channel
	Done                      // of a sync.WaitGroup: Done, or Add of a number below 0
	Signal                    // of a sync.Cond, or Broadcast
	Release                   // of a part of a semaphore
	Acquire                   // of such a part. It ends no wait
	Return                    // of a connection to its pool
	Written                   // to a file or socket, by one goroutine at a time
	Close                     // of a channel
)

// takesTurns reports whether of all actions on an object only
// the next one counts. Example: a goroutine that has sent to a
// channel and then receives from it, again and again, keeps
// others from sending only if receiving is what it does next.
func (k ActionKind) takesTurns() bool { return k != Done && k != Signal && k != Close }

// An Action is something that a goroutine may still do with a
// channel, a sync.WaitGroup or a sync.Cond, by the functions
// that it is in.
type Action struct {
	// address of the channel, the WaitGroup, the Cond, the semaphore, the
	// pool or the poll.FD
	Object  uint64
	Kind    ActionKind
	Awaited bool // the goroutine itself waits, in a method Wait, until others do that
}

// A siteAction is an action, and how to find its object from a
// frame at one place in the code.
type siteAction struct {
	object  *expr
	kind    ActionKind
	awaited bool
}

// Bounds of what is taken into account.
const (
	maxActions = 16 // of a function
	maxCases   = 16 // of a select
)

// Actions appends what a goroutine may still do to channels,
// WaitGroups and Conds: the actions in the functions that it is
// in, after its position in them, if something in its frames
// leads to the object. Frames come from the innermost to the
// outermost; registers are as for Held. If the answer is not
// complete, it is worth asking again after a Refill.
func (a *Analyzer) Actions(dst []Action, frames []unwind.Frame, m Memory,
	registers []uint64) (actions []Action, complete bool) {
	complete = true
	for i := range frames {
		f := &frames[i]
		if f.System {
			continue
		}
		here, ok := a.actionsAt(f)
		complete = complete && ok
		if len(here) == 0 {
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		inner := dst
		for _, t := range here {
			if addr, ok := t.object.eval(&fr); ok && addr != 0 &&
				!(t.kind.takesTurns() && hasTurn(inner, addr)) {
				dst = append(dst, Action{addr, t.kind, t.awaited})
			}
		}
	}
	return dst, complete
}

// hasTurn reports whether the next action on an object is among
// some actions.
func hasTurn(actions []Action, object uint64) bool {
	return slices.ContainsFunc(actions,
		func(a Action) bool { return a.Object == object && a.Kind.takesTurns() })
}

// maxDeferredCalls bounds the deferred functions of a goroutine that are
// considered.
const maxDeferredCalls = 16

// Deferred appends the actions of the functions on a goroutine's
// list of deferred functions, whose first entry is at an
// address. Usually a function's own code runs what it has
// deferred. If it can't, as for a defer statement in a loop, the
// functions are on that list.
func (a *Analyzer) Deferred(dst []Action, at uint64, r goruntime.Release,
	m Memory) (actions []Action, complete bool) {
	word := func(at uint64) uint64 {
		w, ok := m.Stack(at)
		if !ok {
			w, _ = m.Heap(at)
		}
		return w
	}
	complete = true
	for n := 0; at != 0 && n < maxDeferredCalls; n++ {
		if fn := word(at + goruntime.DeferFn); fn != 0 {
			var ok bool
			dst, ok = a.DeferredActions(dst, fn, m)
			complete = complete && ok
		}
		at = word(at + r.DeferLink())
	}
	return dst, complete
}

// DeferredActions appends the actions of a deferred function
// that is still to run, by its closure's address.
func (a *Analyzer) DeferredActions(dst []Action, closure uint64, m Memory) (actions []Action,
	complete bool) {
	f := &frame{m: m, register: func(r int) (uint64, bool) {
		return closure, machinecode.Reg(r) == a.machine.closure
	}}
	code := &expr{kind: kLoad, a: &expr{kind: kEntry, c: int64(a.machine.closure)}}
	entry, ok := code.eval(f)
	if !ok {
		return dst, true
	}
	c := a.callee(entry)
	if c.actionDepth == 0 && !a.mayLearn(false) {
		return dst, false
	}
	a.spend(1)
	for _, d := range a.argumentActions(c, maxActionDepth) {
		if addr, ok := d.object.eval(f); ok && addr != 0 {
			dst = append(dst, Action{Object: addr, Kind: d.kind})
		}
	}
	return dst, true
}

var noActions = []siteAction{}

// actionsAt returns the actions that can still come at a frame.
// It reports false if they are not known yet.
func (a *Analyzer) actionsAt(f *unwind.Frame) ([]siteAction, bool) {
	for int(f.Site) >= len(a.actionsBySite) {
		a.actionsBySite = append(a.actionsBySite, nil)
	}
	if t := a.actionsBySite[f.Site]; t != nil {
		return t, true
	}
	found := a.known.actions[placeOf(f)]
	if found == nil {
		fn, ok := a.p.Table.Func(f.PC)
		if !a.mayLearnActions(fn.Entry, fn.End) {
			return nil, false
		}
		if found = noActions; ok {
			found = a.findActionsAt(f, fn)
		}
		a.known.actions[placeOf(f)] = found
	}
	a.actionsBySite[f.Site] = found
	return found, true
}

func (a *Analyzer) findActionsAt(f *unwind.Frame, fn pclntab.Func) []siteAction {
	a.spend(1)
	c := a.callee(fn.Entry)
	own, isOwn := ownActions[c.role]
	if !isOwn && !a.mayAct(c) {
		return noActions
	}
	w := a.flowOf(fn)
	if w == nil {
		return noActions
	}
	i := w.instructionAt(f.PC, f.Exact)
	if i < 0 {
		return noActions
	}
	if isOwn {
		return w.ownActionAt(i, f.Exact, own)
	}
	return w.actionsFrom(i, f.Exact)
}

// ownActions are the actions, on their first arguments, of
// functions that are known by name: what the goroutine in such a
// function waits for, or will do.
var ownActions = map[goruntime.CallRole]siteAction{
	goruntime.CallGroupWait: {kind: Done, awaited: true},
	goruntime.CallCondWait:  {kind: Signal, awaited: true},
	goruntime.CallAcquire:   {kind: Release, awaited: true},

	goruntime.CallConnection:     {kind: Return, awaited: true},
	goruntime.CallWithConnection: {kind: Return},

	goruntime.CallWrite: {kind: Written}, // awaited while it waits for the lock
}

// mayAct reports whether a function may have actions.
func (a *Analyzer) mayAct(c *function) bool {
	if c.ignored || c.role != goruntime.CallOther {
		return false
	}
	if !c.scanned {
		a.scan(c)
	}
	return c.usesChannels || a.mayEndWaits(c, maxActionDepth)
}

// ownActionAt returns an action on the function's first argument.
func (w *flow) ownActionAt(i int, exact bool, own siteAction) []siteAction {
	s := w.stateBefore(i)
	if s == nil {
		return noActions
	}
	own.object = w.exprFor(s, w.values.entry(w.a.machine.argument), exact, 0)
	if own.object == nil && own.kind == Return {
		own.object = w.poolOf(s, exact)
	}
	if own.object == nil {
		return noActions
	}
	if x := &w.code[i]; own.kind == Written && !exact && x.Op == machinecode.OpCall && !x.Indirect {
		own.awaited = w.a.callee(x.Target).role == goruntime.CallFDLock
	}
	return []siteAction{own}
}

// poolOf returns an expression for the pool to which a
// connection points that is the function's argument after one or
// two contexts, nil if there is none.
func (w *flow) poolOf(s *state, exact bool) *expr {
	vs := w.values
	for _, n := range []int{3, 5} {
		if e := w.exprFor(s, vs.load(vs.entry(w.a.machine.arguments[n])), exact, 0); e != nil {
			return e
		}
	}
	return nil
}

// actionsFrom returns the actions that can happen at an
// instruction or after it, if their objects can be found from a
// frame at that instruction.
func (w *flow) actionsFrom(i int, exact bool) []siteAction {
	s := w.stateBefore(i)
	if s == nil {
		return noActions
	}
	found := noActions
	var known []action
	for _, act := range w.actionsAfter(i, exact) {
		act.at, act.byCallee = 0, false
		if slices.Contains(known, act) || len(known) >= maxActions {
			continue
		}
		known = append(known, act)
		if e := w.exprFor(s, act.object, exact, 0); e != nil {
			found = append(found, siteAction{object: e, kind: act.kind})
		}
	}
	return found
}

// actionsAfter returns the actions at an instruction and after
// it. During a call, the callee's own frame shows what it may
// still do.
func (w *flow) actionsAfter(i int, exact bool) (list []action) {
	after := w.reachableFrom(i)
	// by object: whether the next action may be the one at an instruction
	turns := map[value][]bool{}
	for _, act := range w.allActions() {
		here := act.at == i && (exact || !act.byCallee)
		if act.kind.takesTurns() {
			if turns[act.object] == nil {
				turns[act.object] = w.nextOn(act.object, i, exact)
			}
			if !turns[act.object][act.at] {
				continue
			}
		} else if !here && !after(act.at) {
			continue
		}
		list = append(list, act)
	}
	return list
}

// nextOn returns, by instruction, whether the next action on an
// object from an instruction on may be there.
func (w *flow) nextOn(object value, i int, exact bool) []bool {
	next, stops := make([]bool, len(w.code)), make([]bool, len(w.code))
	for _, act := range w.allActions() {
		stops[act.at] = stops[act.at] ||
			act.object == object && (act.at != i || exact || !act.byCallee)
	}
	scan := func(from, last int) (stopped bool) {
		for k := from; k <= last; k++ {
			if stops[k] {
				next[k] = true
				return true
			}
		}
		return false
	}
	own := &w.blocks[w.blockOf(i)]
	if !scan(i, own.last) {
		w.walk(own.next, func(k int) bool { return !scan(w.blocks[k].first, w.blocks[k].last) })
	}
	return next
}
