package tui

import (
	"context"
	"errors"
	"slices"

	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A summaryWindow shows what was recorded and what that cost the target, the typed time over the recording, and what
// each thread class did.
type summaryWindow struct {
	*tview.Box
	a        *app
	timeline *timeline
	classTable
	all      []views.ClassSummary // also those that are hidden
	hideIdle bool                 // those that do hardly anything but wait for work
	filter   string               // the names of classes have this text
	marked   map[string]bool      // classes to merge
	order    order
	list     list
	heading  heading
	stale    bool // refresh is already waiting
}

func newSummaryWindow(a *app) *summaryWindow {
	w := &summaryWindow{Box: tview.NewBox(), a: a, timeline: newTimeline(a), classTable: classTable{widest: measure(nil)}, order: order{column: defaultOrder},
		hideIdle: a.options.LeaveOutIdle, marked: make(map[string]bool)}
	w.list = list{a: a, w: w, of: w, noun: "a class", clicked: func(_, _ int, double bool) {
		if double {
			w.openSelected()
		}
	}}
	w.list.wheel = w.list.move
	w.refresh()
	return w
}

// summaryKind is the kind of the first window.
func summaryKind() kind {
	return kind{Kind: session.Kind{Name: "summary", Single: true}, unkept: "it is always there"}
}

func (w *summaryWindow) title() string        { return "Summary" }
func (w *summaryWindow) keep() session.Window { return nil }

// refresh sums up the classes, once for several changes in a row, and makes the timeline at the same time.
func (w *summaryWindow) refresh() {
	w.timeline.refresh()
	if w.stale {
		return
	}
	w.stale = true
	w.a.act(w, func() {
		w.stale = false
		w.sumUp()
	})
}

// A classTable is a table of classes, with the widths of its columns of numbers.
type classTable struct {
	classes []views.ClassSummary // in the order of the table
	widest  []int
}

func (w *summaryWindow) sumUp() {
	r, o := w.a.recording, w.a.options
	work := func() (classTable, error) {
		classes, err := views.Classes(r, o)
		return classTable{classes, measure(classes)}, err
	}
	start(w.a, w, "Summing up the classes", work, func(t classTable, err error) {
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			w.a.fail(err)
			return
		}
		w.classTable, w.all = t, t.classes
		w.choose()
	})
}

func (w *summaryWindow) bindings() []binding {
	if w.timeline.active {
		return w.timeline.bindings()
	}
	esc := binding{keys: []string{"Esc"}, description: "count the whole recording again", do: func(string) { w.timeline.countAll() }}
	if w.a.options.Span != (views.Span{}) {
		esc.label = "All"
	}
	own := []binding{
		{keys: []string{"Enter"}, label: "Open", description: "the Thread View of the class", do: func(string) { w.openSelected() }},
		{keys: []string{"s"}, label: "Server", description: "the Server View", do: func(string) { openServer(w.a) }},
		{keys: []string{"t"}, label: "Timeline", description: "select a span and count only it; the mouse drags one", do: func(string) { w.timeline.active = true }},
		esc,
		{keys: []string{"o"}, label: "Order", description: "order by the next column; or click on its heading", do: func(string) { w.orderBy(w.nextColumn(1)) }},
		{keys: []string{"O"}, description: "order by the previous column", do: func(string) { w.orderBy(w.nextColumn(-1)) }},
		{keys: []string{"r"}, description: "reverse the order", do: func(string) { w.orderBy(w.order.column) }},
		{keys: []string{"H"}, description: "show or hide the classes that do hardly anything but wait for work", do: func(string) { w.toggleIdle() }},
		{keys: []string{"f"}, description: "filter: show only the classes with a text in their names", do: func(string) { w.askFilter() }},
		{keys: []string{"Space"}, description: "mark the class for a merge, or remove its mark", do: func(string) { w.toggleMark() }},
		{keys: []string{"M"}, description: "merge the marked classes into one; or split a merged class", do: func(string) { w.askMerge() }},
		{keys: []string{"w"}, description: "show or hide waiting goroutines in the timeline", do: func(string) { w.timeline.toggleWaiting() }},
		{keys: []string{"i"}, label: "Info", description: "all about the recording, and all warnings", do: func(string) { w.a.overlay = newInfo(w.a) }},
	}
	return append(own, w.list.bindings()...)
}

func (w *summaryWindow) commands() []command { return nil }

func (w *summaryWindow) openSelected() {
	if w.list.current() >= 0 {
		openThread(w.a, w.list.selected)
	}
}

func (w *summaryWindow) lines() int           { return len(w.classes) }
func (w *summaryWindow) key(line int) string  { return w.classes[line].Class }
func (w *summaryWindow) name(line int) string { return w.classes[line].Class }

func (w *summaryWindow) lineOf(class string) int {
	return slices.IndexFunc(w.classes, func(c views.ClassSummary) bool { return c.Class == class })
}

// nextColumn returns the visible column after, or before, the one of the order.
func (w *summaryWindow) nextColumn(by int) int {
	n := len(classColumns)
	for step := 1; step < n; step++ {
		if column := (w.order.column + by*step + n*step) % n; w.heading.shows(column) {
			return column
		}
	}
	return w.order.column
}

// orderBy orders by a column, or reverses the order if it is already by that column.
func (w *summaryWindow) orderBy(column int) {
	w.order = order{column, column == w.order.column && !w.order.reversed}
	w.order.sort(w.classes)
	w.list.reselect()
}

// MouseHandler handles the mouse in the timeline, on the table's heading, and on its classes.
func (w *summaryWindow) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		if action == tview.MouseMove && e.Buttons()&tcell.ButtonPrimary == 0 {
			w.timeline.dragged = false // released over another window
		}
		if w.timeline.mouse(action, x, y) || w.list.mouse(action, x, y) {
			return true, nil
		}
		if action == tview.MouseLeftClick || action == tview.MouseLeftDoubleClick {
			if column := w.heading.columnAt(x, y); column >= 0 {
				w.orderBy(column)
			}
		}
		return true, nil
	}
}
