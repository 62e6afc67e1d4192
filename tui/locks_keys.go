package tui

import (
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// bindings are the keys and buttons of the window.
func (w *lockWindow) bindings() []binding {
	do := func(f func()) func(string) { return func(string) { f() } }
	page := max(w.list.height, 1)
	return []binding{
		{keys: []string{"Enter"}, label: "Open", description: "who waits most for it: the Thread View, on into the holder", do: do(w.openSelected)},
		{keys: []string{"h"}, label: "Holders", description: "the profile of what the holders of all locks were doing", do: do(w.openHolders)},
		{keys: []string{"J"}, label: "More", description: "scroll the details down", do: do(func() { w.pane.top++ })},
		{keys: []string{"K"}, description: "scroll the details up", do: do(func() { w.pane.top-- })},
		{keys: []string{"/"}, label: "Search", description: "search a lock", do: do(w.askSearch)},
		{keys: []string{"n"}, description: "the next lock that was searched for", do: do(func() { w.seek(1) })},
		{keys: []string{"N"}, description: "the lock before that was searched for", do: do(func() { w.seek(-1) })},
		{keys: []string{"j", "Down"}, description: "the next lock", do: do(func() { w.choose(w.place() + 1) })},
		{keys: []string{"k", "Up"}, description: "the lock before", do: do(func() { w.choose(w.place() - 1) })},
		{keys: []string{"PgDn", "Ctrl-F"}, description: "a page on", do: do(func() { w.choose(w.place() + page) })},
		{keys: []string{"PgUp", "Ctrl-B"}, description: "a page back", do: do(func() { w.choose(w.place() - page) })},
		{keys: []string{"g", "Home"}, description: "the first lock", do: do(func() { w.choose(0) })},
		{keys: []string{"G", "End"}, description: "the last lock", do: do(func() { w.choose(len(w.found.items) - 1) })},
	}
}

// openSelected opens the Thread View of the class that waits most, refined to where it waits, and on into the holder.
func (w *lockWindow) openSelected() {
	switch i := w.item(); {
	case i == nil:
	case i.lock != nil:
		w.a.openProfile(waiting(i.lock, w.a.threshold))
	default:
		w.a.openProfile(refinedTo(i.deadlock.Members[0].Class, "", "", w.a.threshold))
	}
}

// waiting is the Thread View of the class that waits most for a lock, refined to where it waits and on into the holder.
func waiting(l *locks.Lock, threshold refine.Threshold) session.Profile {
	sums := make(map[string]int64)
	var class, in, holder string
	for _, one := range l.Waiters {
		sums[one.Class] += one.Hits
		if sums[one.Class] > sums[class] {
			class = one.Class
		}
	}
	for _, one := range l.Waiters {
		if one.Class == class {
			in = one.In // where it waits most: the first of the class
			break
		}
	}
	if len(l.Holders) > 0 {
		holder = l.Holders[0].Class
	}
	return refinedTo(class, in, holder, threshold)
}

// refinedTo is a class's Thread View refined to where it waits for locks, in a function where one is given, and on to a class
// of holders where one is given.
func refinedTo(class, in, holder string, threshold refine.Threshold) session.Profile {
	path := callpath.Of(callpath.Frame(class))
	if in != "" {
		path = path.Then(callpath.Frame(in), true)
	}
	path = path.Then(callpath.Frame(views.Monitor.String()), true)
	steps := []refine.Step{{Kind: refine.KindPath, Text: path.String()}, {Kind: refine.KindDown, Text: path.String()}}
	if holder != "" {
		path = path.Then(callpath.Frame(holder), false)
		steps = append(steps, refine.Step{Kind: refine.KindFollow, Text: path.String()})
	}
	return session.Profile{Class: class, Steps: steps, Threshold: threshold, Selected: path.String()}
}

// openHolders opens the profile of what holders were doing, at the selected lock.
func (w *lockWindow) openHolders() {
	s := session.Profile{Threshold: w.a.threshold, Steps: []refine.Step{{Kind: refine.KindDown, Text: calltree.RootName}}}
	if i := w.item(); i != nil && i.lock != nil {
		path := callpath.Of(callpath.Frame(calltree.RootName)).Then(callpath.Frame(i.lock.String()), false)
		s.Selected = path.String()
		s.Steps = append(s.Steps, refine.Step{Kind: refine.KindFollow, Text: s.Selected})
	}
	w.a.openHolders(s)
}

func (w *lockWindow) askSearch() {
	var names []string
	for _, i := range w.found.items {
		names = append(names, i.key)
	}
	w.a.ask("/", "", words(names...), func(text string) error {
		if text != "" {
			w.search = text
		}
		w.a.act(w, func() { w.seek(1) })
		return nil
	})
}

// seek selects the next item, or the one before, that has what was searched for in its name.
func (w *lockWindow) seek(by int) {
	n := len(w.found.items)
	if n == 0 || w.search == "" {
		w.a.say("Nothing was searched yet: / asks for a text.")
		return
	}
	for i, step := max(w.place(), 0), 0; step < n; step++ {
		i = (i + by + n) % n
		if strings.Contains(strings.ToLower(w.found.items[i].key), strings.ToLower(w.search)) {
			w.choose(i)
			return
		}
	}
	w.a.say("No lock has %q in its name.", w.search)
}

// MouseHandler selects and opens locks, and scrolls.
func (w *lockWindow) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		w.mouse(action, e)
		return true, nil
	}
}

func (w *lockWindow) mouse(action tview.MouseAction, e *tcell.EventMouse) {
	x, y := e.Position()
	_, line, onList := w.list.has(x, y)
	_, _, onPane := w.pane.area.has(x, y)
	by := wheelLines
	switch action {
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		if onList && w.top+line < len(w.found.items) {
			key := w.found.items[w.top+line].key
			w.a.act(w, func() {
				w.selected = key
				if action == tview.MouseLeftDoubleClick {
					w.openSelected()
				}
			})
		}
	case tview.MouseScrollUp:
		by = -by
		fallthrough
	case tview.MouseScrollDown:
		if onPane {
			w.pane.top += by
		} else {
			w.choose(w.place() + by)
		}
	}
}
