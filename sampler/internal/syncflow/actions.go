package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// An ActionKind is what ends a wait that is not for a lock.
type ActionKind uint8

const (
	Send    ActionKind = iota // to a channel
	Receive                   // from a channel
	Done                      // of a sync.WaitGroup: Done, or Add of a number below 0
	Signal                    // of a sync.Cond, or Broadcast
)

// An Action is something that a goroutine may still do with a channel, a sync.WaitGroup or a sync.Cond, by the functions
// that it is in.
type Action struct {
	Object  uint64 // address of the channel, the WaitGroup or the Cond
	Kind    ActionKind
	Awaited bool // the goroutine itself waits, in a method Wait, until others do that
}

// A siteAction is an action, and how to find its object from a frame at one place in the code.
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

// Actions appends what a goroutine may still do to channels, WaitGroups and Conds: the actions in the functions that it is in,
// after its position in them, if something in its frames leads to the object. Frames come from the innermost to the
// outermost; registers are as for Held. If the answer is not complete, it is worth asking again after a Refill.
func (a *Analyzer) Actions(dst []Action, frames []unwind.Frame, m Memory, registers []uint64) (actions []Action, complete bool) {
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
		for _, t := range here {
			if addr, ok := t.object.eval(&fr); ok && addr != 0 {
				dst = append(dst, Action{addr, t.kind, t.awaited})
			}
		}
	}
	return dst, complete
}

// DeferredActions appends the actions of a deferred function that is still to run, by its closure's address.
func (a *Analyzer) DeferredActions(dst []Action, closure uint64, m Memory) (actions []Action, complete bool) {
	f := &frame{m: m, register: func(r int) (uint64, bool) { return closure, machinecode.Reg(r) == a.machine.closure }}
	code := &expr{kind: exprLoad, a: &expr{kind: exprRegister, c: int64(a.machine.closure)}}
	entry, ok := code.eval(f)
	if !ok {
		return dst, true
	}
	c := a.callee(entry)
	if c.actionDepth == 0 && a.left <= 0 {
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

// actionsAt returns the actions that can still come at a frame. It reports false if they are not known yet.
func (a *Analyzer) actionsAt(f *unwind.Frame) ([]siteAction, bool) {
	for int(f.Site) >= len(a.actionsBySite) {
		a.actionsBySite = append(a.actionsBySite, nil)
	}
	if t := a.actionsBySite[f.Site]; t != nil {
		return t, true
	}
	if a.left <= 0 {
		return nil, false
	}
	found := a.findActionsAt(f)
	a.actionsBySite[f.Site] = found
	return found, true
}

func (a *Analyzer) findActionsAt(f *unwind.Frame) []siteAction {
	a.spend(1)
	fn, ok := a.p.Table.Func(f.PC)
	if !ok {
		return noActions
	}
	c := a.callee(fn.Entry)
	waits := c.role == goruntime.CallGroupWait || c.role == goruntime.CallCondWait
	if !waits && !a.mayAct(c) {
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
	if waits {
		return w.awaitedAt(i, f.Exact, c.role)
	}
	return w.actionsFrom(i, f.Exact)
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

// awaitedAt returns what a goroutine in a method Wait waits for: that others act on the method's receiver.
func (w *flow) awaitedAt(i int, exact bool, r goruntime.CallRole) []siteAction {
	kind := Done
	if r == goruntime.CallCondWait {
		kind = Signal
	}
	if s := w.stateBefore(i); s != nil {
		if t := w.exprFor(s, w.values.entry(w.a.machine.argument), exact, 0); t != nil {
			return []siteAction{{t, kind, true}}
		}
	}
	return noActions
}

// actionsFrom returns the actions that can happen at an instruction or after it, if their objects can be found from a frame at
// that instruction.
func (w *flow) actionsFrom(i int, exact bool) []siteAction {
	s := w.stateBefore(i)
	if s == nil {
		return noActions
	}
	found := noActions
	var known []action
	after := w.reachableFrom(i)
	for _, act := range w.allActions() {
		// During a call, the callee's own frame shows what it may still do.
		here := act.at == i && (exact || !act.byCallee)
		if !here && !after(act.at) {
			continue
		}
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
