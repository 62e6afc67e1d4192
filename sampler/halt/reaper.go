//go:build linux && (amd64 || arm64)

package halt

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// reap removes a traced zombie, so that its process can end or
// execute another program.
func reap(pid, tid int) {
	if tid == pid && isChild(pid) {
		return // its exit status is for the code that waits for the child
	}
	var in siginfo
	waitid(tid, &in, unix.WEXITED|unix.WNOHANG)
}

// A reaper removes zombies of the worker's tracees while the
// worker is blocked in an attach. One timer checks the worker
// now and then as long as halts go on: setting a timer for each
// attach would cost as much as the attach.
type reaper struct {
	w       *worker
	timer   *time.Timer
	running atomic.Bool // whether the timer is running
	// when the current attach began, since began; 0 if none is under way
	since atomic.Int64
}

const (
	// time until the first check: each one wakes a thread of the sampler
	reapFirst = 100 * time.Millisecond
	reapAfter = 2 * time.Millisecond // an attach takes longer only if it is blocked
	reapEvery = time.Millisecond     // time between later checks
)

// began is what times count from: the clock on the wall may jump.
var began = time.Now()

// ready starts the timer early, so that an attach does not have
// to: that would wake another thread of the sampler, which might
// take a CPU from the process just before the halt.
func (r *reaper) ready() { r.startTimer() }

func (r *reaper) init(w *worker) {
	r.w = w
	r.timer = time.AfterFunc(time.Hour, r.fire)
	r.timer.Stop()
}

func (r *reaper) arm() {
	r.since.Store(int64(time.Since(began)) + 1)
	r.startTimer()
}

func (r *reaper) disarm() { r.since.Store(0) }

// startTimer starts the timer unless it is running.
func (r *reaper) startTimer() {
	if !r.running.Swap(true) {
		r.timer.Reset(reapFirst)
	}
}

func (r *reaper) fire() {
	since := r.since.Load()
	if since == 0 {
		r.running.Store(false)
		if r.since.Load() != 0 { // armed just now, when the timer was still marked as running
			r.startTimer()
		}
		return
	}
	if int64(time.Since(began))-since >= int64(reapAfter) {
		r.reap()
	}
	r.timer.Reset(reapEvery)
}

func (r *reaper) reap() {
	r.w.mu.Lock()
	tids := append([]int{r.w.pid}, tidsOf(r.w.traced)...)
	r.w.mu.Unlock()
	for _, tid := range tids {
		var in siginfo
		if waitid(tid, &in, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT) == nil && in.ended() {
			reap(r.w.pid, tid)
		}
	}
}

func tidsOf(traced []tracee) []int {
	tids := make([]int, len(traced))
	for i := range traced {
		tids[i] = traced[i].tid // the only field of a tracee that may be read outside the worker
	}
	return tids
}
