//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/perfevent"
)

// breakpoints are instruments of the processor. Each thread has
// its own, and the threads that it starts inherit them. They
// count.
type breakpoints struct {
	pid int

	mu    sync.Mutex
	fds   map[uint64][]int  // by address: one of each thread that there was
	final map[uint64]uint64 // hits of those that were taken out
}

// maxBreakpoints is the number of breakpoints of a processor.
const maxBreakpoints = 4

func openBreakpoints(pid int) (*breakpoints, error) {
	if err := tryBreakpoint(); err != nil {
		return nil, err
	}
	return &breakpoints{pid: pid, fds: map[uint64][]int{}, final: map[uint64]uint64{}}, nil
}

// tryBreakpoint counts calls in this process: some virtual machines accept
// breakpoints that never fire.
func tryBreakpoint() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pc := uint64(reflect.ValueOf(calibrated).Pointer())
	fd, err := setBreakpoint(unix.Gettid(), pc)
	if err != nil {
		return refusedBreakpoint(err)
	}
	own := breakpoints{fds: map[uint64][]int{pc: {fd}}, final: map[uint64]uint64{}}
	defer own.close()
	if timeCalls(); own.hits(pc) == 0 {
		return errors.New("the processor's breakpoints never fire here: the virtual machine does not pass them on")
	}
	return nil
}

func (b *breakpoints) instrument() sampledata.Instrument { return sampledata.Breakpoint }

// attach sets breakpoints in all threads.
func (b *breakpoints) attach(places []uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, pc := range places {
		if err := b.set(pc); err != nil {
			b.remove(places[:i])
			return err
		}
	}
	return nil
}

func (b *breakpoints) set(pc uint64) error {
	if len(b.fds) == maxBreakpoints {
		return fmt.Errorf("the processor has only %d breakpoints, and uprobes are not permitted",
			maxBreakpoints)
	}
	fds, all, err := perfevent.InThreads(b.pid, func(tid int) (int, error) {
		fd, err := setBreakpoint(tid, pc)
		if err != nil {
			err = refusedBreakpoint(err)
		}
		return fd, err
	})
	if err != nil {
		return err
	}
	if !all {
		perfevent.CloseAll(fds)
		return errors.New("the program starts threads faster than breakpoints can be set in them")
	}
	b.fds[pc] = fds
	return nil
}

func setBreakpoint(tid int, pc uint64) (int, error) {
	const execution = 4 // HW_BREAKPOINT_X
	length := uint64(unsafe.Sizeof(uintptr(0)))
	if runtime.GOARCH == "arm64" {
		length = 4
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_BREAKPOINT, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bp_type: execution, Ext1: pc, Ext2: length,
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	return unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// refusedBreakpoint adds to an error what a person can do about it.
func refusedBreakpoint(err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return errors.New("breakpoints of the processor are not permitted: run cpprof as the program's user with " +
			"kernel.perf_event_paranoid at most 2 (sudo sysctl kernel.perf_event_paranoid=2); a container must allow the call perf_event_open")
	case errors.Is(err, unix.ENOSPC):
		return errors.New("all breakpoints of the processor are taken: end the debugger, or the other cpprof, that has them")
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENOENT):
		return errors.New("the processor has no breakpoints, or the virtual machine does not pass them on")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("the program has too many threads for the limit of open files (ulimit -n): %w", err)
	}
	return fmt.Errorf("breakpoints of the processor: %w", err)
}

func (b *breakpoints) detach(places []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(places)
}

func (b *breakpoints) remove(places []uint64) {
	for _, pc := range places {
		for _, fd := range b.fds[pc] {
			unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_DISABLE, 0)
		}
		b.final[pc] = b.sum(pc)
		perfevent.CloseAll(b.fds[pc])
		delete(b.fds, pc)
	}
}

// takeOut removes all. Nothing is written into a program, and so
// nothing can be left.
func (b *breakpoints) takeOut(func(int)) (left []uint64, sure bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(slices.Collect(maps.Keys(b.fds)))
	return nil, true
}

func (b *breakpoints) removal(int, int) time.Duration { return 0 }

func (b *breakpoints) hits(pc uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sum(pc)
}

// sum adds up the counters of all threads. The kernel adds the
// counters of a thread that ends to its creator's.
func (b *breakpoints) sum(pc uint64) uint64 {
	n := b.final[pc]
	var buffer [8]byte
	for _, fd := range b.fds[pc] {
		if got, err := unix.Read(fd, buffer[:]); err == nil && got == len(buffer) {
			n += binary.NativeEndian.Uint64(buffer[:])
		}
	}
	return n
}

func (b *breakpoints) drain(func(*hit)) (until uint64) { return monotonic() }

func (b *breakpoints) lost() uint64 { return 0 }

func (b *breakpoints) close() error {
	b.takeOut(nil)
	return nil
}

// cost measures what a hit costs on a thread of this process.
func (b *breakpoints) cost() (c costs) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := setBreakpoint(unix.Gettid(), uint64(reflect.ValueOf(calibrated).Pointer()))
	if err != nil {
		return c
	}
	defer unix.Close(fd)
	return costs{entry: timeCalls()}
}
