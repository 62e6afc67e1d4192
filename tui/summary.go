package tui

import (
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A summaryWindow lists the thread classes.
type summaryWindow struct {
	*tview.Box
	a        *app
	classes  []views.ClassSummary
	selected string // class
}

func newSummaryWindow(a *app) *summaryWindow {
	w := &summaryWindow{Box: tview.NewBox(), a: a}
	w.refresh()
	return w
}

func (w *summaryWindow) title() string              { return "Summary" }
func (w *summaryWindow) primitive() tview.Primitive { return w }
func (w *summaryWindow) commands() []command        { return nil }
func (w *summaryWindow) closed()                    {}

func (w *summaryWindow) refresh() {
	r, o := w.a.recording, w.a.options
	start(w.a, w, "Summing up the classes", func() ([]views.ClassSummary, error) { return views.Classes(r, o) },
		func(classes []views.ClassSummary, err error) {
			if err != nil {
				w.a.fail(err)
				return
			}
			w.classes = classes
			if w.selected == "" && len(classes) > 0 {
				w.selected = classes[0].Class
			}
		})
}

func (w *summaryWindow) bindings() []binding {
	return []binding{
		{keys: []string{"Enter"}, label: "Open", description: "the Thread View of the class", do: func(string) { w.a.openThread(w.selected) }},
		{keys: []string{"s"}, label: "Server", description: "the Server View", do: func(string) { w.a.openServer() }},
		{keys: []string{"j", "Down"}, description: "down", do: func(string) { w.move(1) }},
		{keys: []string{"k", "Up"}, description: "up", do: func(string) { w.move(-1) }},
	}
}

func (w *summaryWindow) move(by int) {
	for i, c := range w.classes {
		if c.Class == w.selected {
			w.selected = w.classes[min(max(0, i+by), len(w.classes)-1)].Class
			return
		}
	}
}

// Draw draws the table.
func (w *summaryWindow) Draw(screen tcell.Screen) {
	c := newCanvas(screen, w)
	for y, class := range w.classes {
		style := w.a.theme.plain
		if class.Class == w.selected {
			style = w.a.theme.selected
		}
		c.text(1, y, report.Hits(hits(class.Hits))+"  "+class.Class, style)
	}
}
