package tui

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// A binding is a key with its action, and a button if it has a label.
type binding struct {
	keys        []string // see keyName; all do the same, and the first one is shown on the button
	label       string   // of the button; "" if there is none
	description string   // in the help
	do          func(key string)
}

// on returns a binding of keys, separated by blanks, to what they do.
func on(keys, label, description string, do func()) binding {
	return binding{strings.Fields(keys), label, description, func(string) { do() }}
}

// keyName returns a key as bindings write it: "d", "Space", "Enter", "PgDn",
// "Ctrl-D", "Backtab".
func keyName(e *tcell.EventKey) string {
	if e.Key() == tcell.KeyRune {
		if e.Rune() == ' ' {
			return "Space"
		}
		return string(e.Rune())
	}
	if e.Key() == tcell.KeyBackspace2 {
		return "Backspace"
	}
	return tcell.KeyNames[e.Key()]
}

// find returns the binding of a key, or nil.
func find(bindings []binding, key string) *binding {
	for i := range bindings {
		if slices.Contains(bindings[i].keys, key) {
			return &bindings[i]
		}
	}
	return nil
}

// appBindings are the bindings of every window.
func (a *app) appBindings() []binding {
	own := []binding{
		on(":", "Command", "a command or a call path; Tab completes",
			func() { commandLine{a, a.window()}.ask() }),
		on("? F1", "Help", "the keys of this window", func() { a.overlay = newHelp(a) }),
	}
	own = append(own, on("I", "",
		"count the time in which goroutines wait for work (@idle), or leave it out", a.toggleIdle))
	own = append(own, a.kindBindings()...)
	own = append(own, a.tabBindings()...)
	if canSuspend {
		own = append(own, on("Ctrl-Z", "", "stop the Analyzer until the shell continues it (fg)",
			a.suspend))
	}
	return append(own,
		on("Ctrl-L", "", "redraw the screen", a.screen.Sync),
		on("q Ctrl-C", "Quit", "leave the Analyzer", a.quit),
	)
}

// key handles a key: the prompt or the overlay takes it, or its binding runs.
// Esc cancels a job; if there is none, it is a key like others.
func (a *app) key(e *tcell.EventKey) {
	name := keyName(e)
	if a.prompt != nil {
		a.prompt.key(a, e)
		return
	}
	a.message = message{}
	if a.overlay != nil {
		a.overlay.key(name)
		return
	}
	if name == "Esc" && a.cancel(a.window()) || a.waits(e) {
		return
	}
	if b := find(a.window().bindings(), name); b != nil {
		b.do(name)
	} else if b := find(a.appBindings(), name); b != nil {
		b.do(name)
	}
}
