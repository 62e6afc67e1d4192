package tui

import (
	"context"
	"time"
)

// A job is work for a window, beside the event loop.
type job struct {
	what   string // "Refining go:main.worker"
	began  time.Time
	ended  bool // or cancelled, or its window closed: what it still brings is dropped
	cancel func()
	queue  []func() // what waits for its end
}

// progressTick is how often a job's progress line moves.
const progressTick = 100 * time.Millisecond

// start runs work beside the event loop, then hands its result to then, in the loop. Meanwhile the window's other actions
// wait (see act). Where a person cancels it, then gets context.Canceled at once, and the result is dropped.
func start[T any](a *app, w window, what string, work func() (T, error), then func(T, error)) {
	if a.jobs[w] != nil {
		a.act(w, func() { start(a, w, what, work, then) })
		return
	}
	j := &job{what: what, began: time.Now()}
	j.cancel = func() {
		var none T
		then(none, context.Canceled)
	}
	a.jobs[w] = j
	done := make(chan struct{})
	go func() {
		defer a.guard()
		defer close(done)
		result, err := work()
		a.post(func() {
			if j.ended {
				return
			}
			a.end(w, j)
			then(result, err)
			a.resume(w, j.queue)
		})
	}()
	go a.tick(done)
}

// tick moves the progress line until a job's work is done.
func (a *app) tick(done <-chan struct{}) {
	ticker := time.NewTicker(progressTick)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			a.tv.QueueUpdateDraw(func() {})
		}
	}
}

func (a *app) end(w window, j *job) {
	j.ended = true
	delete(a.jobs, w)
}

// act does something with a window, once it has no job.
func (a *app) act(w window, f func()) {
	if j := a.jobs[w]; j != nil {
		j.queue = append(j.queue, f)
		return
	}
	f()
}

// resume does what has waited. What has begun a job keeps the rest waiting.
func (a *app) resume(w window, queue []func()) {
	for _, f := range queue {
		a.act(w, f)
	}
}

// cancel ends a window's job, and forgets what waits for it.
func (a *app) cancel(w window) bool {
	j := a.jobs[w]
	if j == nil {
		return false
	}
	a.end(w, j)
	a.say("%s: cancelled.", j.what)
	j.cancel()
	return true
}

// beside runs work that nothing waits for: what it finds is shown when it is there. then drops what came too late.
func beside[T any](a *app, work func() T, then func(T)) {
	a.besides++
	go func() {
		defer a.guard()
		result := work()
		a.post(func() {
			a.besides--
			then(result)
		})
	}()
}
