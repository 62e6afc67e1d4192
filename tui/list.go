package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// A list is a number of lines with a selected one. It has the
// cursor, the search, the range of visible lines, the keys and
// the mouse. Its window has the lines and draws them. The list
// remembers the selected line by its key. The same line stays
// selected if the window's lines or their order change: see
// reselect.
type list struct {
	a       *app
	w       window // searches and clicks are actions of this window
	of      listed
	noun    string // of a line: "a class"
	clicked func(line, column int, double bool)
	scrolls bool // the wheel scrolls; otherwise it selects
	button  bool // there is a button for the search
	mark    int  // the column of the mark of the selected line; -1: it has none

	pager             // the visible lines
	selected   string // the key; a span may not have its line
	at         int    // the selected line, or -1; see current
	toSelected bool   // scroll to the selected line
	reveal     int    // number of lines below the selected one to scroll to
	search     string // the text that was searched last
}

// A listed has the lines of a list.
type listed interface {
	lines() int

	// key identifies a line, even if other lines change; name is
	// the text for the search.
	key(line int) string
	name(line int) string

	// lineOf returns the line of a key, or the line that
	// replaces it; -1 for none.
	lineOf(key string) int
}

// newList returns a list that opens a line on a double click.
func newList(a *app, w interface {
	window
	listed
	openSelected()
}, noun string, button bool) list {
	return list{a: a, w: w, of: w, noun: noun,
		button: button, clicked: func(_, _ int, double bool) {
			if double {
				w.openSelected()
			}
		}}
}

// current returns the selected line, -1 if it isn't there.
func (l *list) current() int {
	if l.at >= l.of.lines() {
		return -1
	}
	return l.at
}

// selected returns the selected one of a list's lines, nil if it
// isn't there.
func selected[T any](l *list, lines []T) *T {
	if at := l.current(); at >= 0 {
		return &lines[at]
	}
	return nil
}

// reselect finds the selected line again, after the lines have
// changed. If none was selected, the first one is.
func (l *list) reselect() {
	l.at, l.toSelected = l.of.lineOf(l.selected), true
	if l.selected == "" {
		l.choose(0)
	}
}

// choose selects the line nearest to the given number.
func (l *list) choose(line int) {
	if n := l.of.lines(); n > 0 {
		l.at, l.toSelected = min(max(line, 0), n-1), true
		l.selected = l.of.key(l.at)
	}
}

// chooseKey selects the line of a key; the list may not have it now.
func (l *list) chooseKey(key string) {
	l.selected = key
	l.reselect()
}

// move selects a line further down, or up.
func (l *list) move(by int) { l.choose(l.at + by) }

// inSight returns the lines to draw on an area, from first to
// before last. If the selection has moved, they include the
// selected line and up to reveal lines below it.
func (l *list) inSight(area canvas) (first, last int) {
	l.toSelected = l.toSelected || area.height != l.area.height
	if l.toSelected {
		at := max(l.at, 0)
		bottom := at + min(l.reveal, area.height-2)
		l.top = min(max(l.top, bottom-area.height+1), at)
		l.toSelected, l.reveal = false, 0
	}
	return l.pager.inSight(area, l.of.lines())
}

// drawHead divides a window into a list and its details. It
// draws the list's title, and returns the lines of the list in
// sight and the place of the details.
func (l *list) drawHead(c canvas, t *theme, title string) (first, last int, details canvas) {
	top, details := divide(c)
	first, last = l.inSight(top.part(0, 1, top.width, top.height-1))
	top.bar(title, t)
	l.drawMore(top, t)
	return first, last, details
}

// draw draws lines with a function, which gets the line's place
// and style. The selected one stands out, and has a mark.
func (l *list) draw(first, last int, t *theme, draw func(c canvas, line int, style tcell.Style)) {
	for line := first; line < last; line++ {
		c, style := l.area.part(0, line-first, l.area.width, 1), t.plain
		if line == l.at {
			style = t.selected
			c.fill(0, style)
		}
		draw(c, line, style)
		if line == l.at {
			c.text(l.mark, 0, "›", style)
		}
	}
}

// drawMore writes, at the right end of a line, how many lines
// are above and below the visible ones.
func (l *list) drawMore(c canvas, t *theme) {
	drawScrolled(c, "", l.top, l.of.lines()-l.top-l.area.height, t.bar)
}

// drawScrolled writes, at the right end of a bar, the number of
// lines above and below, and the keys that scroll.
func drawScrolled(c canvas, how string, above, below int, style tcell.Style) {
	if above > 0 || below > 0 {
		text := fmt.Sprintf(" ▲%d ▼%d %s", max(above, 0), max(below, 0), how)
		c.text(c.width-textWidth(text), 0, text, style)
	}
}

// bindings are the keys of a list.
func (l *list) bindings() []binding {
	_, one, _ := strings.Cut(l.noun, " ")
	page := max(l.area.height-1, 1)
	search := on("/", "", "search "+l.noun+" by its name", l.ask)
	if l.button {
		search.label = "Search"
	}
	return []binding{
		search,
		on("n", "", "the next "+one+" that matches the search", func() { l.seek(1) }),
		on("N", "", "the previous "+one+" that matches the search", func() { l.seek(-1) }),
		on("j Down", "", "the next "+one, func() { l.move(1) }),
		on("k Up", "", "the previous "+one, func() { l.move(-1) }),
		on("PgDn Ctrl-F", "", "a page down", func() { l.move(page) }),
		on("PgUp Ctrl-B", "", "a page up", func() { l.move(-page) }),
		on("Ctrl-D", "", "half a page down", func() { l.move((page + 1) / 2) }),
		on("Ctrl-U", "", "half a page up", func() { l.move(-(page + 1) / 2) }),
		on("g Home", "", "the first "+one, func() { l.choose(0) }),
		on("G End", "", "the last "+one, func() { l.choose(l.of.lines() - 1) }),
	}
}

// ask asks for a text, and selects the next line with a name
// that contains it.
func (l *list) ask() {
	var names []string
	for i := range l.of.lines() {
		names = append(names, l.of.name(i))
	}
	l.a.ask("/", "", oneOf(names...), func(text string) error {
		if text != "" {
			l.search = text
		}
		l.a.act(l.w, func() { l.seek(1) })
		return nil
	})
}

// seek selects the next or the previous line with a name that
// contains the text of the last search. After the last line, it
// continues with the first one.
func (l *list) seek(by int) {
	n := l.of.lines()
	if l.search == "" || n == 0 {
		l.a.say("There is no search to repeat: / begins one.")
		return
	}
	from := max(l.at, 0)
	for step := 1; step <= n; step++ {
		line := ((from+by*step)%n + n) % n
		if !strings.Contains(strings.ToLower(l.of.name(line)), strings.ToLower(l.search)) {
			continue
		}
		if by > 0 && line <= from || by < 0 && line >= from {
			l.a.say("The search continued from the other end.")
		}
		l.choose(line)
		return
	}
	_, one, _ := strings.Cut(l.noun, " ")
	l.a.say("No %s has %q in its name.", one, l.search)
}

// mouse handles clicks, which select a line, and the wheel; it
// reports whether it handled the action.
func (l *list) mouse(action mouseAction, x, y int) bool {
	column, row, inside := l.area.has(x, y)
	if action == mouseClick || action == mouseDoubleClick {
		if line := l.top + row; inside && line < l.of.lines() {
			l.a.act(l.w, func() {
				l.choose(line)
				l.clicked(line, column, action == mouseDoubleClick)
			})
		}
		return inside
	}
	if l.scrolls {
		return wheeled(action, l.scroll)
	}
	return wheeled(action, l.move)
}

// A listAndPane is a list with a pane about its selected line.
type listAndPane struct {
	list list
	pane pane
}

// mouse selects and opens lines, and scrolls.
func (w *listAndPane) mouse(action mouseAction, x, y int) {
	if !w.pane.mouse(action, x, y) {
		w.list.mouse(action, x, y)
	}
}

// hide notes that nothing is in sight, until it is drawn.
func (w *listAndPane) hide() { w.list.area, w.pane.area = canvas{}, canvas{} }

// bindings returns the keys of the list and of the pane, after
// the window's own.
func (w *listAndPane) bindings(own ...binding) []binding {
	return slices.Concat(own, w.pane.bindings("More"), w.list.bindings())
}
