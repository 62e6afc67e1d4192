//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// threadStates reads from /proc what threads of the target do. It keeps their files open: opening one costs several times
// as much as reading it.
type threadStates struct {
	pid   int
	files map[int]*threadFiles // by thread
	buf   [256]byte
}

// threadFiles are the files of a thread; nil if it can't be opened.
type threadFiles struct{ syscall, schedstat, sched *halt.File }

// maxKept is the number of threads whose files are kept open.
const maxKept = 512

func (f *threadFiles) close() {
	for _, one := range []*halt.File{f.syscall, f.schedstat, f.sched} {
		if one != nil {
			one.Close()
		}
	}
}

func (t *threadStates) close() {
	for _, f := range t.files {
		f.close()
	}
	t.files = nil
}

// of returns the files of a thread.
func (t *threadStates) of(tid int) *threadFiles {
	f := t.files[tid]
	if f != nil {
		return f
	}
	if t.files == nil {
		t.files = map[int]*threadFiles{}
	}
	if len(t.files) >= maxKept {
		t.forgetOne()
	}
	f = &threadFiles{syscall: t.open(tid, "syscall"), schedstat: t.open(tid, "schedstat"), sched: t.open(tid, "sched")}
	t.files[tid] = f
	return f
}

// forgetOne closes the files of any thread. Closing all at once would take long, and may happen in a halt.
func (t *threadStates) forgetOne() {
	for tid, f := range t.files {
		f.close()
		delete(t.files, tid)
		return
	}
}

func (t *threadStates) open(tid int, name string) *halt.File {
	f, err := halt.OpenFile(fmt.Sprintf("/proc/%d/task/%d/%s", t.pid, tid, name))
	if err != nil {
		return nil
	}
	return &f
}

// read returns the content of a thread's file; nil if it can't be read. It forgets the files of a thread that has ended,
// since its id may be that of a new one soon.
func (t *threadStates) read(tid int, file func(*threadFiles) *halt.File) []byte {
	all := t.of(tid)
	f := file(all)
	if f == nil {
		return nil
	}
	n, err := f.ReadAt(t.buf[:], 0)
	if err != nil || n == 0 {
		all.close()
		delete(t.files, tid)
		return nil
	}
	return t.buf[:n]
}

// running reports whether a thread is on a CPU, or ready for one, rather than asleep in the kernel.
func (t *threadStates) running(tid int) bool {
	awake, known := t.awake(tid)
	return awake && known
}

// awake does the same, and reports whether it is known.
func (t *threadStates) awake(tid int) (awake, known bool) {
	b := t.read(tid, func(f *threadFiles) *halt.File { return f.syscall })
	return bytes.HasPrefix(b, []byte("running")), len(b) > 0
}

// Whether a thread was on a CPU when the sampler came to halt it can't be read anywhere. But the kernel counts how often
// the scheduler has given each thread a CPU, and how long the thread had waited for it. A thread that stops without
// another turn was on a CPU. One that needed another turn had been waiting. For how long? If its wait began when the
// sampler woke, then the sampler itself has taken the CPU from it, and a moment before the thread was running. For example,
// a sampler that got its CPU at 100 µs reads the counts of three threads at 120 µs, interrupts them, and reads the counts
// again at 150 µs, when they have stopped:
//
//	turns 7, then 7                       on another CPU all the time                          it ran
//	turns 3, then 4; waited 45 µs more    it waited from 100 µs on, until the sampler slept     it ran
//	turns 5, then 6; waited 900 µs more   something else had its CPU before the sampler woke    it had no CPU

// How long the thread of the second example waited is known only as well as when it got its turn, which the sampler notices
// some tenths of a millisecond late if other threads are first. So a thread that has not stopped in the halt is asked for
// more: the kernel also has the time when a thread left its CPU, and when the sampler got its own (/proc/PID/sched, which
// not all kernels have). If these are the same, the sampler displaced the thread.

// turns are the counts of one thread.
type turns struct {
	waited time.Duration // all its waits for a CPU that are over
	number int64         // how often it was given one; 0 if the kernel doesn't say
}

// turns reads a thread's counts.
func (t *threadStates) turns(tid int) turns {
	b := t.read(tid, func(f *threadFiles) *halt.File { return f.schedstat })
	_, b = nextNumber(b) // the time that it spent on a CPU
	waited, b := nextNumber(b)
	number, _ := nextNumber(b)
	return turns{time.Duration(waited), number}
}

// nextNumber returns the number that a text begins with, and the text behind it and one more character.
func nextNumber(b []byte) (n int64, rest []byte) {
	for i, c := range b {
		if c < '0' || c > '9' {
			return n, b[i+1:]
		}
		n = 10*n + int64(c-'0')
	}
	return n, nil
}

// leftCPU returns when a thread that has no CPU left the last one, by a clock of the kernel's scheduler; for the thread that
// asks, it is when it got its CPU. It returns false if the kernel does not say. The clocks of two CPUs may differ by seconds, so
// the times of two threads can be compared only if they are of the same CPU.
func (t *threadStates) leftCPU(tid int) (at time.Duration, known bool) {
	return execStart(t.read(tid, func(f *threadFiles) *halt.File { return f.sched }))
}

// own returns when the calling thread got its CPU; 0 if the kernel does not say.
func (t *threadStates) own() time.Duration {
	f, err := halt.OpenFile("/proc/thread-self/sched")
	if err != nil {
		return 0
	}
	defer f.Close()
	n, _ := f.ReadAt(t.buf[:], 0)
	at, _ := execStart(t.buf[:n])
	return at
}

// execStart returns the value of a line such as "se.exec_start    :   11601875.366659": milliseconds with six digits.
func execStart(b []byte) (at time.Duration, known bool) {
	_, b, known = bytes.Cut(b, []byte("se.exec_start"))
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

// displaced reports whether the sampler took the CPU from a thread that does not stop: if the thread left it just when the
// sampler, whose own thread this is, got it at the given time. Other threads have left theirs before that, or by the clock of
// another CPU.
func (t *threadStates) displaced(tid int, got time.Duration) (displaced, known bool) {
	left, known := t.leftCPU(tid)
	return known && (left-got).Abs() <= displacing, known
}

// displacing is how long it may take from the moment when the sampler gets a CPU until it reads the time.
const displacing = 30 * time.Microsecond

// waitedUntil reports whether a thread with these counts had been waiting for a CPU already when the sampler woke. after
// are its counts when it had stopped, the given time after the sampler woke.
func (t turns) waitedUntil(after turns, sinceWoken time.Duration) bool {
	return t.number != 0 && after.number != t.number && after.waited-t.waited > sinceWoken+displacing
}
