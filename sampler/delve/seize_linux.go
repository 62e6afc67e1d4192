//go:build amd64 || arm64

package delve

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/go-delve/delve/pkg/proc/linutil"
	"golang.org/x/sys/unix"
)

const (
	haltLimit    = time.Second           // for all of one halt's threads to stop
	reapAfter    = 2 * time.Millisecond  // until the helper begins to collect dead threads
	pollInterval = 20 * time.Microsecond // between looks at threads that have not stopped yet
)

// A seizer halts a process with PTRACE_SEIZE and PTRACE_INTERRUPT and detaches after each halt.
//
// Delve's own way of halting (PTRACE_ATTACH, and SIGTRAP and SIGSTOP sent to the target) is not used on Linux: when the
// sampler is killed during such a halt, the kernel hands those signals on, and the target dies or stays stopped. An
// interrupt is not a signal. If this process dies, the kernel lets the target go at once.
type seizer struct {
	pid   int
	child bool // its exit status is collected elsewhere
}

func newHalter(pid int, child bool) (halter, error) { return &seizer{pid: pid, child: child}, nil }

func (s *seizer) close() error { return nil }

func (s *seizer) entryPoint() (uint64, error) {
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", s.pid))
	if err != nil {
		return 0, err
	}
	return linutil.EntryPointFromAuxv(auxv, 8), nil
}

// identity is made of what every exec changes: where the kernel put things, and the file.
func (s *seizer) identity() (string, error) {
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", s.pid))
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/exe", s.pid), &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d:%d:%s", st.Dev, st.Ino, auxv), nil
}

// during does its work on a thread of its own, since the kernel knows a tracer by its thread. If a halt did not end in
// order (a thread died or would not stop), that thread ends, and the kernel lets go of all that it traced. When during
// returns, nothing of the target is traced.
func (s *seizer) during(f func([]thread) error) (time.Duration, error) {
	h := &tracing{seizer: s, held: map[int]*tracee{}}
	done := make(chan struct{})
	go h.onOwnThread(f, done)
	<-done
	if !h.clean {
		h.err = errors.Join(h.err, halt.AwaitThreadEnd(h.tid))
	}
	return h.took, h.err
}

// A tracing is one halt of the process.
type tracing struct {
	*seizer
	held    map[int]*tracee
	stopped []thread
	took    time.Duration
	err     error

	tid   int  // of the tracing thread
	clean bool // it traces nothing any more
}

// A tracee is a thread that we hold.
type tracee struct {
	stopped bool
	signal  int // that it was about to take when it stopped
}

func (h *tracing) onOwnThread(f func([]thread) error, done chan<- struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The main thread does not end with its goroutine.
		inner := make(chan struct{})
		go h.onOwnThread(f, inner)
		<-inner
		runtime.UnlockOSThread()
		close(done)
		return
	}
	h.tid = unix.Gettid()
	start := time.Now()
	h.err = h.stop(start)
	if h.err == nil {
		h.err = f(h.stopped)
	}
	h.clean = h.letGo()
	h.took = time.Since(start)
	if h.clean {
		runtime.UnlockOSThread()
	}
	close(done)
}

// stop halts one thread after the other until no new one appears.
func (h *tracing) stop(start time.Time) error {
	// Attaching waits for an exec in progress, and that exec for dead threads that only we can collect. Another thread
	// of ours does so while this one is stuck.
	var over atomic.Bool
	helper := time.AfterFunc(reapAfter, func() {
		for !over.Load() {
			h.reap()
			time.Sleep(time.Millisecond)
		}
	})
	defer helper.Stop()
	defer over.Store(true)

	seen := map[int]bool{}
	for {
		fresh, err := h.seizeNew(seen)
		if err != nil {
			return err
		}
		if err := h.await(start.Add(haltLimit)); err != nil {
			return err
		}
		if fresh == 0 {
			break
		}
	}
	if len(h.stopped) == 0 {
		return errGone
	}
	return nil
}

// seizeNew takes hold of the threads that were not seen before.
func (h *tracing) seizeNew(seen map[int]bool) (fresh int, err error) {
	for _, tid := range tasks(h.pid) {
		if seen[tid] {
			continue
		}
		seen[tid] = true
		err := unix.PtraceSeize(tid)
		switch {
		case err == unix.EPERM && h.isOurs(tid): // the process has executed a program meanwhile
		case err == unix.ESRCH, err == unix.EPERM && h.isDying(tid):
			continue
		case err != nil:
			return fresh, fmt.Errorf("halting thread %d: %w", tid, err)
		}
		h.held[tid] = &tracee{}
		fresh++
		// A thread that died meanwhile is met when it is waited for.
		_ = unix.PtraceInterrupt(tid)
	}
	return fresh, nil
}

// await waits until every thread held has stopped, or is gone.
func (h *tracing) await(deadline time.Time) error {
	for {
		left := 0
		for tid, t := range h.held {
			if t.stopped {
				continue
			}
			ok, err := h.look(tid, t)
			if err != nil {
				return err
			}
			if !ok {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d threads did not stop within %v", left, haltLimit)
		}
		nap := unix.NsecToTimespec(int64(pollInterval))
		unix.Nanosleep(&nap, nil)
	}
}

// look sees whether a thread has stopped or gone.
func (h *tracing) look(tid int, t *tracee) (bool, error) {
	if tid == h.pid && h.child {
		// The child's exit status belongs to who launched it.
		if code := exitCode(tid); code > 0 && code <= 3 {
			return false, errGone
		}
	}
	var ws unix.WaitStatus
	got, err := unix.Wait4(tid, &ws, unix.WALL|unix.WNOHANG, nil)
	switch {
	case err == unix.EINTR || err == nil && got == 0:
		return false, nil
	case err != nil || ws.Exited() || ws.Signaled():
		delete(h.held, tid)
		return true, nil
	}
	t.stopped = true
	if int(ws)>>16 != unix.PTRACE_EVENT_STOP {
		t.signal = int(ws.StopSignal())
	}
	regs, asleep, err := readRegisters(tid)
	if err == unix.ESRCH {
		return true, nil // killed while stopped; letting go finds out
	}
	if err != nil {
		return true, fmt.Errorf("reading registers of thread %d: %w", tid, err)
	}
	h.stopped = append(h.stopped, thread{id: tid, regs: regs, asleep: asleep})
	return true, nil
}

// letGo detaches from every thread, handing on the signal that it was about to take. False: some could not be let go.
func (h *tracing) letGo() bool {
	clean := true
	for tid, t := range h.held {
		if !t.stopped {
			clean = false
			continue
		}
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(t.signal), 0, 0)
		if errno != 0 {
			clean = false
		}
	}
	return clean
}

// reap collects threads of the target that died in our hands. It takes no notice of stops, and leaves the process itself.
func (h *tracing) reap() {
	for _, tid := range tasks(h.pid) {
		if tid == h.pid {
			continue
		}
		if code := exitCode(tid); code > 0 && code <= 3 {
			var ws unix.WaitStatus
			unix.Wait4(tid, &ws, unix.WALL|unix.WNOHANG, nil)
		}
	}
}

// exitCode peeks at what a thread's state would be reported as: CLD_EXITED, CLD_KILLED and CLD_DUMPED are 1 to 3,
// 0 is nothing, and more is a stop, which Linux reports to a tracer whatever it asks for.
func exitCode(tid int) int32 {
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, tid, &info, unix.WEXITED|unix.WNOHANG|unix.WALL|unix.WNOWAIT, nil) != nil || info.Signo == 0 {
		return 0
	}
	return info.Code
}

func (h *tracing) isOurs(tid int) bool {
	tracer := statusField(h.pid, tid, "TracerPid:")
	return tracer == strconv.Itoa(unix.Gettid()) || tracer == strconv.Itoa(os.Getpid())
}

func (h *tracing) isDying(tid int) bool {
	s := statusField(h.pid, tid, "State:")
	return s == "" || s[0] == 'Z' || s[0] == 'X'
}

func statusField(pid, tid int, name string) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	for line := range bytes.Lines(b) {
		if v, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// tasks lists the threads of a process.
func tasks(pid int) []int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	tids := make([]int, 0, len(names))
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// maxVector is how many spans the kernel takes in one call.
const maxVector = 1024

func (s *seizer) read(spans []span) {
	local := make([]unix.Iovec, 0, min(len(spans), maxVector))
	remote := make([]unix.RemoteIovec, 0, cap(local))
	for len(spans) > 0 {
		local, remote = local[:0], remote[:0]
		n := min(len(spans), maxVector)
		for i := range spans[:n] {
			if len(spans[i].data) == 0 {
				n = i + 1
				break
			}
			v := unix.Iovec{Base: &spans[i].data[0]}
			v.SetLen(len(spans[i].data))
			local = append(local, v)
			remote = append(remote, unix.RemoteIovec{Base: uintptr(spans[i].addr), Len: len(spans[i].data)})
		}
		got := 0
		if len(local) > 0 {
			got, _ = unix.ProcessVMReadv(s.pid, local, remote, 0)
		}
		spans = spans[trim(spans[:n], max(got, 0)):]
	}
}

// trim cuts the spans to what a vectored read of got bytes filled of them, and returns how many spans need no other read: a read
// ends at the first page that is not there.
func trim(spans []span, got int) int {
	for i := range spans {
		if len(spans[i].data) > got {
			spans[i].data = spans[i].data[:got]
			return i + 1
		}
		got -= len(spans[i].data)
	}
	return len(spans)
}
