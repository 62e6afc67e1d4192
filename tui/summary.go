package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A summaryWindow shows a summary of the recording, its cost to
// the target, the typed time over the recording, and what each
// thread class did.
type summaryWindow struct {
	timeline *timeline
	classTable
	all      []views.ClassPair // also those that are hidden
	hideIdle bool              // those that do hardly anything but wait for work
	filter   string            // the names of classes have this text
	marked   map[string]bool   // classes to merge
	order    order
	list     list
	heading  heading
	content
}

func openSummary(a *app, s session.Summary) {
	w := &summaryWindow{timeline: newTimeline(a, s.Lanes),
		classTable: tabulated(a.recording, nil, a.against != ""),
		order:      order{s.Order, s.Reversed},
		hideIdle:   !s.All, filter: s.Filter, marked: make(map[string]bool)}
	w.list = newList(a, w, "a class", false)
	w.list.mark = -1
	w.open(a, w, w.sumUp)
}

// summaryKind is the kind of the first window.
func (a *app) summaryKind() kind {
	return kind{Kind: session.Kind{Name: "summary", Single: true}, whyNotKept: "it is always there"}
}

func (w *summaryWindow) title() string        { return "Summary" }
func (w *summaryWindow) keep() session.Window { return nil }

// kept returns the state of the window that a session keeps.
func (w *summaryWindow) kept() session.Summary {
	s := session.Summary{All: !w.hideIdle, Filter: w.filter, Order: w.order.column,
		Reversed: w.order.reversed, Lanes: w.timeline.lanes.chosen}
	if w.a.against != "" {
		s.Against = session.Relative(w.a.path, w.a.against)
	}
	return s
}

// A classTable is a table of classes.
type classTable struct {
	// in the order of the table; if they are not compared, only
	// New is there
	classes  []views.ClassPair
	compared bool // with another recording
	columns  []classColumn
	widest   []int // the widths of the columns of numbers
}

func tabulated(r *sampledata.Recording, classes []views.ClassPair, compared bool) classTable {
	columns := classColumns
	switch {
	case compared:
		columns = comparedColumns
	case r.Profile != nil:
		columns = append(numberColumns(report.ProfileNumbers(r)...), nameColumn)
	}
	return classTable{classes, compared, columns, measure(classes, columns)}
}

// sumUp sums up the classes, and makes the timeline at the same time.
func (w *summaryWindow) sumUp() {
	w.timeline.refresh()
	a, r, o, against := w.a, w.a.recording, w.a.options, w.a.against
	var failed error // why they could not be compared with the other recording
	work := func() (classTable, error) {
		if against != "" {
			var pairs []views.ClassPair
			if pairs, failed = comparing(a, r, o, against, views.ComparedClasses); failed == nil {
				return tabulated(r, pairs, true), nil
			}
		}
		classes, err := views.Classes(r, o)
		return tabulated(r, views.PairClasses(classes, nil), false), err
	}
	attempt(w.a, w, "Summing up the classes", work, func(t classTable) {
		w.classTable, w.all = t, t.classes
		w.choose()
		if failed != nil {
			w.a.fail(failed)
		}
	}, w.a.fail)
}

func (w *summaryWindow) bindings() []binding {
	if w.timeline.active {
		return w.timeline.bindings()
	}
	esc := on("Esc", "", "clear the filter; or count the whole recording again", w.clear)
	if w.filter != "" || w.a.options.Span != (views.Span{}) {
		esc.label = "All"
	}
	own := []binding{
		on("Enter", "Open", "the Thread View of the class", w.openSelected),
		on("s", "Server", "the Server View", func() { openServer(w.a) }),
		on("t", "Timeline", "select a span and count only it; the mouse drags one",
			func() { w.timeline.active = true }),
		esc,
		on("o", "Order", "order by the next column; or click on its heading",
			func() { w.orderBy(w.nextColumn(1)) }),
		on("O", "", "order by the previous column", func() { w.orderBy(w.nextColumn(-1)) }),
		on("r", "", "reverse the order", func() { w.orderBy(w.order.of(w.columns)) }),
		on("H", "", "show or hide the classes that do hardly anything but wait for work",
			w.toggleIdle),
		on("f", "", "filter: show only the classes with a text in their names", w.askFilter),
		on("Space", "", "mark the class for a merge, or remove its mark", w.toggleMark),
		on("M", "", "merge the marked classes into one; or split a merged class", w.askMerge),
		on("w", "", "show or hide waiting goroutines in the timeline", w.timeline.toggleWaiting),
		on("i", "Info", "all about the recording, and all warnings",
			func() { w.a.overlay = newInfo(w.a) }),
	}
	return append(own, w.list.bindings()...)
}

func (w *summaryWindow) commands() []command {
	return []command{w.a.againstCommand(w), w.timeline.lanes.command()}
}

func (w *summaryWindow) openSelected() {
	line := w.list.current()
	if line < 0 {
		return
	}
	if w.compared && !w.classes[line].Common() {
		w.a.openOnly(&w.classes[line])
		return
	}
	openView(w.a, session.Profile{Class: w.list.selected, Threshold: w.a.threshold})
}

func (w *summaryWindow) lines() int           { return len(w.classes) }
func (w *summaryWindow) key(line int) string  { return w.classes[line].Class }
func (w *summaryWindow) name(line int) string { return w.classes[line].Class }

func (w *summaryWindow) lineOf(class string) int {
	return slices.IndexFunc(w.classes, func(c views.ClassPair) bool { return c.Class == class })
}

// nextColumn returns the visible column after, or before, the
// one of the order.
func (w *summaryWindow) nextColumn(by int) int {
	n, at := len(w.columns), w.order.of(w.columns)
	for step := 1; step < n; step++ {
		if column := (at + by*step + n*step) % n; w.heading.shows(column) {
			return column
		}
	}
	return at
}

// orderBy orders by a column, or reverses the order if it is
// already by that column.
func (w *summaryWindow) orderBy(column int) {
	w.order = order{w.columns[column].name, column == w.order.of(w.columns) && !w.order.reversed}
	if column == defaultOrder(w.columns) {
		w.order.column = ""
	}
	w.order.sort(w.classes, w.columns)
	w.list.reselect()
}

// mouse handles the mouse in the timeline, on the table's
// heading, and on its classes.
func (w *summaryWindow) mouse(action mouseAction, x, y int) {
	if action == mouseMove {
		w.timeline.dragged = false // released over another window
	}
	if w.timeline.mouse(action, x, y) || w.timeline.lanes.mouse(action, x, y) ||
		w.list.mouse(action, x, y) {
		return
	}
	if action == mouseClick || action == mouseDoubleClick {
		if column := w.heading.columnAt(x, y); column >= 0 {
			w.orderBy(column)
		}
	}
}

// maxHead limits the lines of the head; Info shows all of them.
const maxHead = 3

// drawHead draws what was recorded and what that cost the
// target, and returns the number of its lines.
func (w *summaryWindow) drawHead(c canvas) int {
	lines := wrap(headline(w.a.path, w.a.recording), c.width-2)
	lines = lines[:min(len(lines), maxHead-1)]
	if w.compared {
		lines = []string{"new: " + headline(w.a.path, w.a.recording)}
		if other, err := w.a.others.Open(w.a.against); err == nil {
			lines = append([]string{"old: " + headline(w.a.against, other)}, lines...)
		}
	}
	c.lines(0, lines, w.a.theme.plain)
	y := len(lines)
	if text, style := w.state(); text != "" {
		c.line(y, text, style)
		y++
	}
	return y
}

// headline returns what was recorded, and what that cost the target.
func headline(path string, r *sampledata.Recording) string {
	var b strings.Builder
	report.Headline(&b, path, r)
	text, _, _ := strings.Cut(b.String(), "\n")
	return text
}

// state returns the state of the recording, or its warnings, or "".
func (w *summaryWindow) state() (text string, style tcell.Style) {
	r := w.a.recording
	var first string
	switch {
	case len(r.Warnings) == 1:
		first = "warning: " + r.Warnings[0].Message
	case len(r.Warnings) > 1:
		first = fmt.Sprintf("%d warnings (i shows all): %s", len(r.Warnings), r.Warnings[0].Message)
	}
	if w.a.live != nil {
		return w.a.live.state()
	}
	if r.End == nil {
		text = "the recording is incomplete"
		if first != "" {
			text += "; " + first
		}
		return text, w.a.theme.err
	}
	return first, w.a.theme.warning
}

// newInfo returns the page with all information on the recording.
func newInfo(a *app) *page {
	return newTextPage(a, func() string {
		var b strings.Builder
		if err := report.Info(&b, a.path, a.recording); err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(b.String(), "\n")
	})
}
