package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/why"
	"github.com/gdamore/tcell/v2"
)

// A findingsWindow shows what is slow, and why: a line for each
// finding, and all about the selected one.
type findingsWindow struct {
	answer *why.Answer // empty until the search has ended
	asked  bool        // a person opened the window: it stays even if there are no findings
	content
	listAndPane
}

// findingsKind is the kind of this window; every window can open it.
func (a *app) findingsKind() kind {
	open := func() { openFindings(a, true) }
	return kind{
		Kind: session.FindingsKind,
		reopen: func(kept session.Window) {
			open()
			a.window().(*findingsWindow).list.selected = kept.(*session.Findings).Selected
		},
		bindings: []binding{on("W", "Why", "what is slow, and why", open)},
		commands: []command{newCommand("why", "what is slow, where, when and why",
			func(string) error { open(); return nil }, nil),
			newCommand("without [half of] PATH|LOCK",
				"what it would bring if this cost, or the selected one, went away",
				a.withoutCommand, nil)},
	}
}

// openFindings shows the window of the findings, and opens it if
// necessary. If nobody asked for it, it closes itself again if
// there are none.
func openFindings(a *app, asked bool) {
	if _, open := showOpen(a, anyOne[*findingsWindow]); open {
		return
	}
	w := &findingsWindow{asked: asked, answer: new(why.Answer)}
	w.list = newList(a, w, "a finding", true)
	w.open(a, w, w.search)
}

func (w *findingsWindow) title() string { return "Why" }
func (w *findingsWindow) keep() session.Window {
	return &session.Findings{Selected: w.list.selected}
}

func (w *findingsWindow) search() {
	r, o := w.a.recording, why.OptionsOf(w.a.config, w.a.options)
	work := func() (*why.Answer, error) { return why.Find(r, o) }
	compute(&w.content, "Searching for what is slow", work, func(found *why.Answer) {
		w.answer = cmp.Or(found, new(why.Answer))
		if w.failed == nil && len(w.answer.Findings) == 0 && !w.asked {
			w.a.close(w)
			return
		}
		w.asked = true
		w.list.reselect()
	})
}

func (w *findingsWindow) lines() int           { return len(w.answer.Findings) }
func (w *findingsWindow) key(line int) string  { return w.answer.Findings[line].Key() }
func (w *findingsWindow) name(line int) string { return report.Sentence(w.answer.Findings[line]) }

func (w *findingsWindow) lineOf(key string) int {
	return slices.IndexFunc(w.answer.Findings, func(f *why.Finding) bool { return f.Key() == key })
}

// bindings are the keys and buttons of the window.
func (w *findingsWindow) bindings() []binding {
	return w.listAndPane.bindings(on("Enter", "Open",
		"the view that shows the finding, refined to its place", w.openSelected))
}

// openSelected opens the view that proves the selected finding.
func (w *findingsWindow) openSelected() {
	if line := w.list.current(); line >= 0 {
		openProfile(w.a, w.a.proof(w.answer.Findings[line]))
	}
}

// proof returns the view that shows a finding, refined to its place.
func (a *app) proof(f *why.Finding) session.Profile {
	if f.AwaitsLock() {
		holder := ""
		if len(f.Causes) > 0 && f.Causes[0].Certainty == why.Known {
			holder = f.Causes[0].Class
		}
		return a.refinedTo(f.Class, f.Where.Function, views.Monitor, holder)
	}
	class, last := f.View()
	path := callpath.Of(callpath.Frame(cmp.Or(class, calltree.RootName))).Then(callpath.Frame(last),
		callpath.Extended)
	return a.profileAt(class, path)
}

// draw draws the window: the findings, and all about the selected one.
func (w *findingsWindow) draw(c canvas) {
	w.hide()
	if !w.drawReady(c, "Searching for what is slow …") {
		return
	}
	verdict := (&report.Why{Answer: w.answer}).Verdict()
	if len(w.answer.Findings) == 0 {
		c.lines(1, wrap(verdict, c.width-2), w.a.theme.plain)
		return
	}
	if verdict != "" {
		said := wrap(verdict, c.width-2)
		c.lines(0, said, w.a.theme.plain)
		c = c.part(0, len(said), c.width, c.height-len(said))
	}
	first, last, pane := w.list.drawHead(c, w.a.theme, "What is slow, the worst first")
	w.list.draw(first, last, w.a.theme, func(c canvas, i int, style tcell.Style) {
		text := fmt.Sprintf("%d. %s", i+1, printable(w.name(i)))
		c.text(1, 0, termtext.Cut(text, c.width-1), style)
	})
	if at := w.list.current(); at >= 0 {
		f := w.answer.Findings[at]
		w.pane.drawDetails(pane, w.a.theme, "Why", f.Key(),
			(&report.Why{Answer: w.answer, File: w.a.path}).Details(f))
	}
}

// A costWindow is a window with a selected cost.
type costWindow interface {
	// cost returns the selected call path, or the name of the
	// selected lock; "" if there is none.
	cost() string
}

func (w *profileWindow) cost() string {
	if e := w.entries.entry(); e != nil {
		return e.Key()
	}
	return ""
}

func (w *lockWindow) cost() string {
	if i := w.item(); i != nil && i.lock != nil {
		return i.lock.Name
	}
	return ""
}

// withoutCommand shows what it would bring if a cost went away,
// or half of it: the selected cost if there is no other.
func (a *app) withoutCommand(args string) error {
	name, half := strings.CutPrefix(args, "half of ")
	if name == "half" {
		name, half = "", true
	}
	w := a.window()
	if c, ok := w.(costWindow); ok && name == "" {
		name = c.cost()
	}
	if name == "" {
		return fmt.Errorf("want a call path or a lock's name, such as 'half of main.handle'")
	}
	r, o := a.recording, why.OptionsOf(a.config, a.options)
	work := func() (*why.Removal, error) { return why.Without(r, o, name, half) }
	attempt(a, w, "Computing what it would bring", work, func(r *why.Removal) {
		text := printable(report.RemovalOf(r, report.BasisOf(a.recording)).Text)
		a.overlay = newTextPage(a, func() string { return text })
	}, a.fail)
	return nil
}
