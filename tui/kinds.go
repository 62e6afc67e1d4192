package tui

import (
	"slices"

	"github.com/cpprof/cpprof/tui/session"
)

// A kind is a kind of window: how a session keeps such a window, how the window
// is opened again, and the keys and commands that open one from every window.
// Nothing else in the Analyzer depends on the list of kinds.
type kind struct {
	session.Kind        // without New if a session does not keep such windows
	whyNotKept   string // why a session does not keep such windows

	// reopen opens a window that a session kept.
	reopen func(*app, session.Window)

	// bindings and commands are in every window, and open a window of the kind;
	// nil for none.
	bindings func(*app) []binding
	commands func(*app) []command

	// own returns the commands of a window of the kind. Other windows can then
	// say where the commands belong. opened says how to open such a window. own
	// is nil if the kind has no commands, or only commands of a window that is
	// always open.
	own    func() []command
	opened string
}

// kinds returns all kinds of windows. The keys and commands of the first kind
// come first in the help.
func kinds() []kind {
	return []kind{summaryKind(), profileKind(), comparisonKind(), holdersKind(),
		locksKind(), findingsKind(), treeKind(), scatterKind(), matrixKind(), callsKind(), tracksKind()}
}

// SessionKinds returns the kinds of windows that a session keeps.
func SessionKinds() []session.Kind {
	var list []session.Kind
	for _, k := range kinds() {
		if k.New != nil {
			list = append(list, k.Kind)
		}
	}
	return list
}

// reopen opens a window that a session kept.
func (a *app) reopen(w session.Window) {
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.Name == w.Kind().Name })
	all[i].reopen(a, w)
}

// kindBindings returns the keys of every window that open windows.
func (a *app) kindBindings() (list []binding) {
	for _, k := range kinds() {
		if k.bindings != nil {
			list = append(list, k.bindings(a)...)
		}
	}
	return list
}

// kindCommands returns the commands of every window that open windows.
func (a *app) kindCommands() (list []command) {
	for _, k := range kinds() {
		if k.commands != nil {
			list = append(list, k.commands(a)...)
		}
	}
	return list
}
