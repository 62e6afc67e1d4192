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

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/go-delve/delve/pkg/proc/linutil"
	"golang.org/x/sys/unix"
)

const (
	haltLimit    = time.Second           // for all threads of one halt to stop
	reapAfter    = 2 * time.Millisecond  // time until the helper begins to reap dead threads
	pollInterval = 20 * time.Microsecond // between polls of threads that have not stopped yet
)

// A seizer halts a process with PTRACE_SEIZE and PTRACE_INTERRUPT, and
// detaches after each halt.
//
// Delve's own way of halting on Linux uses PTRACE_ATTACH and sends SIGTRAP
// and SIGSTOP to the target. It is not used here: if the sampler is killed
// during such a halt, the kernel delivers those signals, and the target dies
// or stays stopped. An interrupt is not a signal. If this process dies, the
// kernel lets the target continue at once.
type seizer struct {
	pid     int
	child   bool // child of this process: other code collects its exit status
	process *halt.Process
	reader  *halt.Reader
}

func newHalter(pid int, child bool) (halter, error) {
	p, err := halt.Open(pid)
	if err != nil {
		return nil, err
	}
	return &seizer{pid: pid, child: child, process: p, reader: p.NewReader()}, nil
}

func (s *seizer) close() error { return s.process.Close() }

func (s *seizer) entryPoint() (uint64, error) {
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", s.pid))
	if err != nil {
		return 0, err
	}
	return linutil.EntryPointFromAuxv(auxv, 8), nil
}

// identity consists of values that change with every exec: where the kernel
// put things, and the file.
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

// during halts on an OS thread of its own, since the kernel identifies a
// tracer by its thread. If the halt could not detach from every thread (one
// died or did not stop), that OS thread ends, and the kernel detaches it from
// all. When during returns, no thread of the target is traced.
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

	tid   int  // id of the tracing thread
	clean bool // whether it has detached from every thread
}

// A tracee is a thread that is traced.
type tracee struct {
	stopped bool
	signal  int // the signal that it was about to receive when it stopped
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
	h.clean = h.detachAll()
	h.took = time.Since(start)
	if h.clean {
		runtime.UnlockOSThread()
	}
	close(done)
}

// stop halts all threads. It repeats this until no new one appears.
func (h *tracing) stop(start time.Time) error {
	// Attaching waits for an exec in progress, and the exec waits until the
	// threads that died are reaped, which only this process can do. So
	// another thread reaps while this one is blocked.
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
		if err := h.awaitStops(start.Add(haltLimit)); err != nil {
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

// seizeNew attaches to the threads that have not been seen before.
func (h *tracing) seizeNew(seen map[int]bool) (fresh int, err error) {
	for _, tid := range tasks(h.pid) {
		if seen[tid] {
			continue
		}
		seen[tid] = true
		err := unix.PtraceSeize(tid)
		switch {
		case err == unix.EPERM &&
			h.isOurs(tid): // the process has executed another program meanwhile
		case err == unix.ESRCH, err == unix.EPERM && h.isDying(tid):
			continue
		case err != nil:
			return fresh, fmt.Errorf("halting thread %d: %w", tid, err)
		}
		h.held[tid] = &tracee{}
		fresh++
		// If the thread has died meanwhile, the wait finds out.
		_ = unix.PtraceInterrupt(tid)
	}
	return fresh, nil
}

// awaitStops waits until every traced thread has stopped or ended.
func (h *tracing) awaitStops(deadline time.Time) error {
	for {
		left := 0
		for tid, t := range h.held {
			if t.stopped {
				continue
			}
			ok, err := h.poll(tid, t)
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

// poll reports whether a thread has stopped or ended.
func (h *tracing) poll(tid int, t *tracee) (bool, error) {
	if tid == h.pid && h.child {
		// The child's exit status is for the code that launched it.
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
		return true, nil // killed while stopped; detaching finds out
	}
	if err != nil {
		return true, fmt.Errorf("reading registers of thread %d: %w", tid, err)
	}
	h.stopped = append(h.stopped, thread{id: tid, regs: regs, asleep: asleep})
	return true, nil
}

// detachAll detaches from every thread, and passes on the signal that the
// thread was about to receive. It returns false if it could not detach from
// all.
func (h *tracing) detachAll() bool {
	clean := true
	for tid, t := range h.held {
		if !t.stopped {
			clean = false
			continue
		}
		_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0,
			uintptr(t.signal), 0, 0)
		if errno != 0 {
			clean = false
		}
	}
	return clean
}

// reap removes traced threads of the target that have died. It ignores stops,
// and spares the process leader.
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

// exitCode returns the code that waitid would report for a thread, without
// consuming it. CLD_EXITED, CLD_KILLED and CLD_DUMPED are 1 to 3. 0 means
// that there is nothing to report. A larger code is a stop, which Linux
// reports to a tracer even if not asked for.
func exitCode(tid int) int32 {
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, tid, &info, unix.WEXITED|unix.WNOHANG|unix.WALL|unix.WNOWAIT,
		nil) != nil || info.Signo == 0 {
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

// tasks returns the thread ids of a process.
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
