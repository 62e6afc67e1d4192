//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// Limits on what is read about goroutines in system calls and in
// C, in one sample.
const (
	maxAsked   = 256 // goroutines that got there since the previous sample
	maxRotated = 64  // goroutines that were there before: they take turns
	maxHalted  = 16  // threads that are halted to find out whether they wait for a CPU

	maxAsking = 200 * time.Microsecond // if late threads are to be waited for
)

// syscalls finds out which goroutines in system calls and in C
// use a CPU. The halt has not stopped their threads if they hold
// no processor. So they are asked right after the halt, before
// the sampler waits for late threads.
type syscalls struct {
	*goroutines
	states *threadStates
	m      []byte // the m of the current goroutine

	asked []int32 // slots of the goroutines whose threads this sample has asked
	// of those, the ones whose threads use a CPU, or are ready
	// for one, and were halted
	busy []*slot
	got  arrival // when the sampler got the CPU for the halt

	threads int32  // number of the target's threads, counted now and then
	counted uint32 // number of the sample that counted them
}

// ask asks the threads of goroutines that came into a system
// call since the previous sample, and of some of the others, as
// listed by the survey. If late threads are to be waited for, it
// does not ask for long.
func (y *syscalls) ask(c *capture, inSyscall []int32, late bool) {
	y.asked = y.asked[:0]
	end := time.Now().Add(maxAsking)
	more := func() bool { return len(y.asked) < maxAsked && !(late && time.Now().After(end)) }
	for i := range c.off {
		o := &c.off[i]
		if k, ok := y.table.index[o.addr]; ok && o.head.exists() &&
			o.head.status == goruntime.GSyscall && more() {
			y.askOne(k, &o.head)
		}
	}
	for _, i := range y.account.changed {
		if s := &y.table.slots[i]; y.inSyscall(s) && !c.sees(s.addr) && more() {
			y.askOne(i, &s.head)
		}
	}
	n := len(inSyscall)
	if n == 0 {
		return
	}
	first := rand.IntN(n)
	for k := range min(n, maxRotated) {
		i := inSyscall[(first+k)%n]
		s := &y.table.slots[i]
		if s.asked == y.account.number || !y.inSyscall(s) || c.sees(s.addr) ||
			late && time.Now().After(end) {
			continue
		}
		was := s.busy
		if y.askOne(i, &s.head); s.busy || was {
			y.markChanged(i)
		}
	}
}

// inSyscall reports whether a goroutine is in a system call, as
// far as its slot knows.
func (y *syscalls) inSyscall(s *slot) bool {
	return s.view == known && s.head.status == goruntime.GSyscall
}

// askOne finds out whether the thread of a goroutine in a system
// call uses a CPU. The head is the goroutine's at the halt.
func (y *syscalls) askOne(i int32, h *head) {
	s := &y.table.slots[i]
	if s.tid == 0 || y.otherThread(s, h) {
		s.tid = y.threadOf(h.m)
	}
	s.asked, s.turns, s.busy, s.late, s.verdict = y.account.number, turns{}, false, false, verdict{}
	if s.tid != 0 {
		s.turns = y.states.turns(s.tid)
		s.busy, _ = y.states.awake(s.tid)
	}
	y.asked = append(y.asked, i)
}

// update updates the goroutines from what their threads
// answered. Those that the halt has found on a processor are
// known already. It asks now for those that it could not ask
// before.
func (y *syscalls) update(ps *processors) {
	y.countThreads()
	for _, i := range y.account.changed {
		s := &y.table.slots[i]
		s.holds = false
		if y.inSyscall(s) && s.asked != y.account.number && len(y.asked) < maxAsked {
			y.askOne(i, &s.head)
		}
	}
	for _, i := range y.asked {
		if s := &y.table.slots[i]; y.inSyscall(s) {
			s.holds = s.busy && y.holdsProcessor(s, ps)
		}
	}
}

// countThreads counts the target's threads in the first sample,
// and then in one of fifty.
func (y *syscalls) countThreads() {
	if number := y.account.number; y.counted == 0 || number-y.counted >= 50 {
		if tids, err := y.t.Threads(); err == nil {
			y.threads, y.counted = int32(len(tids)), number
		}
	}
}

// findWaiting finds out which of the threads that use a CPU, or
// are ready for one, waited for it when the sampler woke: it
// halts them for a moment. This must come soon after the halt: a
// thread that has waited and run several times since tells
// nothing. The result is how long that took.
func (y *syscalls) findWaiting(h *halt.Halter, got arrival) (took time.Duration, err error) {
	y.busy = y.busy[:0]
	for _, i := range y.asked {
		if s := &y.table.slots[i]; s.busy && s.turns.number != 0 {
			y.busy = append(y.busy, s)
		}
	}
	if len(y.busy) == 0 {
		return 0, nil
	}
	if len(y.busy) > maxHalted { // halting many threads takes long, so only some are asked
		rand.Shuffle(len(y.busy), func(i, j int) { y.busy[i], y.busy[j] = y.busy[j], y.busy[i] })
		y.busy = y.busy[:maxHalted]
	}
	tids := make([]int, 0, maxHalted)
	for _, s := range y.busy {
		tids = append(tids, s.tid)
	}
	y.got = got
	took, err = h.Again(tids, y.stopped)
	for _, s := range y.busy {
		if s.late {
			if y.got.clock == 0 {
				y.got.readClock(y.states)
			}
			s.verdict = y.states.judge(s.tid, y.got)
		}
	}
	return took, err
}

// stopped takes note of a thread that was halted, if it is one
// of those that findWaiting has halted.
func (y *syscalls) stopped(th halt.Thread) {
	for _, s := range y.busy {
		switch {
		case s.tid != th.TID:
		case th.Late:
			s.late = true
		case s.late:
			s.noCPU = s.turns.lateWaited(y.states.turns(th.TID), s.verdict, time.Since(y.got.at))
		default:
			s.noCPU = s.turns.waitedUntil(y.states.turns(th.TID), time.Since(y.got.at))
		}
	}
}

// threadOf returns the thread id of an m; 0 if it can't be read.
func (y *syscalls) threadOf(m uint64) int {
	if m == 0 || y.t.Read(m, y.m) != nil {
		return 0
	}
	return y.t.numbers.Outer(int(binary.LittleEndian.Uint64(y.m[y.t.l.M.ProcID:])))
}

// holdsProcessor reports whether a goroutine in a system call
// still has its processor. Up to Go 1.25 the runtime leaves it
// there: the processor is marked as being in a system call, and
// names no thread.
func (y *syscalls) holdsProcessor(s *slot, ps *processors) bool {
	l := y.t.l
	if !l.M.OldP.Has() || !l.M.SyscallTick.Has() || !l.P.SyscallTick.Has() ||
		y.t.Read(s.head.m, y.m) != nil {
		return false
	}
	old, tick := binary.LittleEndian.Uint64(y.m[l.M.OldP:]),
		binary.LittleEndian.Uint32(y.m[l.M.SyscallTick:])
	for i := range ps.list {
		p := &ps.list[i]
		if p.addr == old && old != 0 && p.m == 0 && ps.status(p) == goruntime.PSyscall &&
			tick == binary.LittleEndian.Uint32(p.raw[l.P.SyscallTick:]) {
			p.g = s.addr
			return true
		}
	}
	return false
}
