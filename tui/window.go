package tui

import (
	"slices"
	"strconv"

	"github.com/cpprof/cpprof/session"
	"github.com/rivo/tview"
)

// A window is one tab. As a primitive it draws itself and takes the mouse; it gets no keys.
type window interface {
	tview.Primitive

	// title is short, for the tab.
	title() string

	// bindings are the keys and buttons of the window, the most important first. They are asked for again and again, so
	// that their labels can follow what is shown.
	bindings() []binding

	// commands are what ":" understands in this window, beside the app's own.
	commands() []command

	// refresh shows the window anew after the app's recording, options or aspects have changed.
	refresh()

	// keep returns the window as a session keeps it; nil if a session does not keep it.
	keep() session.Window
}

// A command is a word of the ":" line.
type command struct {
	name        string
	args        string // what stands behind it: "EXPR"
	description string

	// do carries it out on what stands behind the name. An error keeps the line open; *callpath.SyntaxError places a caret.
	do func(args string) error

	// complete returns what the last word of args can become; nil: names of functions, aspects, classes and typed time.
	complete func(args string) []string
}

// open adds a window and shows it.
func (a *app) open(w window) {
	a.windows = append(a.windows, w)
	a.show(len(a.windows) - 1)
}

// show makes a window the active one, by its place.
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
		a.say("The summary stays: %s leaves.", "q")
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
		{keys: []string{"Tab"}, description: "the next window", do: func(string) { a.show((a.active + 1) % n) }},
		{keys: []string{"Backtab"}, description: "the window before", do: func(string) { a.show((a.active + n - 1) % n) }},
		{keys: []string{"x"}, description: "close this window", do: func(string) { a.close(a.window()) }},
	}
}
