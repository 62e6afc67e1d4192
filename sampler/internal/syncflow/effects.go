package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// A lockChange is what a call of a function does to a lock of its caller's.
type lockChange uint8

const (
	takes lockChange = iota + 1
	releases
	lends // releases it, and takes it again before it returns
)

// An effect is what a call of a function does to a lock, once it has returned.
type effect struct {
	does lockChange
	mode Mode
	lock *expr // by the registers at entry; nil where not known
}

// effectsOf gives what a function does to the locks of its callers, and which it takes for them; none for functions that
// are too large for a helper, or called by too many helpers in a row: depth counts them.
func (a *Analyzer) effectsOf(c *function, depth int) []effect {
	switch {
	case c.effectsKnown || c.ignored || c.inProgress || c.role != goruntime.CallOther || c.f.End-c.f.Entry > maxHelper:
		return c.effects
	case depth > maxDepth && !c.wrapper:
		if !c.scanned {
			a.scan(c)
		}
		a.tooDeep = a.tooDeep || c.usesSync
		return nil
	case c.tooDeepAt != 0 && c.tooDeepAt <= depth:
		a.tooDeep = true
		return nil
	}
	outer := a.tooDeep
	a.tooDeep, c.inProgress = false, true
	var effects []effect
	if a.relevant(c, depth) {
		if w := a.newFlow(c.f, depth); w != nil {
			effects = w.effectsAtExit()
		}
	}
	c.inProgress = false
	if a.tooDeep {
		// What it calls may give back what it takes: from less deep that can be seen.
		c.tooDeepAt, effects = depth, nil
	} else {
		c.effects, c.effectsKnown = effects, true
	}
	a.tooDeep = a.tooDeep || outer
	return effects
}

// effectsAtExit joins the states in which the function returns.
func (w *flow) effectsAtExit() []effect {
	var out *state
	var lent []effect
	for i := range w.blocks {
		b := &w.blocks[i]
		x := &w.code[b.last]
		leaves := x.Op == machinecode.OpReturn || x.Op == machinecode.OpJumpTo && x.Indirect ||
			x.Op == machinecode.OpJump && (x.Target < w.f.Entry || x.Target >= w.f.End)
		if b.in == nil || !leaves {
			continue
		}
		s := b.in.clone()
		for k := b.first; k <= b.last; k++ {
			w.step(s, &w.code[k])
		}
		for _, r := range s.removeRetaken() {
			lent = append(lent, effect{lends, r.mode, w.argumentExpr(r.lock)})
		}
		if out == nil {
			out = s
		} else {
			out.join(s)
		}
	}
	if out == nil {
		return nil
	}
	effects := lent
	for _, r := range out.released {
		effects = append(effects, effect{releases, r.mode, w.argumentExpr(r.lock)})
	}
	for _, h := range out.holds {
		if h.via != 0 {
			continue
		}
		// One without a name, even where it is not sure, is a lock that the caller may come to know and give back.
		if t := w.argumentExpr(h.lock); h.sure || t == nil {
			effects = append(effects, effect{takes, h.mode, t})
		}
	}
	return slices.Clip(effects)
}

// byEntry gives a value by what the function's caller knows, nil where it can't be.
func (w *flow) argumentExpr(v value) *expr {
	n := w.values.nodes[v]
	switch n.kind {
	case kEntry:
		return &expr{kind: exprRegister, c: int64(n.a)}
	case kConst:
		return &expr{kind: exprConst, c: n.c}
	case kAdd, kLoad:
		if a := w.argumentExpr(n.a); a != nil {
			return exprOf(n, a, nil)
		}
	case kSum:
		if a, b := w.argumentExpr(n.a), w.argumentExpr(n.b); a != nil && b != nil {
			return exprOf(n, a, b)
		}
	}
	return nil
}

// substitute gives the value that a callee's term has for the caller, at the call.
func (w *flow) valueAtCall(s *state, t *expr) value {
	if t == nil {
		return 0
	}
	vs := w.values
	switch t.kind {
	case exprRegister:
		return s.regs[t.c]
	case exprConst:
		return vs.constant(t.c)
	case exprAdd:
		return vs.add(w.valueAtCall(s, t.a), t.c)
	case exprSum:
		return vs.sum(w.valueAtCall(s, t.a), w.valueAtCall(s, t.b), t.c)
	case exprLoad:
		at := w.valueAtCall(s, t.a)
		if off, ok := vs.inFrame(at); ok {
			return s.slot(off)
		}
		return vs.load(at)
	}
	return 0
}
