package lockholder

import "strings"

// An effect that a function of package sync has on a lock.
type does uint8

const (
	takes does = iota + 1
	gives
	lends // gives it back, and takes it again before it returns
)

// An event is what an atomic instruction does to a lock where a function of package sync is inlined.
type event struct {
	does  does
	mode  Mode
	field int64 // where the memory that the instruction changes lies in the lock
}

// Places of fields in sync.RWMutex, the same in Go 1.21 to 1.27. Its first field is the Mutex of the writers; that one's
// first is its state.
const (
	readerSem   = 12
	readerCount = 16
)

// inlined are the functions whose atomic instruction takes or gives back a lock.
var inlined = map[string]event{
	"sync.(*Mutex).Unlock":          {gives, Write, 0},
	"internal/sync.(*Mutex).Unlock": {gives, Write, 0},
	"sync.(*RWMutex).RLock":         {takes, Read, readerCount},
	"sync.(*RWMutex).RUnlock":       {gives, Read, readerCount},
}

// A role is what a called function is to the analysis.
type role uint8

const (
	roleOther       role = iota
	roleLock             // takes the lock at its first argument
	roleLockSlow         // the same: the slow path of Lock
	roleUnlock           // gives it back
	roleRLock            // the same for a reader
	roleRUnlock          // gives it back
	roleReadSlow         // RLock waits for the writer: its argument is the lock's semaphore
	roleUnlockSlow       // without an effect here: the fast path had it
	roleRUnlockSlow      // the same
	roleSend             // sends to the channel at its first argument
	roleReceive          // receives from it
	roleSelect           // does one of the cases that its arguments tell
	roleDone             // calls off one that the group at its first argument waits for
	roleAdd              // does so if its second is below 0
	roleSignal           // wakes those who wait for the condition at its first argument
	roleGroupWait        // waits for a group
	roleCondWait         // waits for a condition, and gives back a lock meanwhile
	roleStops            // does not return here
	roleUnwinds          // runs deferred functions, which may give back locks
	roleBarrier          // keeps registers
	roleDuff             // writes to the frame
	roleSemacquire       // waits for the semaphore at its first argument
	roleSudog            // gives what the runtime waits for one with
)

var roles = map[string]role{
	"sync.(*Mutex).Lock":                roleLock,
	"internal/sync.(*Mutex).Lock":       roleLock,
	"sync.(*RWMutex).Lock":              roleLock,
	"sync.(*Mutex).lockSlow":            roleLockSlow,
	"internal/sync.(*Mutex).lockSlow":   roleLockSlow,
	"sync.(*Mutex).Unlock":              roleUnlock,
	"internal/sync.(*Mutex).Unlock":     roleUnlock,
	"sync.(*RWMutex).Unlock":            roleUnlock,
	"sync.(*RWMutex).RLock":             roleRLock,
	"sync.(*RWMutex).RUnlock":           roleRUnlock,
	"sync.runtime_SemacquireRWMutexR":   roleReadSlow,
	"sync.(*Mutex).unlockSlow":          roleUnlockSlow,
	"internal/sync.(*Mutex).unlockSlow": roleUnlockSlow,
	"sync.(*RWMutex).rUnlockSlow":       roleRUnlockSlow,
	"sync.(*WaitGroup).Done":            roleDone,
	"sync.(*WaitGroup).Add":             roleAdd,
	"sync.(*WaitGroup).Wait":            roleGroupWait,
	"sync.(*Cond).Signal":               roleSignal,
	"sync.(*Cond).Broadcast":            roleSignal,
	"sync.(*Cond).Wait":                 roleCondWait,
	"runtime.chansend1":                 roleSend,
	"runtime.selectnbsend":              roleSend,
	"runtime.chanrecv1":                 roleReceive,
	"runtime.chanrecv2":                 roleReceive,
	"runtime.selectnbrecv":              roleReceive,
	"runtime.selectgo":                  roleSelect,
	"runtime.gopanic":                   roleStops,
	"runtime.throw":                     roleStops,
	"runtime.fatal":                     roleStops,
	"runtime.goPanicValue":              roleStops,
	"runtime.Goexit":                    roleUnwinds,
	"runtime.deferreturn":               roleUnwinds,
	"runtime.wbZero":                    roleBarrier,
	"runtime.wbMove":                    roleBarrier,
	"runtime.semacquire1":               roleSemacquire,
	"runtime.acquireSudog":              roleSudog,
}

// isSlow tells whether a function is what an inlined one calls where its atomic instruction is not enough.
func (r role) isSlow() bool {
	return r == roleLockSlow || r == roleUnlockSlow || r == roleRUnlockSlow || r == roleReadSlow
}

// roleOf gives the role of a function by its name.
func roleOf(name string) role {
	if r, ok := roles[name]; ok {
		return r
	}
	rest, ok := strings.CutPrefix(name, "runtime.")
	switch {
	case !ok:
	case strings.HasPrefix(rest, "morestack"), strings.HasPrefix(rest, "panic"), strings.HasPrefix(rest, "goPanic"):
		return roleStops
	case strings.HasPrefix(rest, "gcWriteBarrier"):
		return roleBarrier
	case strings.HasPrefix(rest, "duff"):
		return roleDuff
	}
	return roleOther
}

// call brings a state past a call, or past a jump out of the function.
func (w *flow) call(s *state, x *instr) {
	target, to := w.target(s, x)
	m := w.a.machine
	kills := ^m.kept
	var result value
	if target == 0 {
		w.callUnknown(s, to)
	} else {
		c := w.a.callee(target)
		switch c.role {
		case roleBarrier:
			w.kill(s, m.barrier)
			return
		case roleDuff:
			s.slots = s.slots[:0]
			w.kill(s, m.duff)
			return
		case roleSudog:
			result = w.sudog(x)
			s.forget(w.values, result)
		}
		w.effects(s, c)
	}
	w.kill(s, kills)
	if result != 0 {
		s.regs[m.argument] = result
	}
	s.swapped, s.added = 0, 0
	for off := range w.taken {
		if v := s.slot(off); v != 0 && w.values.nodes[v].kind != kConst {
			s.killSlots(off, off+8)
		}
	}
}

// target gives the address that a call goes to, 0 where it isn't known; of an indirect one also the address's value.
func (w *flow) target(s *state, x *instr) (uint64, value) {
	if !x.indirect {
		return x.target, 0
	}
	to := w.callee(s, x)
	if n := w.values.nodes[to]; n.kind == kConst {
		return uint64(n.c), to
	}
	return x.target, to
}

// sudog names what a call of roleSudog gives.
func (w *flow) sudog(x *instr) value { return w.values.named(x.pc, resultName) }

// callee gives the address that an indirect call goes to.
func (w *flow) callee(s *state, x *instr) value {
	at := w.address(s, x)
	if x.a.inMemory {
		return w.word(s, x, at, 0)
	}
	return at
}

// callUnknown takes a call of a function that is not known. A closure may give back any lock (unlock := s.lock()); a
// method of an interface only the one that it is called for, with all that lies in the same thing.
func (w *flow) callUnknown(s *state, to value) {
	m := w.a.machine
	n := w.values.nodes[to]
	closure := s.regs[m.closure]
	if to == 0 || n.kind != kLoad || n.a == closure && closure != 0 {
		s.doubt(func(*hold) bool { return true })
		return
	}
	table, method := w.values.split(n.a)
	thing := s.regs[m.argument]
	if thing != 0 && method == secondMethod && s.releaseVia(thing, table) {
		return
	}
	receiver, _ := w.values.split(thing)
	s.doubt(func(h *hold) bool {
		base, _ := w.values.split(h.lock)
		return receiver == 0 || base == receiver
	})
	if thing != 0 && method == firstMethod {
		s.acquireVia(thing, table)
	}
}

// Places of methods in an interface's table (runtime.itab.fun), the same in Go 1.21 to 1.27. Those of sync.Locker are Lock
// and Unlock.
const (
	firstMethod  = 24
	secondMethod = 32
)

// effects applies what a known function does to locks.
func (w *flow) effects(s *state, c *function) {
	arg := s.regs[w.a.machine.argument]
	switch c.role {
	case roleLock, roleLockSlow:
		s.acquire(arg, Write, true)
	case roleUnlock:
		w.release(s, arg, Write)
	case roleRLock:
		s.acquire(arg, Read, true)
	case roleRUnlock:
		w.release(s, arg, Read)
	case roleUnwinds:
		s.doubt(func(*hold) bool { return true })
	case roleOther:
		for _, e := range w.a.effectsOf(c, w.depth+1) {
			lock := w.substitute(s, e.lock)
			switch e.does {
			case takes:
				s.acquire(lock, e.mode, true)
			case gives:
				w.release(s, lock, e.mode)
			}
		}
	}
}

// during makes the state before a call that of the time until the call returns. Where a callee runs deferred functions
// or waits for a sync.Cond, its own frame tells.
func (w *flow) during(s *state, x *instr) {
	if x.op != opCall || x.indirect {
		return
	}
	arg := s.regs[w.a.machine.argument]
	c := w.a.callee(x.target)
	switch c.role {
	case roleUnlock:
		w.release(s, arg, Write)
	case roleRUnlock:
		w.release(s, arg, Read)
	case roleReadSlow:
		w.release(s, w.values.add(arg, -readerSem), Read)
	case roleOther:
		for _, e := range w.a.effectsOf(c, w.depth+1) {
			if e.does != takes {
				w.release(s, w.substitute(s, e.lock), e.mode)
			}
		}
	}
}
