package tui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/tui/session"
)

// A window is one tab. It gets no keys: the app finds them in bindings.
type window interface {
	draw(c canvas)

	// mouse does what the mouse does at a cell of the screen, inside the window
	// or outside.
	mouse(action mouseAction, x, y int)

	// title returns a short title for the tab.
	title() string

	// bindings returns the keys and buttons of the window, the most important
	// first. Every drawing calls it: labels can change with the content.
	bindings() []binding

	// commands returns the commands after ":" that only this window has.
	commands() []command

	// refresh updates the window after the app's recording, options or aspects
	// have changed.
	refresh()

	// keep returns the window as a session keeps it, or nil if a session does
	// not keep it.
	keep() session.Window
}

// A command is a word after ":".
type command struct {
	name        string
	args        string // its arguments: "EXPR"
	description string

	// do executes the command with its arguments. If it returns an error, the
	// prompt stays open; for a *callpath.SyntaxError, it shows a caret.
	do func(args string) error

	// complete returns completions of the last word of args; nil: names of
	// functions, aspects, classes and typed time.
	complete func(args string) []string
}

// newCommand returns a command. Its usage is its name and its arguments.
func newCommand(usage, description string, do func(string) error,
	complete func(string) []string) command {
	name, args, _ := strings.Cut(usage, " ")
	return command{name, args, description, do, complete}
}

// open adds a window and shows it.
func (a *app) open(w window) {
	a.windows = append(a.windows, w)
	a.show(len(a.windows) - 1)
}

// showOpen activates the window of a type, and reports whether there is one.
func showOpen[W window](a *app) bool {
	i := slices.IndexFunc(a.windows, func(w window) bool { _, ok := w.(W); return ok })
	if i >= 0 {
		a.show(i)
	}
	return i >= 0
}

// show activates the window of the given index.
func (a *app) show(i int) {
	if i >= 0 && i < len(a.windows) {
		a.active = i
		a.overlay = nil
	}
}

func (a *app) window() window { return a.windows[a.active] }

// close closes a window. The first one stays.
func (a *app) close(w window) {
	i := slices.Index(a.windows, w)
	if i <= 0 {
		a.say("The summary cannot be closed: %s leaves the Analyzer.", "q")
		return
	}
	if j := a.jobs[w]; j != nil {
		delete(a.jobs, w)
		j.ended = true
	}
	a.windows = slices.Delete(a.windows, i, i+1)
	if a.active >= i {
		a.active--
	}
}

// tabBindings switch windows.
func (a *app) tabBindings() []binding {
	digits := binding{description: "show the window of this number"}
	for i := range 9 {
		digits.keys = append(digits.keys, strconv.Itoa(i+1))
	}
	digits.do = func(key string) { a.show(int(key[0] - '1')) }
	n := len(a.windows)
	return []binding{
		digits,
		on("Tab", "", "the next window", func() { a.show((a.active + 1) % n) }),
		on("Backtab", "", "the previous window", func() { a.show((a.active + n - 1) % n) }),
		on("x", "", "close this window", func() { a.close(a.window()) }),
	}
}
