package tui

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/tui/session"
)

// A window is one tab. It gets no keys: the app finds them in bindings.
type window interface {
	draw(c canvas)

	// mouse does what the mouse does at a cell of the screen,
	// inside the window or outside.
	mouse(action mouseAction, x, y int)

	// title returns a short title for the tab.
	title() string

	// bindings returns the keys and buttons of the window, the
	// most important first. Every drawing calls it: labels can
	// change with the content.
	bindings() []binding

	// commands returns the commands after ":" that only this window has.
	commands() []command

	// refresh updates the window after the app's recording, options or aspects
	// have changed.
	refresh()

	// keep returns the window as a session keeps it, or nil if a
	// session does not keep it.
	keep() session.Window
}

// A command is a word after ":".
type command struct {
	name        string
	args        string // its arguments: "EXPR"
	description string

	// do executes the command with its arguments. If it returns
	// an error, the prompt stays open; for a
	// *callpath.SyntaxError, it shows a caret.
	do func(args string) error

	// complete returns completions of the last word of args;
	// nil: names of functions, aspects, classes and typed time.
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

// showOpen activates the first window of a type that fits, and
// reports whether there is one.
func showOpen[W window](a *app, fits func(W) bool) (w W, open bool) {
	for i := range a.windows {
		if w, open = a.windows[i].(W); open && fits(w) {
			a.show(i)
			return w, true
		}
	}
	return w, false
}

// anyOne fits every window.
func anyOne[W window](W) bool { return true }

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
		a.end(w, j)
	}
	a.windows = slices.Delete(a.windows, i, i+1)
	if a.active >= i {
		a.active--
	}
}

// tabBindings switch windows.
func (a *app) tabBindings() []binding {
	digits := binding{keys: strings.Fields("1 2 3 4 5 6 7 8 9"),
		description: "show the window of this number",
		do:          func(key string) { a.show(int(key[0] - '1')) }}
	n := len(a.windows)
	return []binding{
		digits,
		on("Tab", "", "the next window", func() { a.show((a.active + 1) % n) }),
		on("Backtab", "", "the previous window", func() { a.show((a.active + n - 1) % n) }),
		on("x", "", "close this window", func() { a.close(a.window()) }),
	}
}

// A kind is a kind of window: how a session keeps such a window,
// how the window is opened again, and the keys and commands that
// open one from every window. Nothing else in the Analyzer
// depends on the list of kinds.
type kind struct {
	session.Kind        // without New if a session does not keep such windows
	whyNotKept   string // why a session does not keep such windows

	// reopen opens a window that a session kept.
	reopen func(session.Window)

	// bindings and commands are in every window, and open a
	// window of the kind.
	bindings []binding
	commands []command
}

// kinds returns all kinds of windows. The keys and commands of
// the first kind come first in the help.
func (a *app) kinds() []kind {
	return []kind{a.summaryKind(), a.profileKind(), a.comparisonKind(), a.holdersKind(), a.locksKind(),
		a.findingsKind(), a.treeKind(), a.scatterKind(), a.matrixKind(), a.callsKind(), a.tracksKind()}
}

// SessionKinds returns the kinds of windows that a session keeps.
func SessionKinds() []session.Kind {
	kept := slices.DeleteFunc(new(app).kinds(), func(k kind) bool { return k.New == nil })
	return lists.Each(kept, func(k kind) session.Kind { return k.Kind })
}

// reopen opens a window that a session kept.
func (a *app) reopen(w session.Window) {
	all := a.kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.Name == w.Kind().Name })
	all[i].reopen(w)
}
