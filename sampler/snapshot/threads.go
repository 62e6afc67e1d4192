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

// A callLooks asks the kernel whether threads run. Its files are kept open: opening one costs several times what
// reading it does.
type callLooks struct {
	files   map[int]halt.File // by thread
	threads int32             // of the target, counted now and then
	counted uint32            // the sample that did
	buf     [32]byte
}

func (c *callLooks) close() {
	for _, f := range c.files {
		f.Close()
	}
	c.files = nil
}

// running tells whether a thread is on a CPU or ready for one, rather than asleep in the kernel.
func (c *callLooks) running(pid, tid int) bool {
	f, open := c.files[tid]
	if !open {
		var err error
		if f, err = halt.OpenFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid)); err != nil {
			return false
		}
		if c.files == nil || len(c.files) >= maxKept {
			c.close()
			c.files = map[int]halt.File{}
		}
		c.files[tid] = f
	}
	n, err := f.ReadAt(c.buf[:], 0)
	if err != nil || n == 0 { // the thread ended
		f.Close()
		delete(c.files, tid)
		return false
	}
	return bytes.HasPrefix(c.buf[:n], []byte("running"))
}

// watch finds out which goroutines in system calls use a CPU, those that hold no processor: nobody halted them.
func (b *Backend) watch() {
	if every := uint32(50); b.looks.counted == 0 || b.number-b.looks.counted >= every {
		if tids, err := b.t.Threads(); err == nil {
			b.looks.threads, b.looks.counted = int32(len(tids)), b.number
		}
	}
	asked := 0
	for _, i := range b.changed {
		s := &b.table.slots[i]
		s.holds = false
		if s.head.status == goruntime.GSyscall && s.view == known && asked < maxAsked {
			b.ask(s)
			asked++
		}
	}
	n := len(b.inSyscall)
	if n == 0 {
		return
	}
	first := rand.IntN(n)
	for k := range min(n, maxRotated) {
		i := b.inSyscall[(first+k)%n]
		if s := &b.table.slots[i]; !b.touched(i) && s.view == known && s.head.status == goruntime.GSyscall {
			if was := s.busy; b.ask(s) != was || s.holds {
				b.touch(i)
			}
		}
	}
}

// ask looks at the thread of one goroutine in a system call.
func (b *Backend) ask(s *slot) bool {
	if s.tid == 0 {
		s.tid = b.threadOf(s.head.m)
	}
	s.busy = s.tid != 0 && b.looks.running(b.t.PID(), s.tid)
	s.holds = s.busy && b.holdsOld(s)
	return s.busy
}

// threadOf gives the number of the thread of an m, 0 where it can't be read.
func (b *Backend) threadOf(m uint64) int {
	if m == 0 || b.t.Read(m, b.mLook) != nil {
		return 0
	}
	return b.t.numbers.Outer(int(binary.LittleEndian.Uint64(b.mLook[b.t.l.M.ProcID:])))
}

// holdsOld tells whether a goroutine in a system call still has its processor, as the runtime kept it up to Go 1.25:
// the processor is marked as in a system call, and names no thread.
func (b *Backend) holdsOld(s *slot) bool {
	l, m := b.t.l, b.mLook
	if !l.M.OldP.Has() || !l.M.SyscallTick.Has() || !l.P.SyscallTick.Has() || b.t.Read(s.head.m, m) != nil {
		return false
	}
	old := binary.LittleEndian.Uint64(m[l.M.OldP:])
	for i := range b.capture.procs {
		p := &b.capture.procs[i]
		if p.addr == old && old != 0 && p.m == 0 && b.capture.status(p) == goruntime.PSyscall &&
			binary.LittleEndian.Uint32(m[l.M.SyscallTick:]) == binary.LittleEndian.Uint32(p.raw[l.P.SyscallTick:]) {
			p.g = s.addr
			return true
		}
	}
	return false
}

func (c *capture) status(p *processor) uint32 {
	return binary.LittleEndian.Uint32(p.raw[c.b.t.l.P.Status:])
}
