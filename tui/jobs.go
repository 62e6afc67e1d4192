package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"
)

// A job is work for a window on another goroutine.
type job struct {
	what   string // "Refining go:main.worker"
	began  time.Time
	ended  bool // or cancelled, or its window was closed: its result is dropped
	cancel func()
	queue  []action // actions that wait for its end
}

// An action is a key, a mouse action or a command.
type action struct {
	key *tcell.EventKey
	do  func()
}

// progressTick is the time between two updates of a job's progress line.
const progressTick = 100 * time.Millisecond

// start runs work on another goroutine, then calls then with the
// result in the loop. Meanwhile, the window's other actions wait
// (see act). If the user cancels the job, then is called with
// context.Canceled at once, and the result is dropped.
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

// attempt runs work as start does, then calls then with the
// result, or failed if there is an error. If the user cancels
// the job, it calls neither.
func attempt[T any](a *app, w window, what string, work func() (T, error), then func(T),
	failed func(error)) {
	start(a, w, what, work, func(result T, err error) {
		switch {
		case err == nil:
			then(result)
		case !errors.Is(err, context.Canceled):
			failed(err)
		}
	})
}

// tick updates the progress line until a job's work is done.
func (a *app) tick(done <-chan struct{}) {
	ticks := time.Tick(progressTick)
	for {
		select {
		case <-done:
			return
		case <-ticks:
			a.post(func() {})
		}
	}
}

func (a *app) end(w window, j *job) {
	j.ended = true
	delete(a.jobs, w)
}

// act runs f on a window, once the window has no job.
func (a *app) act(w window, f func()) {
	if j := a.jobs[w]; j != nil {
		j.queue = append(j.queue, action{do: f})
		return
	}
	f()
}

// A content is what a window shows, as far as that is computed
// on another goroutine.
type content struct {
	a      *app
	w      window
	update func() // computes it
	made   bool   // it was computed, or that failed
	failed error  // the error if there is no content
	waits  bool   // it will be computed again
}

// open opens the window of the content, and computes it with a function.
func (c *content) open(a *app, w window, update func()) {
	c.a, c.w, c.update = a, w, update
	a.open(w)
	update()
}

// commands returns none: most windows have none of their own.
func (*content) commands() []command { return nil }

// refresh computes the content again, once the window has no
// job: a single time for several changes in a row.
func (c *content) refresh() {
	if c.waits {
		return
	}
	c.waits = true
	c.a.act(c.w, func() {
		c.waits = false
		c.update()
	})
}

// drawReady reports whether the content of a window is ready. If
// not, it draws the error, or what is done meanwhile.
func (c *content) drawReady(on canvas, meanwhile string) bool {
	t := c.a.theme
	switch {
	case c.failed != nil:
		on.lines(1, wrap(c.failed.Error(), on.width-2), t.err)
	case !c.made:
		on.text(1, 1, meanwhile, t.dim)
	}
	return c.made && c.failed == nil
}

// compute starts work for the content of a window, and then
// takes its result over, also if it failed. If the user cancels
// the first work, the window closes.
func compute[T any](c *content, what string, work func() (T, error), then func(T)) {
	start(c.a, c.w, what, work, func(result T, err error) {
		switch {
		case !errors.Is(err, context.Canceled):
			c.made, c.failed = true, err
			then(result)
		case !c.made:
			c.a.close(c.w)
		}
	})
}

// waits reports whether a key has to wait for the job of the
// active window. All keys of the window wait. So does every key
// pressed after a waiting one: it may be meant for something
// that the waiting key opens, such as a prompt.
func (a *app) waits(e *tcell.EventKey) bool {
	j := a.jobs[a.window()]
	if j == nil {
		return false
	}
	name := keyName(e)
	if len(j.queue) == 0 && find(a.window().bindings(), name) == nil &&
		find(a.appBindings(), name) != nil {
		return false
	}
	j.queue = append(j.queue, action{key: e})
	return true
}

// resume runs the actions that waited for a window's job. If an
// action begins another job, the rest waits for the new job.
// Keys are dropped if another window is active by then.
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

// cancel ends a window's job, and drops the keys that wait for
// it. It runs the other waiting actions, such as a refresh.
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

// background runs work on another goroutine. No action waits for
// it. Its result is shown as soon as it is known. then must drop
// a result that nobody needs any more.
func background[T any](a *app, work func() T, then func(T)) {
	a.inBackground++
	go func() {
		defer a.guard()
		result := work()
		a.post(func() {
			a.inBackground--
			then(result)
		})
	}()
}
