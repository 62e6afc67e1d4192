package tui

import (
	"context"
	"fmt"
	"sync"

	"github.com/gdamore/tcell/v2"
)

// run is the event loop. Everything that touches the state of
// the app runs in it, one thing after another, and a drawing
// follows each. The loop ends when the user leaves the Analyzer,
// when the terminal fails, or when ctx is done. Work that is
// queued by then is dropped.
func (a *app) run(ctx context.Context) error {
	go a.terminal.pump()
	for !a.left && a.failure == nil {
		a.draw()
		if err := a.next(ctx); err != nil {
			return err
		}
	}
	return a.failure
}

// next waits for one thing to do, and does it. The end of ctx
// and a failure of the terminal come before all that is queued.
func (a *app) next(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-a.terminal.failed():
		return fmt.Errorf("writing to the terminal: %w", err)
	default:
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-a.terminal.failed():
		return fmt.Errorf("writing to the terminal: %w", err)
	case <-a.posts.ready:
		a.posts.take()()
	case e := <-a.terminal.events:
		if failure, ok := e.(*tcell.EventError); ok {
			return fmt.Errorf("reading the terminal: %w", failure)
		}
		a.root.handle(e)
	}
	return nil
}

// draw draws the screen as it is now.
func (a *app) draw() {
	width, height := a.screen.Size()
	a.screen.HideCursor() // a prompt shows it
	a.root.draw(canvas{a.screen, 0, 0, width, height})
	a.screen.Show()
}

// suspend leaves the terminal to the shell, until the shell
// continues this process.
func (a *app) suspend() {
	a.leave(func() error {
		if err := stop(); err != nil {
			return fmt.Errorf("the Analyzer goes on: %w", err)
		}
		return nil
	})
}

// leave lets something else use the terminal.
func (a *app) leave(use func() error) {
	a.terminal.suspend()
	failed := use()
	if err := a.terminal.Resume(); err != nil {
		a.failure = fmt.Errorf("taking the terminal back: %w", err)
		return
	}
	if failed != nil {
		a.fail(failed)
	}
	a.screen.Sync()
}

// post runs f in the event loop, and then draws. Other
// goroutines use it; it doesn't wait for f.
func (a *app) post(f func()) { a.posts.add(f) }

// posts is a queue of functions to run in the event loop. Adding
// never waits.
type posts struct {
	ready chan struct{} // has one element while the queue isn't empty

	mu    sync.Mutex
	queue []func()
}

func (c *posts) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, f)
	c.announce()
}

// take removes the oldest function, after ready was received.
func (c *posts) take() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.queue[0]
	c.queue = c.queue[1:]
	if len(c.queue) > 0 {
		c.announce()
	}
	return f
}

func (c *posts) announce() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}
