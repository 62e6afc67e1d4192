//go:build linux && (amd64 || arm64)

package halt

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var (
	// ErrEnded says that the process is there no more, or is just going.
	ErrEnded = errors.New("the process has ended")
	// ErrExec says that the process became another program.
	ErrExec = errors.New("the process executed another program")
	// ErrGone says that the process has ended or became another program; Settle says which.
	ErrGone = errors.New("the program has gone")
)

// A Process is another process, running, whose memory can be read and whose threads can be halted.
type Process struct {
	pid    int
	start  uint64  // of the process, in clock ticks since boot: tells it from a later one of the same number
	mem    File    // bound to the address space of the program that ran when it was opened
	probe  int64   // an address that is mapped as long as that program runs
	reader *Reader // for halts

	mu     sync.Mutex
	w      *worker // nil after Release, until it is needed again
	closed bool
}

// Open makes a process ready to be read and halted.
func Open(pid int) (*Process, error) {
	p := &Process{pid: pid}
	st, err := readStat(pid)
	if err == nil {
		p.start = st.start
		err = p.open()
		for range transient {
			if err == nil || p.gone() || errors.Is(err, os.ErrPermission) {
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
	return p, nil
}

// transient is for how many milliseconds a process may lack what it has while it runs: its address space is gone when
// it exits, but is also not to be seen for a moment when it executes another program.
const transient = 1000

// gone tells whether the process has ended for sure. A leader can be a zombie and come back, as the thread that
// executes another program.
func (p *Process) gone() bool {
	st, err := readStat(p.pid)
	if err != nil || st.start != p.start || st.state == 'X' {
		return true
	}
	if st.state != 'Z' {
		return false
	}
	tids, err := p.Threads()
	return err != nil || len(tids) <= 1
}

func (p *Process) open() (err error) {
	if p.mem, err = OpenFile(p.Path("mem")); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			p.mem.Close()
		}
	}()
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
	var b [1]byte
	return p.Read(probe, b[:])
}

// explain adds what a person can do about an error of attaching.
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

// worker returns the worker that halts the process, and starts it if there is none.
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

// Release lets go of the threads that are still traced: a halt does not wait for one that sleeps in the kernel, which
// stops when it wakes and would then stand for as long as this process is stopped (Ctrl-Z). When Release returns,
// nothing of the process is traced by a halt. The next Do goes on halting.
//
// The kernel alone can let go of a thread that has not stopped yet, and does so when its tracer ends. So Release ends the
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

// Close lets go of the process for good.
func (p *Process) Close() error {
	err := p.Release()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return errors.Join(err, p.mem.Close())
}

// PID gives the number of the process, in the sampler's namespace.
func (p *Process) PID() int { return p.pid }

// Path gives the path of one of the process's files under /proc.
func (p *Process) Path(name string) string { return "/proc/" + strconv.Itoa(p.pid) + "/" + name }

// Check tells whether the process still runs the program that it ran when it was opened: nil, ErrEnded or ErrExec.
// What was read before a Check that gives nil came from that program.
func (p *Process) Check() error {
	if p.there() {
		return nil
	}
	for range transient {
		if p.gone() {
			break
		}
		if _, err := os.Readlink(p.Path("exe")); err == nil {
			return ErrExec // it has an address space, and not the one that it had
		}
		time.Sleep(time.Millisecond)
	}
	return ErrEnded
}

// there tells whether the program that ran when the process was opened still does: the file stays bound to the address
// space that was there then, and reads nothing once that is gone.
func (p *Process) there() bool {
	var b [1]byte
	n, err := p.mem.ReadAt(b[:], p.probe)
	return err == nil && n == 1
}

// Settle is Check after something failed. A process that executes another program is not to be found for a moment while
// its old program still is; Settle waits until one or the other is clear.
func (p *Process) Settle() error {
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
