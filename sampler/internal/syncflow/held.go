package syncflow

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// A Held is a lock that a goroutine holds.
type Held struct {
	Lock uint64 // address of the sync.Mutex or sync.RWMutex
	Mode Mode
}

// Held appends the locks that a goroutine holds, each once. Its frames come from the innermost to the outermost. Registers are
// those of the innermost frame, by the numbers that instructions have for them, and nil if they are not known. If the answer is not
// complete, it is worth asking again after a Refill.
func (a *Analyzer) Held(dst []Held, frames []unwind.Frame, m Memory, registers []uint64) (held []Held, complete bool) {
	complete = true
	first := len(dst)
	var later []Held // locks that callers release which their callees take
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.System {
			continue
		}
		p := a.locksAt(f)
		switch {
		case p == nil:
			dst, complete = dst[:first], false
			continue
		case p.unknown:
			dst = dst[:first]
			continue
		case len(p.held) == 0 && len(p.released) == 0 && len(p.later) == 0:
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		dst = a.apply(p, dst, first, &fr, later)
		for _, r := range p.later {
			if lock, ok := r.lock.eval(&fr); ok {
				later = append(later, Held{lock, r.mode})
			}
		}
	}
	return dst, complete
}

// apply turns the locks that the callers of a frame hold into those that they and the frame hold. The callers release the locks in
// later.
func (a *Analyzer) apply(p *siteLocks, dst []Held, first int, f *frame, later []Held) []Held {
	for _, r := range p.released {
		lock, ok := r.lock.eval(f)
		kept := slices.DeleteFunc(dst[first:], func(h Held) bool { return h.Mode == r.mode && (!ok || h.Lock == lock) })
		dst = dst[:first+len(kept)]
	}
	for _, r := range p.held {
		h, ok := a.resolve(&r, f)
		if r.passedOn && !slices.Contains(later, h) {
			continue
		}
		if lock := h.Lock; ok && lock != 0 && !slices.Contains(dst[first:], h) {
			dst = append(dst, h)
		}
	}
	return dst
}

// registers returns access to the registers of a frame at an instruction; nil for a frame in a call.
func (a *Analyzer) registers(frames []unwind.Frame, i int, m Memory, innermost []uint64) func(int) (uint64, bool) {
	if !frames[i].Exact {
		return nil
	}
	if i == 0 {
		return func(r int) (uint64, bool) {
			if r >= len(innermost) {
				return 0, false
			}
			return innermost[r], true
		}
	}
	inner := &frames[i-1]
	p := a.locksAt(inner)
	if p == nil || p.saved == nil {
		return nil
	}
	return func(r int) (uint64, bool) {
		at, ok := p.saved[r]
		if !ok {
			return 0, false
		}
		return m.Stack(inner.SP + uint64(at))
	}
}

// resolve returns the lock that a frame holds by a lockRef.
func (a *Analyzer) resolve(r *lockRef, f *frame) (Held, bool) {
	lock, ok := r.lock.eval(f)
	if r.via == nil || !ok {
		return Held{lock, r.mode}, ok
	}
	table, ok := r.via.eval(f)
	if !ok {
		return Held{}, false
	}
	l, known := a.lockers[table]
	if !known {
		if a.left <= 0 {
			return Held{}, false // not yet
		}
		l = a.lockerOf(table)
		a.lockers[table] = l
	}
	return Held{lock + uint64(l.offset), l.mode}, l.locks
}

// A locker is what the methods of an interface's table do.
type locker struct {
	locks  bool // the first takes a lock, and the second releases it
	mode   Mode
	offset int64 // of the lock in what the interface holds
}

// maxLockers bounds the tables that are kept.
const maxLockers = 1 << 14

// lockerOf reads a table of methods.
func (a *Analyzer) lockerOf(table uint64) locker {
	if len(a.lockers) >= maxLockers {
		clear(a.lockers)
	}
	var methods [16]byte
	if table == 0 || a.p.Read(table+goruntime.FirstMethod, methods[:]) != nil {
		return locker{}
	}
	taken, ok := a.soleEffect(binary.LittleEndian.Uint64(methods[:]), takes)
	released, ok2 := a.soleEffect(binary.LittleEndian.Uint64(methods[8:]), releases)
	taken.locks = ok && ok2 && taken == released
	return taken
}

// soleEffect returns which lock of its receiver a method takes, or releases, as is wanted. It reports false if the method does not
// do that, or does more.
func (a *Analyzer) soleEffect(entry uint64, want lockChange) (locker, bool) {
	c := a.callee(entry)
	switch {
	case c.role == goruntime.CallLock && want == takes, c.role == goruntime.CallUnlock && want == releases:
		return locker{}, true
	case c.role == goruntime.CallRLock && want == takes, c.role == goruntime.CallRUnlock && want == releases:
		return locker{mode: Read}, true
	}
	effects := a.effectsOf(c, 1)
	if len(effects) != 1 || effects[0].change != want || effects[0].lock == nil {
		return locker{}, false
	}
	e := &effects[0]
	l, at := locker{mode: e.mode}, e.lock
	if at.kind == exprAdd {
		l.offset, at = at.c, at.a
	}
	return l, at.kind == exprRegister && machinecode.Reg(at.c) == a.machine.argument
}
