package syncflow

import (
	"math"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// call brings a state past a call, or past a jump out of the function.
func (w *flow) call(s *state, x *machinecode.Instr) {
	target, to := w.target(s, x)
	m := w.a.machine
	var result value
	if target == 0 {
		w.callUnknown(s, to)
	} else {
		c := w.a.callee(target)
		switch c.role {
		case goruntime.CallBarrier:
			w.kill(s, m.barrier)
			return
		case goruntime.CallDuff:
			s.slots, s.conditional = s.slots[:0], s.conditional[:0]
			w.killBytes(s, math.MinInt64, math.MaxInt64)
			w.kill(s, m.duff)
			return
		case goruntime.CallSudog:
			result = w.sudogValue(x)
			s.forget(w.values, result)
		}
		w.effects(s, c)
	}
	w.killExposed(s)
	w.kill(s, m.killed)
	if result != 0 {
		s.regs[m.argument] = result
	}
	s.swapped, s.added, s.words = 0, 0, nil
}

// killExposed forgets the words of the frame that a callee may
// change: those whose addresses registers or other words have.
// Before or later, another variable can lie at such a word.
// Nobody has its address.
func (w *flow) killExposed(s *state) {
	if len(w.addressTaken) == 0 {
		return
	}
	var exposed []int64
	expose := func(v value) {
		if off, ok := w.values.inFrame(v); ok && w.addressTaken[off] {
			exposed = append(exposed, off)
		}
	}
	for _, v := range s.regs {
		expose(v)
	}
	for _, word := range s.slots {
		expose(word.v)
	}
	for _, off := range exposed {
		w.killBytes(s, off, off+1)
		if v := s.slot(off); v != 0 && w.values.nodes[v].kind != kConst {
			s.killSlots(off, off+8)
		}
	}
}

// target returns the address that a call goes to, 0 if it isn't
// known, and of an indirect call the address's value.
func (w *flow) target(s *state, x *machinecode.Instr) (uint64, value) {
	if !x.Indirect {
		return x.Target, 0
	}
	to := w.callee(s, x)
	if n := w.values.nodes[to]; n.kind == kConst {
		return uint64(n.c), to
	}
	return x.Target, to
}

// sudogValue returns the value that represents the result of a
// call of goruntime.CallSudog.
func (w *flow) sudogValue(x *machinecode.Instr) value { return w.values.named(x.PC, resultName) }

// callee returns the address that an indirect call goes to.
func (w *flow) callee(s *state, x *machinecode.Instr) value {
	at := w.address(s, x)
	if x.Operand.InMemory {
		return w.loadWord(s, x, at, 0)
	}
	return at
}

// callUnknown brings a state past a call of a function that is
// not known. A closure may release any lock (unlock :=
// s.lock()); a method of an interface only the receiver, and
// other locks in the object that the receiver lies in.
func (w *flow) callUnknown(s *state, to value) {
	m := w.a.machine
	n := w.values.nodes[to]
	closure := s.regs[m.closure]
	if n.kind == kLoad {
		c := release{lock: to, via: s.regs[m.argument], call: true}
		w.releaseByCall(true, c)
		s.addCall(c)
		if w.a.callee(w.f.Entry).wrapper {
			s.addRelease(c)
		}
	}
	if to == 0 || n.kind != kLoad || n.a == closure && closure != 0 {
		w.record(eventUnknown, 0, 0, 0)
		s.makeUnsure(CallsFunc, func(*hold) bool { return true })
		return
	}
	w.record(eventMethod, 0, 0, 0)
	table, method := w.values.split(n.a)
	receiver := s.regs[m.argument]
	if receiver != 0 && method == goruntime.SecondMethod {
		w.record(eventReleases, receiver, 0, table)
		if s.releaseVia(receiver, table) {
			return
		}
		// defer l.Unlock(), or c.L.Unlock() in Wait of a Cond
		if c := w.a.callee(w.f.Entry); c.wrapper || c.role == goruntime.CallCondWait {
			s.addRelease(release{lock: receiver, via: table})
		}
	}
	object, _ := w.values.split(receiver)
	s.makeUnsure(CallsMethod, func(h *hold) bool {
		base, _ := w.values.split(h.lock)
		return object == 0 || base == object
	})
	if receiver != 0 && method == goruntime.FirstMethod {
		w.record(eventTakes, receiver, 0, table)
		s.acquireVia(receiver, table)
	}
}

// effects applies what a known function does to locks.
func (w *flow) effects(s *state, c *function) {
	if l, ok := syncCalls[c.role]; ok {
		lock := w.values.add(s.regs[w.a.machine.argument], l.offset)
		switch l.change {
		case takes:
			w.acquire(s, lock, l.mode)
		case releases:
			w.unlock(s, lock, l.mode)
		default:
			w.record(eventTakes, lock, l.mode, 0)
		}
		return
	}
	switch c.role {
	case goruntime.CallUnwinds:
		w.runDeferred(s)
	case goruntime.CallDefer, goruntime.CallDeferStack:
		w.deferCall(s, c.role)
	case goruntime.CallGo:
		w.goCall(s)
	case goruntime.CallOther:
		w.applyEffects(s, w.a.effectsOf(c, w.depth+1))
	}
}

// applyEffects applies what a helper does to locks.
func (w *flow) applyEffects(s *state, effects []effect) {
	for i := range effects {
		e := &effects[i]
		lock := w.valueAtCall(s, e.lock)
		switch e.change {
		case takes:
			if e.under == nil {
				w.acquire(s, lock, e.mode)
			} else {
				w.acquireUnder(s, lock, e.mode,
					condition{w.valueAtCall(s, e.under), e.mask, e.zero})
			}
		case mayTake:
			w.record(eventTakes, lock, e.mode, 0)
		case lends:
			if e.always {
				w.record(eventReleases, lock, e.mode, 0) // that is what it does first
			}
		case releases:
			r := release{lock: lock, mode: e.mode, via: w.valueAtCall(s, e.via), call: e.call}
			if e.call {
				w.releaseByCall(e.always, r)
				continue
			}
			if e.via != nil && (r.via == 0 || lock == 0) {
				continue
			}
			if e.always {
				w.record(eventReleases, r.lock, r.mode, r.via)
			} else {
				under := condition{w.valueAtCall(s, e.under), e.mask, e.zero}
				if e.under == nil || under.v == 0 {
					under = condition{}
				}
				w.recordRelease(eventMayRelease, futureRelease{lockName: r, under: under})
			}
			w.releaseOf(s, r)
		}
	}
}

// releaseOf releases a lock, or may do so.
func (w *flow) releaseOf(s *state, r release) {
	if r.via == 0 {
		w.release(s, r.lock, r.mode)
	} else if !s.releaseVia(r.lock, r.via) {
		s.addRelease(r)
	}
}

// duringCall converts the state before a call to the state
// during the call: a lock that Unlock releases counts as
// released. If another callee releases locks, runs deferred
// functions, or waits for a sync.Cond, its own frame shows that.
func (w *flow) duringCall(s *state, x *machinecode.Instr) {
	if x.Op != machinecode.OpCall || x.Indirect {
		return
	}
	role := w.a.callee(x.Target).role
	if l := syncCalls[role]; l.change == releases || role == goruntime.CallReadSlow {
		w.release(s, w.values.add(s.regs[w.a.machine.argument], l.offset), l.mode)
	}
}
