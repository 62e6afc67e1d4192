//go:build linux && (amd64 || arm64)

package halt

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var (
	// ErrEnded reports that the process has ended or is just ending.
	ErrEnded = errors.New("the process has ended")
	// ErrExec reports that the process executed another program.
	ErrExec = errors.New("the process executed another program")
	// ErrLong reports that a halt was ended since it lasted too
	// long; see Process.LimitHalts.
	ErrLong = errors.New("a halt was ended before all was read: the kernel took long, or gave the CPU to something else")
	// ErrGone reports that the process has ended or executed another program;
	// Diagnose finds out which.
	ErrGone = errors.New("the program has gone")
)

// A Process is a running process whose memory can be read and
// whose threads can be halted.
type Process struct {
	pid int
	// start time of the process, in clock ticks since boot:
	// distinguishes it from a later process with the same id
	start uint64
	// its memory file, bound to the address space of the program
	// that ran when it was opened
	mem     File
	pagemap File    // likewise; closed if the kernel has none
	probe   int64   // an address that is mapped as long as that program runs
	reader  *Reader // the one that halts use
	limit   time.Duration
	exact   bool // the limit is not more with many threads

	mappings   mappings
	halting    atomic.Bool  // whether threads may be halted right now
	unanswered atomic.Int64 // see Unanswered
	calls      calls

	ahead      sync.Once
	clockAhead time.Duration // see Now

	mu     sync.Mutex
	w      *worker // nil until the first Do, and after Release until the next Do
	closed bool
}

// Open opens a process for reading and halting.
func Open(pid int) (*Process, error) {
	p := &Process{pid: pid}
	st, err := ReadStat(pid)
	if err == nil {
		p.start = st.Start
		err = p.open()
		for range transient {
			if err == nil || p.hasEnded() || errors.Is(err, os.ErrPermission) {
				break
			}
			time.Sleep(time.Millisecond)
			err = p.open()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("attach to %d: %w", pid, explain(pid, err))
	}
	p.reader = p.NewReader()
	opened.Store(p, true)
	return p, nil
}

// transient is for how many milliseconds Open and Check wait if
// a process seems to have no address space. A process that exits
// has none; but a process that executes another program seems to
// have none for a moment, too.
const transient = 1000

// hasEnded reports whether the process has certainly ended, even
// if another one has its id now.
func (p *Process) hasEnded() bool {
	st, err := ReadStat(p.pid)
	return err == nil && st.Start != p.start || HasEnded(p.pid)
}

func (p *Process) open() (err error) {
	if p.mem, err = OpenFile(p.Path("mem")); err != nil {
		return err
	}
	if p.pagemap, err = OpenFile(p.Path("pagemap")); err != nil {
		p.pagemap = File{-1}
	}
	defer func() {
		if err != nil {
			p.mem.Close()
			p.pagemap.Close()
		}
	}()
	p.mem.makeRoom()
	aux, err := p.Auxv()
	if err != nil {
		return err
	}
	// The program headers are mapped as long as the program runs.
	probe, ok := aux[auxPhdr]
	if !ok {
		return errors.New("it has no address space: a zombie, or a thread of the kernel")
	}
	p.probe = int64(probe)
	p.mappings.renew(p)
	var b [1]byte
	if err := p.Read(probe, b[:]); err != nil {
		return err
	}
	return mayTrace()
}

// mayTrace returns an error if a sandbox (seccomp) refuses to
// trace anything. The kernel says of a thread that does not
// exist that there is none.
func mayTrace() error {
	const nobody = 1 << 30 // ids are smaller
	if err := seize(nobody); err != unix.ESRCH {
		return err
	}
	return nil
}

// explain adds the remedy to an error of attaching.
func explain(pid int, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return fmt.Errorf("there is no process %d (in a container, use the number that it has outside): %w", pid, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: run as the same user, or grant CAP_SYS_PTRACE (sudo setcap cap_sys_ptrace=ep $(which cpprof))"+
			"; with kernel.yama.ptrace_scope at 1 or more the capability is needed for your own processes too", err)
	}
	return err
}

var errClosed = errors.New("halting a process that was closed")

// worker returns the worker that traces the process, and starts
// one if there is none.
func (p *Process) worker() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.w == nil {
		p.w = startWorker(p.pid)
	}
	return p.w, nil
}

// Wakes returns what helps halts to begin on time although the
// machine is busy: "real-time priority", "nice -15", "short time
// slices"; "" if nothing does.
func (p *Process) Wakes() (string, error) {
	w, err := p.worker()
	if err != nil {
		return "", err
	}
	return w.priority.name, nil
}

// Release detaches from all threads that are still traced. A
// halt may leave some, since it does not wait for a thread that
// sleeps in the kernel. Such a thread stops when it wakes, and
// would then stay stopped for as long as the sampler itself is
// stopped (Ctrl-Z). When Release returns, no thread of the
// process is traced by this package. The next Do starts tracing
// again.
//
// Only the kernel can detach from a thread that has not stopped
// yet, and it does so when the tracer ends. So Release ends the
// worker's OS thread.
func (p *Process) Release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return nil
	}
	w := p.w
	p.w = nil
	return w.stop()
}

// Close detaches from the process for good.
func (p *Process) Close() error {
	opened.Delete(p)
	err := p.Release()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.pagemap.Close()
	return errors.Join(err, p.mem.Close())
}

// LimitHalts bounds each halt: after that time, no further
// memory is read and no further thread is halted, the threads
// are detached from, and Halter.Halt returns ErrLong. What the
// limit cannot end is a system call that the kernel does not
// end, nor a wait for a CPU. Each 64 threads that are halted are
// granted as much again, and to seize threads does not count.
// There is no limit at first.
func (p *Process) LimitHalts(limit time.Duration) { p.limit = limit }

// PID returns the id of the process, in the sampler's namespace.
func (p *Process) PID() int { return p.pid }

// Path returns the path of one of the process's files under /proc.
func (p *Process) Path(name string) string { return processFile(p.pid, name) }

// Check returns nil if the process still runs the program that
// it ran when it was opened, and otherwise ErrEnded or ErrExec.
// If Check returns nil, everything read before that call came
// from that program.
func (p *Process) Check() error {
	if p.sameProgram() {
		return nil
	}
	for range transient {
		if p.hasEnded() {
			break
		}
		if _, err := os.Readlink(p.Path("exe")); err == nil {
			return ErrExec // it has an address space, and not the one that it had
		}
		time.Sleep(time.Millisecond)
	}
	return ErrEnded
}

// sameProgram reports whether the process still runs the program
// that it ran when it was opened. The memory file stays bound to
// the address space of that time; a read returns no bytes once
// that address space is gone.
func (p *Process) sameProgram() bool {
	var b [1]byte
	n, err := p.mem.ReadAt(b[:], p.probe)
	return err == nil && n == 1
}

// Diagnose is Check for use after an operation on the process
// has failed. At the moment when a process executes another
// program, operations may fail although Check still returns nil.
// So Diagnose waits until Check fails or the memory is readable
// again.
func (p *Process) Diagnose() error {
	for range transient {
		if err := p.Check(); err != nil {
			return err
		}
		var b [1]byte
		if p.Read(uint64(p.probe), b[:]) == nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
