package tui

import (
	"slices"

	"github.com/gdamore/tcell/v2"
)

// A binding is a key with its action, and a button if it has a label.
type binding struct {
	keys        []string // see keyName; all do the same, and the first one is shown on the button
	label       string   // of the button; "" if there is none
	description string   // in the help
	do          func(key string)
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
		{keys: []string{":"}, label: "Command",
			description: "a command or a call path; Tab completes",
			do:          func(string) { commandLine{a, a.window()}.ask() }},
		{keys: []string{"?", "F1"}, label: "Help", description: "the keys of this window",
			do: func(string) { a.overlay = newHelp(a) }},
	}
	own = append(own, binding{keys: []string{"I"},
		description: "count the time in which goroutines wait for work (@idle), or leave it out",
		do:          func(string) { a.toggleIdle() }})
	own = append(own, a.kindBindings()...)
	own = append(own, a.tabBindings()...)
	if canSuspend {
		own = append(own, binding{keys: []string{"Ctrl-Z"},
			description: "stop the Analyzer until the shell continues it (fg)",
			do:          func(string) { a.suspend() }})
	}
	return append(own,
		binding{keys: []string{"Ctrl-L"}, description: "redraw the screen",
			do: func(string) { a.screen.Sync() }},
		binding{keys: []string{"q", "Ctrl-C"}, label: "Quit", description: "leave the Analyzer",
			do: func(string) { a.quit() }},
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
