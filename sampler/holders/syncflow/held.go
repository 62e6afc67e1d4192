package syncflow

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A Certainty says how sure it is that a goroutine holds a lock.
type Certainty uint8

const (
	Sure     Certainty = iota // its code has taken the lock on every path, and not released it
	Doubtful                  // it is at a place in the code at which the lock may be held
	Possible                  // it is not excluded, but there is less reason to believe it
)

// A Held is a lock that a goroutine holds, or may hold.
type Held struct {
	// address of the sync.Mutex or sync.RWMutex; 0 if the
	// goroutine may hold a lock of unknown address
	Lock uint64
	Mode Mode
	Certainty
	// Again: it is in a call that takes the lock, in a function
	// that will also release it, further in than the one that
	// holds the lock.
	Again bool
}

// Held appends the locks that a goroutine holds or may hold,
// each once. Its frames come from the innermost to the
// outermost. Registers are the innermost frame's, by the numbers
// that instructions have for them; nil if they are not known. If
// the answer is not complete, it is worth asking again after a
// Refill.
func (a *Analyzer) Held(dst []Held, frames []unwind.Frame, m Memory,
	registers []uint64) (held []Held, complete bool) {
	complete = true
	l := heldLocks{a: a, list: dst, first: len(dst)}
	urgent := false
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.System {
			continue
		}
		urgent = urgent || a.isAwaited(f)
		p := a.locksAt(f, urgent)
		if p == nil {
			l.list, complete = l.list[:l.first], false
			continue
		}
		if p == noLocks {
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		l.apply(p, &fr)
	}
	return l.list, complete
}

// heldLocks are the locks that the frames of a goroutine hold,
// from the outermost on.
type heldLocks struct {
	a     *Analyzer
	list  []Held
	first int    // where these locks begin in the list
	later []Held // locks that callers release which their callees take
}

// apply adds what one more frame shows.
func (l *heldLocks) apply(p *siteLocks, f *frame) {
	if p.unknown && !l.resolvesAll(p.released, f) {
		l.doubt(func(*Held) bool { return true })
	}
	for _, r := range p.released {
		l.release(&r, f)
	}
	for _, r := range p.later {
		if lock, ok := r.lock.eval(f); ok {
			l.again(lock)
		}
	}
	for _, r := range p.held {
		h, ok := l.a.resolve(&r, f)
		switch isTrue, known := r.isTrue(f); {
		case known && !isTrue:
			continue
		case !known || !r.under.inFrame():
			h.Certainty = Doubtful // by now, what was tested may have changed
		}
		if r.passedOn && !slices.Contains(l.later, h) {
			h.Certainty = Possible
		}
		switch {
		case ok && isAddress(h.Lock):
			l.add(h)
		case r.via == nil:
			// it holds a lock, and what led to it has changed since
			l.add(Held{Certainty: Possible})
		}
	}
	// What nothing leads to is most likely what the code will
	// release by another way.
	named := l.applyCalls(p, f) ||
		slices.ContainsFunc(p.doubtful,
			func(r lockRef) bool { return r.lock != nil && r.certainty == Doubtful })
	for _, r := range p.doubtful {
		if r.lock == nil && named {
			continue
		}
		h := Held{}
		if isTrue, known := r.isTrue(f); known && !isTrue {
			continue
		}
		if r.lock != nil {
			var ok bool
			if h, ok = l.a.resolve(&r, f); !ok && r.via != nil {
				continue // it is no lock
			}
		}
		if h.Certainty = r.certainty; !isAddress(h.Lock) {
			h = Held{Certainty: Possible}
		}
		l.add(h)
	}
	for _, r := range p.later {
		if lock, ok := r.lock.eval(f); ok {
			l.later = append(l.later, Held{Lock: lock, Mode: r.mode})
		}
	}
}

// resolvesAll reports whether a frame leads to locks, and to each of them.
func (l *heldLocks) resolvesAll(refs []lockRef, f *frame) bool {
	for i := range refs {
		if _, ok := l.a.resolve(&refs[i], f); !ok {
			return false
		}
	}
	return len(refs) > 0
}

// isAddress reports whether a lock can be there: nil pointers
// lead to the first page, where nothing is.
func isAddress(lock uint64) bool { return lock >= 4096 }

// isTrue reports whether the condition is true under which the
// lock is held, and whether that is known.
func (r *lockRef) isTrue(f *frame) (isTrue, known bool) {
	if r.under == nil {
		return true, true
	}
	b, known := r.under.eval(f)
	return (uint8(b)&r.mask == 0) == r.zero, known
}

// release removes a lock that a frame releases for its callers.
// If it is not known which, any may be.
func (l *heldLocks) release(r *lockRef, f *frame) {
	if r.via != nil {
		if h, ok := l.a.resolve(r, f); ok {
			l.remove(h)
		}
		return
	}
	lock, ok := r.lock.eval(f)
	if !ok {
		l.doubt(func(h *Held) bool { return h.Mode == r.mode })
		return
	}
	l.remove(Held{Lock: lock, Mode: r.mode})
}

func (l *heldLocks) remove(r Held) {
	kept := slices.DeleteFunc(l.list[l.first:],
		func(h Held) bool { return h.Mode == r.Mode && h.Lock == r.Lock })
	l.list = l.list[:l.first+len(kept)]
}

// again notes that a frame takes a lock, which callers may hold, for
// itself. In one frame, another goroutine may be meant to unlock it:
// the lock is a signal then.
func (l *heldLocks) again(lock uint64) {
	for i := range l.list[l.first:] {
		if h := &l.list[l.first+i]; h.Lock == lock {
			h.Again = true
		}
	}
}

// doubt makes locks that callers hold ones that are only not excluded.
func (l *heldLocks) doubt(which func(*Held) bool) {
	for i := range l.list[l.first:] {
		if h := &l.list[l.first+i]; which(h) {
			h.Certainty = Possible
		}
	}
}

// add adds a lock. Of two certainties about one lock, the
// greater one counts.
func (l *heldLocks) add(h Held) {
	i := slices.IndexFunc(l.list[l.first:],
		func(o Held) bool { return o.Lock == h.Lock && o.Mode == h.Mode })
	if i < 0 {
		l.list = append(l.list, h)
		return
	}
	o := &l.list[l.first+i]
	o.Certainty = min(o.Certainty, h.Certainty)
}

// registers returns access to the registers of a frame at an
// instruction; nil for a frame in a call.
func (a *Analyzer) registers(frames []unwind.Frame, i int, m Memory,
	innermost []uint64) func(int) (uint64, bool) {
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
	p := a.locksAt(inner, true)
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
		return Held{Lock: lock, Mode: r.mode}, ok
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
	return Held{Lock: lock + uint64(l.offset), Mode: l.mode}, l.locks
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

// soleEffect returns which lock of its receiver a method takes,
// or releases, as is wanted. It reports false if the method does
// not do that, or does more.
func (a *Analyzer) soleEffect(entry uint64, want lockChange) (locker, bool) {
	effects := a.callEffects(a.callee(entry))
	if len(effects) != 1 || effects[0].change != want || effects[0].lock == nil ||
		effects[0].under != nil {
		return locker{}, false
	}
	e := &effects[0]
	l, at := locker{mode: e.mode}, e.lock
	if at.kind == kAdd {
		l.offset, at = at.c, at.a
	}
	return l, at.kind == kEntry && machinecode.Reg(at.c) == a.machine.argument
}
