package tui

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A list is lines of which one is selected: its cursor and its search, what of it is in sight, its keys and its mouse. The
// window that it is part of has the lines and draws them. What is selected is remembered by its key, so that it is the same
// line after the window has other lines, or the same in another order: see found.
type list struct {
	a       *app
	w       window // to whose jobs searching and clicking belong
	of      listed
	noun    string // of a line: "a class"
	clicked func(line, column int, double bool)
	wheel   func(by int) // select or scroll
	button  bool         // there is one for searching

	selected string // the key; the line may be gone while only a span counts
	at       int    // the selected line when it was looked for last, see current
	area     canvas // of the last drawing
	top      int    // the first line in sight
	follow   bool   // the selected line has to be in sight
	reveal   int    // lines below the selected one that should be in sight too
	search   string // the text that was searched last
}

// A listed has the lines of a list.
type listed interface {
	lines() int

	// key says what a line is, whatever else there is; name is what a search looks in.
	key(line int) string
	name(line int) string

	// lineOf returns the line of a key, or the one that stands for it; -1 for none.
	lineOf(key string) int
}

// current returns the selected line, -1 if it isn't there.
func (l *list) current() int {
	if l.at >= l.of.lines() {
		return -1
	}
	return l.at
}

// found finds the selected line again, after the lines have changed.
func (l *list) found() { l.at, l.follow = l.of.lineOf(l.selected), true }

// choose selects a line, as near as there is one.
func (l *list) choose(line int) {
	if n := l.of.lines(); n > 0 {
		l.at, l.follow = min(max(line, 0), n-1), true
		l.selected = l.of.key(l.at)
	}
}

// chooseKey selects what a key is of, whether it is in the list or not.
func (l *list) chooseKey(key string) {
	l.selected = key
	l.found()
}

// move selects a line further down, or up.
func (l *list) move(by int) { l.choose(l.at + by) }

// scroll moves what is in sight, and selects nothing else.
func (l *list) scroll(by int) { l.top += by }

// inSight returns the lines that are to be drawn on an area, from first to before last. If the selection has moved, it is
// among them, and so are as many of those below it as were asked for.
func (l *list) inSight(area canvas) (first, last int) {
	l.follow = l.follow || area.height != l.area.height
	l.area = area
	if l.follow {
		at := max(l.at, 0)
		bottom := at + min(l.reveal, area.height-2)
		l.top = min(max(l.top, bottom-area.height+1), at)
		l.follow, l.reveal = false, 0
	}
	n := l.of.lines()
	l.top = max(0, min(l.top, n-area.height))
	return l.top, min(n, l.top+area.height)
}

// drawMore says at the right end of a line how many lines are above and below those in sight.
func (l *list) drawMore(c canvas, t *theme) {
	drawScrolled(c, "", l.top, l.of.lines()-l.top-l.area.height, t.bar)
}

// drawScrolled says at the right end of a bar how much there is above and below, and how to get there.
func drawScrolled(c canvas, how string, above, below int, style tcell.Style) {
	if above > 0 || below > 0 {
		text := fmt.Sprintf(" ▲%d ▼%d %s", max(above, 0), max(below, 0), how)
		c.text(c.width-textWidth(text), 0, text, style)
	}
}

// bindings are the keys of a list.
func (l *list) bindings() []binding {
	do := func(f func(int), by int) func(string) { return func(string) { f(by) } }
	_, one, _ := strings.Cut(l.noun, " ")
	page := max(l.area.height-1, 1)
	search := binding{keys: []string{"/"}, description: "search " + l.noun + " by its name", do: func(string) { l.ask() }}
	if l.button {
		search.label = "Search"
	}
	return []binding{
		search,
		{keys: []string{"n"}, description: "the next " + one + " that was searched for", do: do(l.seek, 1)},
		{keys: []string{"N"}, description: "the " + one + " before that was searched for", do: do(l.seek, -1)},
		{keys: []string{"j", "Down"}, description: "the next " + one, do: do(l.move, 1)},
		{keys: []string{"k", "Up"}, description: "the " + one + " before", do: do(l.move, -1)},
		{keys: []string{"PgDn", "Ctrl-F"}, description: "a page on", do: do(l.move, page)},
		{keys: []string{"PgUp", "Ctrl-B"}, description: "a page back", do: do(l.move, -page)},
		{keys: []string{"Ctrl-D"}, description: "half a page on", do: do(l.move, (page+1)/2)},
		{keys: []string{"Ctrl-U"}, description: "half a page back", do: do(l.move, -(page+1)/2)},
		{keys: []string{"g", "Home"}, description: "the first " + one, do: do(l.choose, 0)},
		{keys: []string{"G", "End"}, description: "the last " + one, do: do(l.choose, l.of.lines()-1)},
	}
}

// ask asks for a text, and selects the next line that has it.
func (l *list) ask() {
	var names []string
	for i := range l.of.lines() {
		names = append(names, l.of.name(i))
	}
	l.a.ask("/", "", words(names...), func(text string) error {
		if text != "" {
			l.search = text
		}
		l.a.act(l.w, func() { l.seek(1) })
		return nil
	})
}

// seek selects the next line, or the one before, whose name has the text that was searched last. After the last line it goes
// on with the first one.
func (l *list) seek(by int) {
	n := l.of.lines()
	if l.search == "" || n == 0 {
		l.a.say("Nothing was searched yet: / asks for a text.")
		return
	}
	from := max(l.at, 0)
	for step := 1; step <= n; step++ {
		line := ((from+by*step)%n + n) % n
		if !strings.Contains(strings.ToLower(l.of.name(line)), strings.ToLower(l.search)) {
			continue
		}
		if by > 0 && line <= from || by < 0 && line >= from {
			l.a.say("Searched on from the other end.")
		}
		l.choose(line)
		return
	}
	_, one, _ := strings.Cut(l.noun, " ")
	l.a.say("No %s has %q in its name.", one, l.search)
}

// mouse selects the line of a click, and turns the wheel; it reports whether the action was one for the list.
func (l *list) mouse(action tview.MouseAction, x, y int) bool {
	column, row, inside := l.area.has(x, y)
	switch action {
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		if line := l.top + row; inside && line < l.of.lines() {
			l.a.act(l.w, func() {
				l.choose(line)
				l.clicked(line, column, action == tview.MouseLeftDoubleClick)
			})
		}
		return inside
	case tview.MouseScrollUp:
		l.wheel(-wheelLines)
	case tview.MouseScrollDown:
		l.wheel(wheelLines)
	default:
		return false
	}
	return true
}
