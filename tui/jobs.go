package tui

import (
	"context"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"
)

// A job is work for a window, beside the event loop.
type job struct {
	what   string // "Refining go:main.worker"
	began  time.Time
	ended  bool // or cancelled, or its window closed: what it still brings is dropped
	cancel func()
	queue  []action // what waits for its end
}

// An action is a key, or something that the mouse or a command does.
type action struct {
	key *tcell.EventKey
	do  func()
}

// progressTick is how often a job's progress line moves.
const progressTick = 100 * time.Millisecond

// start runs work beside the event loop, then hands its result to then, in the loop. Meanwhile the window's other actions
// wait (see act). If a person cancels it, then gets context.Canceled at once, and the result is dropped.
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
		j.queue = append(j.queue, action{do: f})
		return
	}
	f()
}

// waits reports whether a key has to wait for the job of the window in front: all of the window's own do, and what is
// pressed after one, since that may be meant for what it shows, such as a prompt.
func (a *app) waits(e *tcell.EventKey) bool {
	j := a.jobs[a.window()]
	if j == nil {
		return false
	}
	name := keyName(e)
	if len(j.queue) == 0 && find(a.window().bindings(), name) == nil && find(a.appBindings(), name) != nil {
		return false
	}
	j.queue = append(j.queue, action{key: e})
	return true
}

// resume does what has waited for a window's job. What has begun another keeps the rest waiting. Keys are forgotten if
// another window has come to the front.
func (a *app) resume(w window, queue []action) {
	front := a.window() == w
	for _, q := range queue {
		switch {
		case q.key == nil:
			a.act(w, q.do)
		case front:
			a.key(q.key)
		}
	}
}

// cancel ends a window's job, and forgets the keys that wait for it. What else waits, such as to be shown anew, is done.
func (a *app) cancel(w window) bool {
	j := a.jobs[w]
	if j == nil {
		return false
	}
	a.end(w, j)
	a.say("%s: cancelled.", j.what)
	j.cancel()
	if slices.Contains(a.windows, w) {
		a.resume(w, slices.DeleteFunc(j.queue, func(q action) bool { return q.key != nil }))
	}
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
