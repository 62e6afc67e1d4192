package syncflow

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A Mode is the way in which a lock is held.
type Mode uint8

const (
	Write Mode = iota // a sync.Mutex, or a sync.RWMutex by its writer
	Read              // a sync.RWMutex by a reader
)

// A lockName is a lock as values name it.
type lockName struct {
	lock value
	mode Mode
	// the table of methods of the interface by which it is taken
	// or released, as only a frame shows what that leads to;
	// else 0
	via value
	// call: lock is no lock, but the address of a function that
	// will be called, with via as its first argument. Which
	// locks that releases, only a frame shows.
	call bool
}

func (n lockName) compare(o lockName) int {
	return cmp.Or(cmp.Compare(n.lock, o.lock), cmp.Compare(n.mode, o.mode),
		cmp.Compare(n.via, o.via), cmp.Compare(btoi(n.call), btoi(o.call)))
}

// depends reports whether the name is made from a value.
func (n lockName) depends(vs *values, v value) bool {
	return vs.depends(n.lock, v) || vs.depends(n.via, v)
}

// A hold is a lock that is taken and not released yet: on all
// paths that lead here if there is no doubt, else on some.
type hold struct {
	lockName
	doubt Doubt
	under condition // if it is not none, it is held only if that is true
}

func (h *hold) sure() bool { return h.doubt == NoDoubt && h.under == condition{} }

// A release is a lock that was released without having been
// taken before. Its address can be unknown.
type release = lockName

type slot struct {
	off int64 // offset of a word from the stack pointer at entry
	v   value
}

// maxSlots bounds the words of the stack that are kept track of.
const maxSlots = 96

// A state is what is known before an instruction.
type state struct {
	regs     [machinecode.NumRegs]value
	slots    []slot // by offset
	bytes    []slot // of one byte each, likewise
	words    []word // what was stored to other memory since the last call
	holds    []hold
	released []release
	// what functions will release that are on the runtime's list
	// of deferred functions
	deferred []release
	swapped  value // address of the last atomic compare and swap since the last call, and
	added    value // of the last atomic addition that flow.atomics does not have

	called      []release   // of unknown functions, on every path
	facts       []condition // that are true here
	conditional []conditionalSlot
	tested      condition // what the last instruction has tested: true if it is zero
}

func (s *state) clone() *state {
	c := *s
	c.slots, c.holds, c.released = slices.Clone(s.slots), slices.Clone(s.holds),
		slices.Clone(s.released)
	c.words, c.deferred = slices.Clone(s.words), slices.Clone(s.deferred)
	c.bytes, c.facts = slices.Clone(s.bytes), slices.Clone(s.facts)
	c.conditional, c.called = slices.Clone(s.conditional), slices.Clone(s.called)
	return &c
}

// join makes s what is known if either path may have led here.
func (s *state) join(vs *values, o *state) {
	s.joinHolds(vs, o)
	s.facts = slices.DeleteFunc(s.facts, func(c condition) bool { return !o.isTrue(vs, c) })
	s.bytes = slices.DeleteFunc(s.bytes, func(b slot) bool { return o.byte(b.off) != b.v })
	s.called = slices.DeleteFunc(s.called,
		func(c release) bool { return !slices.Contains(o.called, c) })
	s.tested = condition{}
	for i, v := range s.regs {
		if v != o.regs[i] {
			s.regs[i] = 0
		}
	}
	s.slots = slices.DeleteFunc(s.slots, func(w slot) bool { return o.slot(w.off) != w.v })
	s.words = slices.DeleteFunc(s.words, func(w word) bool { return !slices.Contains(o.words, w) })
	s.deferred = slices.DeleteFunc(s.deferred,
		func(r release) bool { return !slices.Contains(o.deferred, r) })
	if s.swapped != o.swapped {
		s.swapped = 0
	}
	if s.added != o.added {
		s.added = 0
	}
	for _, r := range o.released {
		s.addRelease(r)
	}
}

func (s *state) equal(o *state) bool {
	return s.regs == o.regs && s.swapped == o.swapped && s.added == o.added &&
		slices.Equal(s.slots, o.slots) &&
		slices.Equal(s.holds, o.holds) && slices.Equal(s.released, o.released) &&
		slices.Equal(s.words, o.words) &&
		slices.Equal(s.deferred, o.deferred) && slices.Equal(s.bytes, o.bytes) &&
		slices.Equal(s.facts, o.facts) &&
		slices.Equal(s.conditional, o.conditional) && slices.Equal(s.called, o.called) &&
		s.tested == o.tested
}

// sort puts the locks in an order that does not depend on the
// paths that led here.
func (s *state) sort() {
	slices.SortFunc(s.holds, func(a, b hold) int { return a.compare(b.lockName) })
	slices.SortFunc(s.released, release.compare)
}

// indexOf returns the index of the same lock among those that
// may be held, -1 for none.
func (s *state) indexOf(n lockName) int {
	return slices.IndexFunc(s.holds, func(p hold) bool { return p.lockName == n })
}

func (s *state) find(lock value, m Mode) int {
	return slices.IndexFunc(s.holds,
		func(h hold) bool { return h.lock == lock && (h.mode == m || h.via != 0) })
}

// addRelease adds a release.
func (s *state) addRelease(r release) {
	if !slices.Contains(s.released, r) {
		s.released = append(s.released, r)
	}
}

// acquire takes a lock.
func (s *state) acquire(lock value, m Mode) {
	doubt := NoDoubt
	if lock == 0 {
		doubt = NoAddress
	}
	if i := s.find(lock, m); i >= 0 {
		s.holds[i].doubt, s.holds[i].under = min(s.holds[i].doubt, doubt), condition{}
		return
	}
	s.holds = append(s.holds, hold{lockName: lockName{lock: lock, mode: m}, doubt: doubt})
}

// maxVia bounds the calls of first methods of interfaces that
// are taken for Lock until a frame shows what they are.
const maxVia = 3

// acquireVia takes what may be a lock, by the first method of an
// interface.
func (s *state) acquireVia(lock, via value) {
	n := 0
	for i := range s.holds {
		switch h := &s.holds[i]; {
		case h.lock == lock && h.via == via:
			return
		case h.via != 0:
			n++
		}
	}
	if n < maxVia {
		s.holds = append(s.holds, hold{lockName: lockName{lock: lock, via: via}})
	}
}

// releaseVia releases it, by the second method. It reports
// whether it was taken.
func (s *state) releaseVia(lock, via value) bool {
	i := slices.IndexFunc(s.holds, func(h hold) bool { return h.lock == lock && h.via == via })
	if i >= 0 {
		s.holds = slices.Delete(s.holds, i, i+1)
	}
	return i >= 0
}

// release releases a lock. If none is held by that value, it is
// a lock that may be held, unless the caller of the function
// knows the lock by that value (foreign). Else it is a lock that
// the caller holds, or one that is held here by another value.
func (s *state) release(lock value, m Mode, foreign bool) {
	i := s.find(lock, m)
	if (i < 0 || lock == 0) && !foreign {
		i = slices.IndexFunc(s.holds, func(h hold) bool { return !h.sure() && h.mode == m })
	}
	if i >= 0 {
		s.holds = slices.Delete(s.holds, i, i+1)
		return
	}
	s.makeUnsure(OtherRelease, func(h *hold) bool { return h.mode == m })
	s.addRelease(release{lock: lock, mode: m})
}

// removeRetaken takes the locks out of a state that were
// released and taken again: the caller holds them as before.
func (s *state) removeRetaken() (lent []release) {
	s.released = slices.DeleteFunc(s.released, func(r release) bool {
		i := slices.IndexFunc(s.holds, func(h hold) bool {
			return h.sure() && h.via == 0 && r.via == 0 && h.lock != 0 && h.lock == r.lock &&
				h.mode == r.mode
		})
		if i >= 0 {
			s.holds = slices.Delete(s.holds, i, i+1)
			lent = append(lent, r)
		}
		return i >= 0
	})
	return lent
}

// makeUnsure makes holds unsure, for a reason.
func (s *state) makeUnsure(why Doubt, which func(*hold) bool) {
	for i := range s.holds {
		if h := &s.holds[i]; which(h) {
			h.doubt = max(h.doubt, why)
		}
	}
}

func (s *state) slotIndex(off int64) (int, bool) {
	return slices.BinarySearchFunc(s.slots, off,
		func(w slot, off int64) int { return cmp.Compare(w.off, off) })
}

func (s *state) slot(off int64) value {
	if i, ok := s.slotIndex(off); ok {
		return s.slots[i].v
	}
	return 0
}

// setSlot writes a word. Words that overlap it are unknown then.
func (s *state) setSlot(off int64, v value) {
	s.killSlots(off, off+8)
	if v == 0 || len(s.slots) >= maxSlots {
		return
	}
	i, _ := s.slotIndex(off)
	s.slots = slices.Insert(s.slots, i, slot{off, v})
}

// killSlots forgets the words that have bytes from one offset up
// to another.
func (s *state) killSlots(from, to int64) {
	i, _ := s.slotIndex(from - 7)
	j := i
	for j < len(s.slots) && s.slots[j].off < to {
		j++
	}
	s.slots = slices.Delete(s.slots, i, j)
	s.conditional = slices.DeleteFunc(s.conditional,
		func(w conditionalSlot) bool { return from-8 < w.off && w.off < to })
}

// forget makes every register, word and lock unknown whose value
// or address is computed from v, before v represents something
// else.
func (s *state) forget(vs *values, v value) {
	for i, w := range s.regs {
		if w >= v && vs.depends(w, v) {
			s.regs[i] = 0
		}
	}
	s.slots = slices.DeleteFunc(s.slots, func(w slot) bool { return vs.depends(w.v, v) })
	holds, released := s.holds, s.released
	s.holds, s.released = s.holds[:0], s.released[:0]
	for _, h := range holds {
		switch gone := h.depends(vs, v); {
		case gone && h.via != 0:
			continue // no frame shows any more whether it is a lock
		case gone:
			h.lock, h.doubt = 0, max(h.doubt, NoAddress)
		}
		if h.lock != 0 || s.find(0, h.mode) < 0 {
			s.holds = append(s.holds, h)
		}
	}
	for _, r := range released {
		switch gone := r.depends(vs, v); {
		case gone && r.via != 0:
			continue
		case gone:
			r.lock = 0
		}
		s.addRelease(r)
	}
	s.called = slices.DeleteFunc(s.called, func(r release) bool { return r.depends(vs, v) })
	s.words = slices.DeleteFunc(s.words, func(w word) bool {
		return vs.depends(w.at, v) || vs.depends(w.v, v)
	})
	s.deferred = slices.DeleteFunc(s.deferred, func(r release) bool { return r.depends(vs, v) })
	s.bytes = slices.DeleteFunc(s.bytes, func(b slot) bool { return vs.depends(b.v, v) })
	s.conditional = slices.DeleteFunc(s.conditional,
		func(w conditionalSlot) bool { return vs.depends(w.v, v) })
	s.dropConditions(func(c value) bool { return vs.depends(c, v) })
	if vs.depends(s.swapped, v) {
		s.swapped = 0
	}
	if vs.depends(s.added, v) {
		s.added = 0
	}
}
