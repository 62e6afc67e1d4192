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

// Held appends the locks that a goroutine holds, each once. Its frames come from the innermost to the outermost.
// Registers are those of the innermost frame, by the numbers that instructions have for them; nil where it is not
// known what they were. What isn't complete is worth asking again after a Refill.
func (a *Analyzer) Held(dst []Held, frames []unwind.Frame, m Memory, registers []uint64) (held []Held, complete bool) {
	complete = true
	first := len(dst)
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
		case p.Void:
			dst = dst[:first]
			continue
		case len(p.Holds) == 0 && len(p.Releases) == 0:
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		dst = a.apply(p, dst, first, &fr)
	}
	return dst, complete
}

// apply changes what the frames outside of this one hold to what they and this one hold.
func (a *Analyzer) apply(p *siteLocks, dst []Held, first int, f *frame) []Held {
	for _, r := range p.Releases {
		lock, ok := r.Lock.eval(f)
		kept := slices.DeleteFunc(dst[first:], func(h Held) bool { return h.Mode == r.Mode && (!ok || h.Lock == lock) })
		dst = dst[:first+len(kept)]
	}
	for _, c := range p.Holds {
		h, ok := a.resolve(&c, f)
		if lock := h.Lock; ok && lock != 0 && !slices.Contains(dst[first:], h) {
			dst = append(dst, h)
		}
	}
	return dst
}

// registers gives access to the registers of a frame that stands at an instruction and not in a call.
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
	if p == nil || p.Saved == nil {
		return nil
	}
	return func(r int) (uint64, bool) {
		at, ok := p.Saved[r]
		if !ok {
			return 0, false
		}
		return m.Stack(inner.SP + uint64(at))
	}
}

// resolve gives the lock that a claim is about.
func (a *Analyzer) resolve(c *lockRef, f *frame) (Held, bool) {
	lock, ok := c.Lock.eval(f)
	if c.Via == nil || !ok {
		return Held{lock, c.Mode}, ok
	}
	table, ok := c.Via.eval(f)
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
	locks  bool // the first takes a lock, and the second gives it back
	mode   Mode
	offset int64 // of the lock in what the interface holds
}

// maxLockers bounds the tables that are kept.
const maxLockers = 1 << 14

// lockerOf looks into a table of methods.
func (a *Analyzer) lockerOf(table uint64) locker {
	if len(a.lockers) >= maxLockers {
		clear(a.lockers)
	}
	var methods [16]byte
	if table == 0 || a.p.Read(table+goruntime.FirstMethod, methods[:]) != nil {
		return locker{}
	}
	taken, ok := a.soleEffect(binary.LittleEndian.Uint64(methods[:]), takes)
	given, ok2 := a.soleEffect(binary.LittleEndian.Uint64(methods[8:]), releases)
	taken.locks = ok && ok2 && taken == given
	return taken
}

// only gives what a method does to a lock of its receiver, if that is all that it does.
func (a *Analyzer) soleEffect(entry uint64, want lockChange) (locker, bool) {
	c := a.callee(entry)
	switch {
	case c.role == goruntime.CallLock && want == takes, c.role == goruntime.CallUnlock && want == releases:
		return locker{}, true
	case c.role == goruntime.CallRLock && want == takes, c.role == goruntime.CallRUnlock && want == releases:
		return locker{mode: Read}, true
	}
	effects := a.effectsOf(c, 1)
	if len(effects) != 1 || effects[0].does != want || effects[0].lock == nil {
		return locker{}, false
	}
	e := &effects[0]
	l, t := locker{mode: e.mode}, e.lock
	if t.kind == exprAdd {
		l.offset, t = t.c, t.a
	}
	return l, t.kind == exprRegister && machinecode.Reg(t.c) == a.machine.argument
}
