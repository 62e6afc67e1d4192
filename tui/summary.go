package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A summaryWindow says what was recorded and what that cost the target, when what happened, and what each thread class did.
type summaryWindow struct {
	*tview.Box
	a        *app
	timeline *timeline
	classes  []views.ClassSummary // in the order of the table
	widest   [typedColumn - 1]int // of the columns of numbers, in characters
	order    order
	selected string // class; it may be gone while only a span counts
	top      int    // the first class shown
	table    tablePlace
	found    string // what was searched for last
	stale    bool   // refresh is waiting for its turn
}

func newSummaryWindow(a *app) *summaryWindow {
	w := &summaryWindow{Box: tview.NewBox(), a: a, timeline: newTimeline(a), order: order{column: defaultOrder}}
	w.refresh()
	return w
}

// summaryKind is the kind of the first window.
func summaryKind() kind {
	return kind{Kind: session.Kind{Name: "summary", Single: true}, unkept: "it is always there"}
}

func (w *summaryWindow) title() string        { return "Summary" }
func (w *summaryWindow) keep() session.Window { return nil }

// refresh sums up the classes, once for all changes that come before its turn, and makes the timeline beside that.
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

func (w *summaryWindow) sumUp() {
	r, o := w.a.recording, w.a.options
	start(w.a, w, "Summing up the classes", func() ([]views.ClassSummary, error) { return views.Classes(r, o) },
		func(classes []views.ClassSummary, err error) {
			if errors.Is(err, context.Canceled) {
				return
			}
			if err != nil {
				w.a.fail(err)
				return
			}
			w.classes = classes
			w.measure()
			w.order.sort(w.classes)
			if w.selected == "" && len(classes) > 0 {
				w.selected = w.classes[0].Class
			}
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
	return []binding{
		{keys: []string{"Enter"}, label: "Open", description: "the Thread View of the class", do: func(string) { w.openSelected() }},
		{keys: []string{"s"}, label: "Server", description: "the Server View", do: func(string) { w.a.openServer() }},
		{keys: []string{"t"}, label: "Timeline", description: "select a span that alone counts; the mouse drags one", do: func(string) { w.timeline.active = true }},
		esc,
		{keys: []string{"o"}, label: "Order", description: "order by the next column; or click on its heading", do: func(string) { w.orderBy(w.order.column + 1) }},
		{keys: []string{"O"}, description: "order by the column before", do: func(string) { w.orderBy(w.order.column - 1 + len(classColumns)) }},
		{keys: []string{"r"}, description: "reverse the order", do: func(string) { w.orderBy(w.order.column) }},
		{keys: []string{"w"}, description: "waiting goroutines in the timeline, too, or not", do: func(string) { w.timeline.toggleWaiting() }},
		{keys: []string{"i"}, label: "Info", description: "all about the recording, and all warnings", do: func(string) { w.a.overlay = newInfo(w.a) }},
		{keys: []string{"/"}, description: "search a class", do: func(string) { w.search() }},
		{keys: []string{"n"}, description: "the next class that was searched for", do: func(string) { w.next(1) }},
		{keys: []string{"N"}, description: "the class before that was searched for", do: func(string) { w.next(-1) }},
		{keys: []string{"j", "Down"}, description: "the next class", do: func(string) { w.move(1) }},
		{keys: []string{"k", "Up"}, description: "the class before", do: func(string) { w.move(-1) }},
		{keys: []string{"PgDn", "Ctrl-F"}, description: "a page on", do: func(string) { w.move(w.table.rows) }},
		{keys: []string{"PgUp", "Ctrl-B"}, description: "a page back", do: func(string) { w.move(-w.table.rows) }},
		{keys: []string{"g", "Home"}, description: "the first class", do: func(string) { w.move(-len(w.classes)) }},
		{keys: []string{"G", "End"}, description: "the last class", do: func(string) { w.move(len(w.classes)) }},
	}
}

func (w *summaryWindow) commands() []command {
	return []command{{
		name: "span", args: "FROM TO | FROM | all", description: "the offsets between which samples count, such as 1.5s 2s",
		do:       func(args string) error { return w.timeline.spanCommand(args) },
		complete: words("all"),
	}}
}

func (w *summaryWindow) openSelected() {
	if w.place() >= 0 {
		w.a.openThread(w.selected)
	}
}

// place is that of the selected class in the table, -1 where it isn't there.
func (w *summaryWindow) place() int {
	return slices.IndexFunc(w.classes, func(c views.ClassSummary) bool { return c.Class == w.selected })
}

func (w *summaryWindow) move(by int) {
	if len(w.classes) > 0 {
		w.selected = w.classes[min(max(0, w.place()+by), len(w.classes)-1)].Class
	}
}

// orderBy orders by a column, or reverses the order where that is the column already.
func (w *summaryWindow) orderBy(column int) {
	column %= len(classColumns)
	w.order = order{column, column == w.order.column && !w.order.reversed}
	w.order.sort(w.classes)
}

func (w *summaryWindow) search() {
	var names []string
	for _, c := range w.classes {
		names = append(names, c.Class)
	}
	w.a.ask("/", "", words(names...), func(text string) error {
		if text != "" {
			w.found = text
		}
		w.next(1)
		return nil
	})
}

// next selects the next class, or the one before, that has what was searched for in its name.
func (w *summaryWindow) next(by int) {
	n := len(w.classes)
	if n == 0 || w.found == "" {
		return
	}
	for i, step := max(w.place(), 0), 0; step < n; step++ {
		i = (i + by + n) % n
		if strings.Contains(strings.ToLower(w.classes[i].Class), strings.ToLower(w.found)) {
			w.selected = w.classes[i].Class
			return
		}
	}
	w.a.say("No class has %q in its name.", w.found)
}

// MouseHandler takes the mouse: in the timeline, on the table's heading, and on its classes.
func (w *summaryWindow) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		if action == tview.MouseMove && e.Buttons()&tcell.ButtonPrimary == 0 {
			w.timeline.dragged = false // let go over another window
		}
		if w.timeline.mouse(action, x, y) {
			return true, nil
		}
		switch action {
		case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
			w.click(x, y, action == tview.MouseLeftDoubleClick)
		case tview.MouseScrollUp:
			w.move(-wheelLines)
		case tview.MouseScrollDown:
			w.move(wheelLines)
		}
		return true, nil
	}
}

func (w *summaryWindow) click(x, y int, double bool) {
	place := y - w.table.y - 1
	switch {
	case place == -1:
		if column := w.table.columnAt(x); column >= 0 {
			w.orderBy(column)
		}
	case place >= 0 && place < w.table.rows && w.top+place < len(w.classes):
		w.selected = w.classes[w.top+place].Class
		if double {
			w.a.act(w, w.openSelected)
		}
	}
}
