package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A lockChange is what a call of a function does to a lock of
// its caller's.
type lockChange uint8

const (
	takes lockChange = iota + 1
	releases
	lends // releases it, and takes it again before it returns
	mayTake
)

// An effect is what a call of a function does to a lock, once it
// has returned.
type effect struct {
	change lockChange
	mode   Mode
	lock   *expr // by the registers at entry; nil if it is not known
	via    *expr // as in a hold; nil if it is a lock in any case
	call   bool  // as in a futureRelease
	always bool  // it releases or lends the lock on every path
	// it takes or releases the lock only if this byte is as mask
	// and zero say; nil if that is not known
	under *expr
	mask  uint8
	zero  bool
}

// syncCalls are what calls of functions of package sync do to a
// lock: the one at an offset from their first argument.
var syncCalls = map[goruntime.CallRole]struct {
	change lockChange
	mode   Mode
	offset int64
}{
	goruntime.CallLock:     {change: takes},
	goruntime.CallLockSlow: {change: takes},
	goruntime.CallRLock:    {change: takes, mode: Read},
	goruntime.CallTryLock:  {change: mayTake},
	goruntime.CallTryRLock: {change: mayTake, mode: Read},
	goruntime.CallUnlock:   {change: releases},
	goruntime.CallRUnlock:  {change: releases, mode: Read},
	// The atomic instruction before was inlined. Only after this
	// call is the lock taken.
	goruntime.CallReadSlow: {change: mayTake, mode: Read, offset: -goruntime.RWMutexReaderSem},
}

// effectsOf returns what a function does to the locks of its
// callers, and which it takes for them: l.lock() is such a
// function, and l.unlock(). There are none if the function is
// too large for a helper, or if too many helpers call one
// another: depth counts them.
func (a *Analyzer) effectsOf(c *function, depth int) []effect {
	switch {
	case c.effectsKnown || c.ignored || c.inProgress || c.role != goruntime.CallOther ||
		c.f.End-c.f.Entry > maxHelper:
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
		// What it calls may release what it takes: that can be
		// found out when fewer helpers in a row have led here.
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
	for k, s := range w.states() {
		if !w.exits(&w.code[k]) {
			continue
		}
		s = s.clone()
		w.step(s, &w.code[k])
		for _, r := range s.removeRetaken() {
			lent = append(lent, effect{change: lends, mode: r.mode, lock: w.argumentExpr(r.lock),
				always: w.releasesFirst(r)})
		}
		if out == nil {
			out = s
		} else {
			out.join(w.values, s)
		}
	}
	if out == nil {
		return nil
	}
	effects := lent
	for _, r := range out.released {
		e := effect{change: releases, mode: r.mode, lock: w.argumentExpr(r.lock),
			via: w.argumentExpr(r.via), always: w.releasesFirst(r), call: r.call}
		if !e.always {
			if c := w.releasedUnder(r); c.v != 0 {
				e.under, e.mask, e.zero = w.argumentExpr(c.v), c.mask, c.zero
			}
		}
		if r.via == 0 || r.call && e.lock != nil || e.lock != nil && e.via != nil {
			effects = append(effects, e)
		}
	}
	for _, h := range out.holds {
		if h.via != 0 {
			continue
		}
		// A lock without a name, sure or not, is one that the
		// caller may come to know, and release.
		e := effect{change: takes, mode: h.mode, lock: w.argumentExpr(h.lock)}
		e.under, e.mask, e.zero = w.argumentExpr(h.under.v), h.under.mask, h.under.zero
		if (h.doubt != NoDoubt || h.under.v != 0 && e.under == nil) && e.lock != nil {
			e.change, e.under = mayTake, nil
		}
		effects = append(effects, e)
	}
	return slices.Clip(effects)
}

// releasesFirst reports whether the function releases a lock of its caller's
// on every path.
func (w *flow) releasesFirst(r release) bool {
	f := w.futureAt(0, true)
	k := indexOf(f.releases, r)
	return k >= 0 && !f.releases[k].weak
}

// releasedUnder returns the condition under which the function
// releases a lock of its caller's, none if it is not known.
func (w *flow) releasedUnder(r release) condition {
	f := w.futureAt(0, true)
	if k := indexOf(f.may, r); k >= 0 {
		return f.may[k].under
	}
	return condition{}
}

// argumentExpr returns an expression for a value by the
// registers when the function was entered, which its caller
// knows. It is nil if there is none.
func (w *flow) argumentExpr(v value) *expr {
	n := w.values.nodes[v]
	switch n.kind {
	case kEntry, kConst:
		return &expr{kind: n.kind, c: n.c}
	case kAdd, kLoad, kLow, kByte:
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

// valueAtCall returns the value that an expression by a callee's
// registers at entry has for the caller, at the call.
func (w *flow) valueAtCall(s *state, e *expr) value {
	if e == nil {
		return 0
	}
	vs := w.values
	switch e.kind {
	case kEntry:
		return s.regs[e.c]
	case kConst:
		return vs.constant(e.c)
	case kAdd:
		return vs.add(w.valueAtCall(s, e.a), e.c)
	case kSum:
		return vs.sum(w.valueAtCall(s, e.a), w.valueAtCall(s, e.b), e.c)
	case kLow:
		if e.a.kind == kLoad {
			return w.loadByte(s, w.valueAtCall(s, e.a.a))
		}
		return vs.low(w.valueAtCall(s, e.a))
	case kLoad:
		at := w.valueAtCall(s, e.a)
		if off, ok := vs.inFrame(at); ok {
			return s.slot(off)
		}
		if v := s.word(at); v != 0 {
			return v
		}
		return vs.load(at)
	}
	return 0
}
