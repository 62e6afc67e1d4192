//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// Bounds of what is asked of the kernel in one sample, about goroutines in system calls and in C.
const (
	maxAsked   = 256 // that came there since the sample before
	maxRotated = 64  // that were there before: each gets its turn
	maxKept    = 512 // open files of threads
)

// threadStates ask the kernel whether threads of the target run. Their files are kept open: opening one costs several times
// what reading it does.
type threadStates struct {
	pid   int
	files map[int]halt.File // by thread
	buf   [32]byte
}

func (t *threadStates) close() {
	for _, f := range t.files {
		f.Close()
	}
	t.files = nil
}

// running reports whether a thread is on a CPU or ready for one, rather than asleep in the kernel.
func (t *threadStates) running(tid int) bool {
	f, open := t.files[tid]
	if !open {
		var err error
		if f, err = halt.OpenFile(fmt.Sprintf("/proc/%d/task/%d/syscall", t.pid, tid)); err != nil {
			return false
		}
		if t.files == nil || len(t.files) >= maxKept {
			t.close()
			t.files = map[int]halt.File{}
		}
		t.files[tid] = f
	}
	n, err := f.ReadAt(t.buf[:], 0)
	if err != nil || n == 0 { // the thread ended
		f.Close()
		delete(t.files, tid)
		return false
	}
	return bytes.HasPrefix(t.buf[:n], []byte("running"))
}

// syscalls find out, after the halt, which goroutines in system calls and in C use a CPU. If they hold no processor, the halt
// has not stopped their threads.
type syscalls struct {
	*goroutines
	states *threadStates
	m      []byte // of the goroutine at hand

	threads int32  // of the target, counted now and then
	counted uint32 // the sample that did
}

// update asks about the goroutines that came into a system call since the sample before, and about some of the others, as the
// survey listed them.
func (y *syscalls) update(inSyscall []int32, ps *processors) {
	y.countThreads()
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
			if was := s.busy; y.ask(s, ps) != was || s.holds {
				y.markChanged(i)
			}
		}
	}
}

// countThreads counts the target's threads, in the first sample and then in one of fifty.
func (y *syscalls) countThreads() {
	if number := y.account.number; y.counted == 0 || number-y.counted >= 50 {
		if tids, err := y.t.Threads(); err == nil {
			y.threads, y.counted = int32(len(tids)), number
		}
	}
}

// ask asks about the thread of one goroutine in a system call.
func (y *syscalls) ask(s *slot, ps *processors) (busy bool) {
	if s.tid == 0 {
		s.tid = y.threadOf(s.head.m)
	}
	s.busy = s.tid != 0 && y.states.running(s.tid)
	s.holds = s.busy && y.holdsProcessor(s, ps)
	return s.busy
}

// threadOf returns the number of the thread of an m, 0 if it can't be read.
func (y *syscalls) threadOf(m uint64) int {
	if m == 0 || y.t.Read(m, y.m) != nil {
		return 0
	}
	return y.t.numbers.Outer(int(binary.LittleEndian.Uint64(y.m[y.t.l.M.ProcID:])))
}

// holdsProcessor reports whether a goroutine in a system call still has its processor, as the runtime kept it up to Go 1.25:
// the processor is marked as in a system call, and names no thread.
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
