package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// A use is what an instruction of a function does with a channel, a group or a condition, by value.
type use struct {
	at     int // in flow.code
	thing  value
	does   ActionKind
	helper bool // by a function that it calls
}

// listUses lists the uses of a function.
func (w *flow) listUses() []use {
	if w.uses != nil {
		return w.uses
	}
	w.uses = []use{}
	for i := range w.blocks {
		b := &w.blocks[i]
		if b.in == nil {
			continue
		}
		s := b.in.clone()
		for k := b.first; k <= b.last; k++ {
			if x := &w.code[k]; w.leaves(x) {
				w.noteCall(s, k)
			}
			w.step(s, &w.code[k])
		}
	}
	return w.uses
}

// leaves tells whether an instruction calls another function, or jumps to it.
func (w *flow) leaves(x *machinecode.Instr) bool {
	switch x.Op {
	case machinecode.OpCall:
		return true
	case machinecode.OpJumpTo:
		return x.Indirect
	case machinecode.OpJump:
		return x.Target < w.f.Entry || x.Target >= w.f.End
	}
	return false
}

// noteCall takes note of the uses of one call.
func (w *flow) noteCall(s *state, k int) {
	target, _ := w.target(s, &w.code[k])
	if target == 0 {
		return
	}
	m := w.a.machine
	arg := s.regs[m.argument]
	c := w.a.callee(target)
	switch c.role {
	case goruntime.CallSend:
		w.noteUse(use{at: k, thing: arg, does: Send})
	case goruntime.CallReceive:
		w.noteUse(use{at: k, thing: arg, does: Receive})
	case goruntime.CallSelect:
		w.noteSelect(s, k)
	case goruntime.CallSignal:
		w.noteUse(use{at: k, thing: arg, does: Signal})
	case goruntime.CallDone:
		w.noteUse(use{at: k, thing: arg, does: Done})
	case goruntime.CallAdd:
		if n, ok := w.constantOf(s.regs[m.arguments[1]]); ok && n < 0 {
			w.noteUse(use{at: k, thing: arg, does: Done})
		}
	case goruntime.CallOther:
		for _, d := range w.a.deedsOf(c, w.wakers) {
			w.noteUse(use{at: k, thing: w.substitute(s, d.thing), does: d.does, helper: true})
		}
	}
}

// noteSelect takes note of the cases of a select: an array of pairs in the frame, the sends first.
func (w *flow) noteSelect(s *state, k int) {
	m := w.a.machine
	at, ok := w.values.inFrame(s.regs[m.argument])
	sends, known := w.constantOf(s.regs[m.arguments[3]])
	receives, knownToo := w.constantOf(s.regs[m.arguments[4]])
	if !ok || !known || !knownToo || sends < 0 || receives < 0 {
		return
	}
	for i := int64(0); i < min(sends+receives, maxCases); i++ {
		u := use{at: k, thing: s.slot(at + 16*i), does: Receive}
		if i < sends {
			u.does = Send
		}
		w.noteUse(u)
	}
}

func (w *flow) constantOf(v value) (int64, bool) {
	n := w.values.nodes[v]
	return n.c, n.kind == kConst
}

// maxListed bounds the uses of a function that are listed, by all of its instructions.
const maxListed = 64

func (w *flow) noteUse(u use) {
	if u.thing != 0 && len(w.uses) < maxListed && !slices.Contains(w.uses, u) {
		w.uses = append(w.uses, u)
	}
}

// A deed is what a function does with a group or a condition that its caller knows, at some time.
type deed struct {
	thing *Term // by the registers at entry
	does  ActionKind
}

// maxWakers bounds functions that call one another until one does something: a deferred closure, a helper.
const maxWakers = 2

// deedsOf gives what a function does with groups and conditions that its caller knows, itself or by as many other functions
// that call one another. Closures that the compiler makes for deferred calls don't count.
func (a *Analyzer) deedsOf(c *function, wakers int) []deed {
	if c.wrapper {
		wakers++
	}
	if wakers <= c.wakersSeen || c.quiet || c.role != goruntime.CallOther || c.f.End-c.f.Entry > maxHelper {
		return c.deeds
	}
	c.wakersSeen = wakers
	if !c.scanned {
		a.scan(c)
	}
	if !a.wakes(c, wakers-1) {
		return nil
	}
	w := a.newFlow(c.f, maxDepth)
	if w == nil {
		return nil
	}
	w.wakers = wakers - 1
	c.deeds = nil
	for _, u := range w.listUses() {
		if t := w.byEntry(u.thing); t != nil && (u.does == Done || u.does == Signal) {
			c.deeds = append(c.deeds, deed{t, u.does})
		}
	}
	return c.deeds
}

// wakes tells whether a function that was scanned may do something with groups and conditions, itself or by others.
func (a *Analyzer) wakes(c *function, wakers int) bool {
	return c.wakes || slices.ContainsFunc(c.calls, func(entry uint64) bool { return len(a.deedsOf(a.callee(entry), wakers)) > 0 })
}
