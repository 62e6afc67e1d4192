//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// threadStates reads from /proc what threads of the target do.
type threadStates struct {
	files halt.ThreadFiles
	own   *threadStates // of the sampler's own threads; nil if they were not read yet
	buf   [512]byte     // as much as the fields that are read of a sched file can take
}

// The files of a thread.
const (
	fileSyscall = iota
	fileSchedstat
	fileSched
)

// maxKept is the number of threads whose files are kept open.
const maxKept = 512

func newThreadStates(pid int) threadStates {
	return threadStates{files: halt.NewThreadFiles(pid, maxKept, "syscall", "schedstat", "sched")}
}

func (t *threadStates) close() {
	t.files.Close()
	if t.own != nil {
		t.own.close()
	}
}

// read returns the content of one of a thread's files; nil if it
// can't be read.
func (t *threadStates) read(tid, file int) []byte {
	b, _ := t.files.Read(tid, file, t.buf[:])
	return b
}

// awake reports whether a thread is on a CPU, or ready for one,
// rather than asleep in the kernel, and whether that is known.
func (t *threadStates) awake(tid int) (awake, known bool) {
	b := t.read(tid, fileSyscall)
	return bytes.HasPrefix(b, []byte("running")), len(b) > 0
}

// Whether a thread was on a CPU when the sampler came to halt it
// can't be read anywhere. But the kernel counts how often the
// scheduler has given each thread a CPU, and how long the thread
// had waited for it. A thread that stops without another turn
// was on a CPU. One that needed another turn had been waiting.
// For how long? If its wait began when the sampler woke, then
// the sampler itself has taken the CPU from it, and a moment
// before the thread was running. For example, a sampler that got
// its CPU at 100 µs reads the counts of three threads at 120 µs,
// interrupts them, and reads the counts again at 150 µs, when
// they have stopped:
//
//	turns 7, then 7                       on another CPU all the time                          it ran
//	turns 3, then 4; waited 45 µs more    it waited from 100 µs on, until the sampler slept     it ran
//	turns 5, then 6; waited 900 µs more   something else had its CPU before the sampler woke    it had no CPU

// How long the thread of the second example waited is known only
// as well as when it got its turn, which the sampler notices
// late if it has no raised priority, or if others are first. So
// a thread that has not stopped in the halt is asked for more:
// the kernel also has the time when a thread left its CPU, and
// when the sampler got its own (/proc/PID/sched, which not all
// kernels have). If these are the same, the sampler displaced
// the thread. If they differ, it did not: the thread was
// waiting, for whatever CPU, unless it turns out to stop without
// another turn. (The kernel forgets the time when it moves a
// waiting thread to another CPU.)

// turns are the counts of one thread.
type turns struct {
	waited time.Duration // all its waits for a CPU that are over
	number int64         // how often it was given one; 0 if the kernel doesn't say
}

// turns reads a thread's counts.
func (t *threadStates) turns(tid int) turns {
	b := t.read(tid, fileSchedstat)
	_, b = nextNumber(b) // the time that it spent on a CPU
	waited, b := nextNumber(b)
	number, _ := nextNumber(b)
	return turns{time.Duration(waited), number}
}

// nextNumber returns the number that a text begins with, and the
// text behind it and one more character.
func nextNumber(b []byte) (n int64, rest []byte) {
	for i, c := range b {
		if c < '0' || c > '9' {
			return n, b[i+1:]
		}
		n = 10*n + int64(c-'0')
	}
	return n, nil
}

// leftCPU returns when a thread that has no CPU left the last
// one, by a clock of the kernel's scheduler. It returns false if
// the kernel does not say.
func (t *threadStates) leftCPU(tid int) (at time.Duration, known bool) {
	return schedTime(t.read(tid, fileSched), "se.exec_start")
}

// An arrival is when the calling thread, the sampler's, got the
// CPU that it has.
type arrival struct {
	at  time.Time
	ran time.Duration // CPU time of the thread before that
	// when that was by the CPU's clock of the kernel's
	// scheduler; 0 if not known
	clock time.Duration
}

// arrived returns the arrival of the calling thread, which has
// just woken at a given time.
func (t *threadStates) arrived(at time.Time) arrival {
	b := t.readOwn(fileSchedstat)
	ran, _ := nextNumber(b)
	return arrival{at: at, ran: time.Duration(ran)}
}

// readClock completes the arrival of the calling thread, which
// has kept its CPU since. At each tick, the kernel sets the time
// when the thread got its CPU to the present, and adds what has
// passed to its CPU time.
func (a *arrival) readClock(t *threadStates) {
	a.clock = 0
	b := t.readOwn(fileSched)
	since, known := schedTime(b, "se.exec_start")
	ran, both := schedTime(b, "se.sum_exec_runtime")
	if known && both {
		a.clock = since - (ran - a.ran)
	}
}

// readOwn returns the content of one of the calling thread's own
// files; nil if it can't be read.
func (t *threadStates) readOwn(file int) []byte {
	if t.own == nil {
		own := newThreadStates(os.Getpid())
		t.own = &own
	}
	return t.own.read(unix.Gettid(), file)
}

// schedTime returns the value of a line such as "se.exec_start :
// 11601875.366659": milliseconds with six digits.
func schedTime(b []byte, name string) (at time.Duration, known bool) {
	_, b, known = bytes.Cut(b, []byte(name))
	line, _, whole := bytes.Cut(b, []byte("\n"))
	_, value, colon := bytes.Cut(line, []byte(":"))
	ms, fraction, point := bytes.Cut(bytes.TrimSpace(value), []byte("."))
	if !known || !whole || !colon || !point || len(fraction) != 6 {
		return 0, false
	}
	n, _ := nextNumber(ms)
	f, _ := nextNumber(fraction)
	return time.Duration(n*1e6 + f), true
}

// displaced reports whether the sampler, when it arrived, took
// the CPU from a thread that does not stop. It returns false as
// the second result if that is not known.
func (t *threadStates) displaced(tid int, by arrival) (displaced, known bool) {
	left, known := t.leftCPU(tid)
	if !known || left == 0 || by.clock == 0 {
		return false, false
	}
	return (left - by.clock).Abs() <= displacing, true
}

// displacing is how long it may take from the moment when the
// sampler gets a CPU until it reads the time.
const displacing = 30 * time.Microsecond

// waitedUntil reports whether a thread with these counts had
// been waiting for a CPU already when the sampler woke. after
// are its counts when it had stopped, the given time after the
// sampler woke.
func (t turns) waitedUntil(after turns, sinceWoken time.Duration) bool {
	return t.number != 0 && after.number != t.number &&
		after.waited-t.waited > sinceWoken+displacing
}

// lateWaited does the same for a late thread, when it has
// stopped. It may have been found out before that it was not
// displaced by the sampler, or that it was. If it stops without
// another turn, it was on a CPU all the time: in a system call,
// or that CPU took notice of the interrupt late.
func (t turns) lateWaited(after turns, found verdict, sinceWoken time.Duration) bool {
	switch {
	case t.number != 0 && after.number == t.number:
		return false
	case found.settled:
		return found.noCPU
	}
	return t.waitedUntil(after, sinceWoken)
}

// A verdict is what is known of a late thread before it stops.
type verdict struct {
	settled bool // noCPU is right if the thread needs another turn on a CPU to stop
	noCPU   bool // the thread was ready for a CPU, and had none
}

// judge finds that out. The sampler must still have the CPU on
// which it arrived.
func (t *threadStates) judge(tid int, by arrival) verdict {
	displaced, known := t.displaced(tid, by)
	return verdict{settled: known, noCPU: !displaced}
}
