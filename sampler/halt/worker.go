//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A worker is the OS thread that traces a process: the kernel
// accepts ptrace requests from the tracing thread only.
type worker struct {
	pid      int
	tid      int // id of the worker's OS thread
	requests chan request
	quit     chan struct{}
	ended    chan struct{}

	priority *priority
	stats    ThreadFiles // their stat files
	reaper   reaper
	alarm    timer  // interrupts system calls that last long
	guard    timer  // kills this process
	halted   Halted // reused by every halt
	pinned   bool

	mu     sync.Mutex // guards the thread ids in traced, which the reaper reads; taken with lock
	traced []tracee   // the threads that this worker traces or may trace

	// Set if a tracee ended or is not found under its id. It may
	// have executed another program, and may now be traced under
	// the id of the process leader.
	vanished bool
}

// A request is one call of Process.Do.
type request struct {
	f    func()
	done chan struct{}
}

// maxStats is the number of threads whose stat files are kept open.
const maxStats = 256

func startWorker(pid int) *worker {
	w := &worker{
		pid:      pid,
		stats:    NewThreadFiles(pid, maxStats, "stat"),
		requests: make(chan request),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
	}
	ignoreStops()
	w.reaper.init(w)
	ready := make(chan struct{})
	go OnEndingThread(func() { w.run(ready) })
	<-ready
	return w
}

// stop ends the worker, and returns when the kernel has detached
// it from all its tracees.
func (w *worker) stop() error {
	close(w.quit)
	<-w.ended
	if err := AwaitThreadEnd(w.tid); err != nil {
		return fmt.Errorf("detaching from process %d: %w", w.pid, err)
	}
	return nil
}

// threadEnd is far longer than an OS thread takes to end, even
// on a busy machine.
const threadEnd = 10 * time.Second

// AwaitThreadEnd waits until an OS thread of the sampler has
// ended. By then the kernel has detached it from all its
// tracees.
func AwaitThreadEnd(tid int) error {
	for end := time.Now().Add(threadEnd); ; time.Sleep(50 * time.Microsecond) {
		if unix.Tgkill(unix.Getpid(), tid, 0) == unix.ESRCH {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the tracing thread %d does not end", tid)
		}
	}
}

// run is the main loop of the worker: it serves requests, and
// between them detaches from the threads that it owes that.
func (w *worker) run(ready chan struct{}) {
	w.tid = unix.Gettid()
	// Without this, a sleep of 10 µs takes an ordinary thread 60 µs.
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.priority = newPriority()
	w.alarm = newAlarm()
	defer w.alarm.close()
	w.guard = newGuard()
	defer w.guard.close()
	defer close(w.ended)
	defer w.stats.Close()
	close(ready)
	for {
		var owed <-chan time.Time
		if len(w.traced) > 0 {
			owed = time.After(500 * time.Microsecond)
		}
		select {
		case r := <-w.requests:
			r.f()
			close(r.done)
		case <-owed:
			w.detachOwed()
		case <-w.quit:
			return // and the kernel detaches the OS thread, which ends, from the rest
		}
	}
}

// OnEndingThread calls a function on a thread that ends
// afterwards, and with it what the function changes about the
// thread. It is not the process's first thread.
func OnEndingThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with this goroutine, which does not unlock it
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			// the main thread would not end; while it is locked
			// here, another one is taken
			OnEndingThread(f)
			return
		}
		f()
	}()
	<-done
}
