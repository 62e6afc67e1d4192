//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// Limits on what is read about goroutines in system calls and in C, in one sample.
const (
	maxAsked   = 256 // goroutines that got there since the previous sample
	maxRotated = 64  // goroutines that were there before: they take turns
	maxHalted  = 16  // threads that are halted to find out whether they wait for a CPU
)

// syscalls finds out, after the halt, which goroutines in system calls and in C use a CPU. The halt has not stopped their
// threads if they hold no processor.
type syscalls struct {
	*goroutines
	states *threadStates
	m      []byte // the m of the current goroutine

	busy []busyThread // threads that use a CPU, or are ready for one

	threads int32  // number of the target's threads, counted now and then
	counted uint32 // number of the sample that counted them
}

// update checks the goroutines that came into a system call since the previous sample, and some of the others, as listed
// by the survey.
func (y *syscalls) update(inSyscall []int32, ps *processors) {
	y.countThreads()
	y.busy = y.busy[:0]
	asked := 0
	for _, i := range y.account.changed {
		s := &y.table.slots[i]
		s.holds = false
		if s.head.status == goruntime.GSyscall && s.view == known && asked < maxAsked {
			y.ask(s, ps)
			asked++
		}
	}
	n := len(inSyscall)
	if n == 0 {
		return
	}
	first := rand.IntN(n)
	for k := range min(n, maxRotated) {
		i := inSyscall[(first+k)%n]
		if s := &y.table.slots[i]; !y.isChanged(i) && s.view == known && s.head.status == goruntime.GSyscall {
			if was := s.busy; y.ask(s, ps) || was {
				y.markChanged(i)
			}
		}
	}
}

// countThreads counts the target's threads in the first sample, and then in one of fifty.
func (y *syscalls) countThreads() {
	if number := y.account.number; y.counted == 0 || number-y.counted >= 50 {
		if tids, err := y.t.Threads(); err == nil {
			y.threads, y.counted = int32(len(tids)), number
		}
	}
}

// ask finds out whether the thread of a goroutine in a system call uses a CPU.
func (y *syscalls) ask(s *slot, ps *processors) (busy bool) {
	if s.tid == 0 {
		s.tid = y.threadOf(s.head.m)
	}
	var counts turns
	if s.tid != 0 {
		counts = y.states.turns(s.tid)
	}
	s.busy, s.noCPU = s.tid != 0 && y.states.running(s.tid), false
	if s.busy && counts.number != 0 && s.view != running {
		y.busy = append(y.busy, busyThread{s, counts})
	}
	s.holds = s.busy && y.holdsProcessor(s, ps)
	return s.busy
}

// A busyThread is the thread of a goroutine in a system call or in C, if it is on a CPU or ready for one.
type busyThread struct {
	s     *slot
	turns turns
}

// findWaiting finds out which of the busy threads waited for a CPU: it halts them for a moment, and leaves it at that. The
// sampler has had its CPU since it woke. The result is how long the halt took.
func (y *syscalls) findWaiting(h *halt.Halter, woke time.Time) (halt.Halt, error) {
	if len(y.busy) == 0 {
		return halt.Halt{}, nil
	}
	if len(y.busy) > maxHalted { // halting many threads takes long, so only some are asked
		rand.Shuffle(len(y.busy), func(i, j int) { y.busy[i], y.busy[j] = y.busy[j], y.busy[i] })
		y.busy = y.busy[:maxHalted]
	}
	stopped := func(th halt.Thread) {
		for _, b := range y.busy {
			if b.s.tid == th.TID {
				b.s.noCPU = th.Late || b.turns.waitedUntil(y.states.turns(th.TID), time.Since(woke))
			}
		}
	}
	return h.Halt(time.Time{}, lateLimit, func(halted *halt.Halted) error {
		tids := make([]int, 0, len(y.busy))
		for _, b := range y.busy {
			tids = append(tids, b.s.tid)
		}
		threads, err := halted.Threads(tids)
		for _, th := range threads {
			stopped(th)
		}
		return err
	}, stopped)
}

// threadOf returns the thread id of an m; 0 if it can't be read.
func (y *syscalls) threadOf(m uint64) int {
	if m == 0 || y.t.Read(m, y.m) != nil {
		return 0
	}
	return y.t.numbers.Outer(int(binary.LittleEndian.Uint64(y.m[y.t.l.M.ProcID:])))
}

// holdsProcessor reports whether a goroutine in a system call still has its processor. Up to Go 1.25 the runtime leaves
// it there: the processor is marked as being in a system call, and names no thread.
func (y *syscalls) holdsProcessor(s *slot, ps *processors) bool {
	l := y.t.l
	if !l.M.OldP.Has() || !l.M.SyscallTick.Has() || !l.P.SyscallTick.Has() || y.t.Read(s.head.m, y.m) != nil {
		return false
	}
	old, tick := binary.LittleEndian.Uint64(y.m[l.M.OldP:]), binary.LittleEndian.Uint32(y.m[l.M.SyscallTick:])
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
