package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// A tracksWindow shows what goroutines did over time: a line for
// each class; of a class that is open, one for each goroutine;
// of a goroutine that is open, one for each that held what it
// waited for.
type tracksWindow struct {
	tracks *views.Tracks         // nil until they are made
	r      *sampledata.Recording // that they are of
	content
	list list

	class      string                   // that is open; "" for none
	goroutines []sampledata.GoroutineID // the lines; nil if they are classes
	of         bool                     // the first goroutine is open, the others held what it waited for

	from, to time.Duration // the time that is shown; to is 0 for all
	shares   drawnShares
	frame    // one row of columns

	kept   *session.Tracks // to be restored when the tracks are there
	toTime time.Duration   // where the cursor is to be when they are drawn; 0: where it is
}

// drawnShares are the shares of classes that were drawn, by
// line, and what they depend on.
type drawnShares struct {
	tracks   *views.Tracks
	from, to time.Duration
	columns  int
	made     map[int][][views.NumTypedTimes]float64
}

// tracksKind is the kind of this window; every window can open it.
func (a *app) tracksKind() kind {
	return kind{
		Kind:   session.TracksKind,
		reopen: func(w session.Window) { openTracks(a, *w.(*session.Tracks)) },
		commands: []command{newCommand("tracks [CLASS]",
			"what goroutines did over time, and who held what they waited for",
			func(class string) error { openTracks(a, session.Tracks{Class: class}); return nil }, nil)},
	}
}

func openTracks(a *app, kept session.Tracks) {
	w := &tracksWindow{class: kept.Class, from: kept.From, to: kept.To, kept: &kept}
	w.list = newList(a, w, "a track", false)
	w.open(a, w, w.compute)
}

func (w *tracksWindow) title() string { return "Tracks " + shorten(w.class, maxBadge) }

func (w *tracksWindow) keep() session.Window {
	if w.tracks == nil {
		return w.kept
	}
	k := &session.Tracks{Class: w.class, Selected: w.list.selected, From: w.from, To: w.to}
	if w.columns > 0 {
		k.At = w.at(w.column)
	}
	if w.of {
		k.Goroutine = w.r.Goroutines.At(w.goroutines[0]).ID
	}
	return k
}

// restore shows what was kept of the window, once the tracks are there.
func (w *tracksWindow) restore() {
	k := w.kept
	w.kept = nil
	if w.class != "" && k.Goroutine != 0 {
		w.list.chooseKey(strconv.FormatInt(k.Goroutine, 10))
		w.openSelected()
	}
	if k.Selected != "" {
		w.list.chooseKey(k.Selected)
	}
	w.toTime = k.At
}

func (w *tracksWindow) compute() {
	r, o := w.a.whole, w.a.options
	o.Span = views.Span{}
	compute(&w.content, "Reading tracks", func() (*views.Tracks, error) {
		if r.Profile != nil || r.Samples.Len() == 0 {
			return nil, fmt.Errorf("the recording has no times, and so no tracks")
		}
		return views.NewTracks(r, o), nil
	}, func(t *views.Tracks) {
		w.tracks, w.r = t, r
		if w.class != "" && !w.of {
			w.openClass(w.class)
		}
		if w.kept != nil && t != nil {
			w.restore()
		}
	})
}

func (w *tracksWindow) openClass(name string) {
	c := w.tracks.Class(name)
	if c == nil {
		w.a.fail(fmt.Errorf("the recording has no thread class %q", name))
		w.class = ""
		return
	}
	w.class, w.goroutines, w.of = name, c.Goroutines, false
	w.list.choose(0)
}

func (w *tracksWindow) lines() int {
	switch {
	case w.tracks == nil:
		return 0
	case w.goroutines == nil:
		return len(w.tracks.Classes)
	}
	return len(w.goroutines)
}

func (w *tracksWindow) key(line int) string { return w.name(line) }

func (w *tracksWindow) name(line int) string {
	if w.goroutines == nil {
		return w.tracks.Classes[line].Name
	}
	return strconv.FormatInt(w.r.Goroutines.At(w.goroutines[line]).ID, 10)
}

func (w *tracksWindow) lineOf(key string) int {
	for line := range w.lines() {
		if w.name(line) == key {
			return line
		}
	}
	return min(0, w.lines()-1)
}

func (w *tracksWindow) bindings() []binding {
	return append([]binding{
		on("Enter", "Open", "open a class, or the holders of what a goroutine waits for", w.openSelected),
		on("Backspace u", "Up", "back to the classes, or to the goroutines of the class", w.up),
		on("l Right", "", "later", w.by(1, 0)),
		on("h Left", "", "earlier", w.by(-1, 0)),
		on("+ =", "Zoom in", "half of the time, around the cursor", func() { w.zoom(1, 2) }),
		on("-", "out", "twice the time", func() { w.zoom(2, 1) }),
		on("0", "", "all time", func() { w.from, w.to = 0, 0 }),
	}, w.list.bindings()...)
}

// openSelected opens a class, or a goroutine with those that
// held what it waited for in the time that is shown.
func (w *tracksWindow) openSelected() {
	line := w.list.current()
	switch {
	case line < 0 || w.of:
	case w.goroutines == nil:
		w.openClass(w.tracks.Classes[line].Name)
	default:
		g := w.goroutines[line]
		from, to := w.window()
		list := []sampledata.GoroutineID{g}
		for i := range w.tracks.All(g, from, to) {
			run := w.r.Runs.At(int(i))
			if run.Holders == 0 || !run.Evidence.Blames() {
				continue
			}
			for _, h := range w.r.HolderSets[run.Holders] {
				if !slices.Contains(list, h) && len(list) < maxHolderLines {
					list = append(list, h)
				}
			}
		}
		w.goroutines, w.of = list, true
		w.list.choose(0)
	}
}

// maxHolderLines limits the lines of a goroutine that is open.
const maxHolderLines = 100

func (w *tracksWindow) up() {
	selected := w.class
	if w.of {
		selected = w.name(0)
		w.openClass(w.class)
	} else {
		w.class, w.goroutines = "", nil
	}
	w.list.chooseKey(selected)
}

// window returns the time that is shown.
func (w *tracksWindow) window() (from, to time.Duration) {
	if w.to != 0 {
		return w.from, w.to
	}
	return w.r.Begins(0), max(w.r.Begins(w.r.Samples.Len()), w.r.Begins(0)+1)
}

// at returns the time at the middle of a column.
func (w *tracksWindow) at(column int) time.Duration {
	from, to := w.window()
	return from + time.Duration(float64(to-from)*(float64(column)+0.5)/float64(max(w.columns, 1)))
}

// columnOf returns the column of a time.
func (w *tracksWindow) columnOf(at time.Duration) int {
	from, to := w.window()
	return int(float64(at-from) / float64(to-from) * float64(w.columns))
}

// zoom shows num/den of the time, around the cursor.
func (w *tracksWindow) zoom(num, den time.Duration) {
	if w.tracks == nil {
		return
	}
	from, to := w.window()
	center, length := w.at(w.column), max((to-from)/den*num, time.Microsecond)
	w.to = 0
	begin, end := w.window()
	if from, to = center-length/2, center+length/2; to-from >= end-begin {
		return // all
	}
	from = min(max(from, begin), end-length)
	w.from, w.to = from, from+length
	w.moveTo(w.columnOf(center), 0)
}

const trackNames = 24 // columns of a name

func (w *tracksWindow) draw(c canvas) {
	w.list.area = canvas{}
	if !w.drawReady(c, "Reading tracks …") {
		return
	}
	theme := w.a.theme
	from, to := w.window()
	w.limit(max(c.width-trackNames-1, 1), 1)
	if w.toTime > 0 {
		w.moveTo(w.columnOf(w.toTime), 0)
		w.toTime = 0
	}
	details := w.details(c.width - 2)
	details = details[:min(len(details), max(1, c.height/2))]
	height := max(1, c.height-2-len(details))
	table := w.calls()
	if table != nil {
		height = max(1, height-1)
	}
	title := "Thread classes"
	if w.class != "" {
		title = fmt.Sprintf("%s: %s", w.class, report.Counted(len(w.goroutines), "goroutine"))
	}
	if w.of {
		title = fmt.Sprintf("Goroutine %s, of %s, and the holders of what it waits for", w.name(0), w.class)
	}
	c.bar(printable(title), theme)
	first, last := w.list.inSight(c.part(0, 1, c.width, height))
	for line := first; line < last; line++ {
		w.drawTrack(c.part(0, 1+line-first, c.width, 1), line, from, to)
	}
	w.list.drawMore(c.part(0, 0, c.width, 1), theme)
	if table != nil {
		w.drawCalls(c.part(0, 1+height, c.width, 1), table, from, to)
		height++
	}
	w.drawTimes(c.part(trackNames, 1+height, w.columns, 1), from, to)
	c.lines(2+height, details, theme.plain)
}

// calls returns the calls of a window that is open, if a
// goroutine is selected.
func (w *tracksWindow) calls() *calls.Table {
	if w.goroutines == nil || w.list.current() < 0 {
		return nil
	}
	for _, other := range w.a.windows {
		if c, ok := other.(*callsWindow); ok && c.found.Table != nil {
			return c.found.Table
		}
	}
	return nil
}

// drawCalls draws the calls of the selected goroutine as brackets.
func (w *tracksWindow) drawCalls(c canvas, table *calls.Table, from, to time.Duration) {
	style := w.a.theme.dim
	c.text(0, 0, shorten(table.Function, trackNames-2), style)
	c = c.part(trackNames, 0, w.columns, 1)
	id := w.r.Goroutines.At(w.goroutines[w.list.current()]).ID
	for i := range table.Calls {
		call := &table.Calls[i]
		if call.ID != id || call.End <= from || call.Begin >= to {
			continue
		}
		first, last := w.columnOf(call.Begin), w.columnOf(call.End)
		for k := max(first, 0); k <= min(last, w.columns-1); k++ {
			mark := "─"
			switch {
			case first == last:
				mark = "│"
			case k == first:
				mark = "├"
			case k == last:
				mark = "┤"
			}
			c.text(k, 0, mark, style)
		}
	}
}

func (w *tracksWindow) drawTimes(c canvas, from, to time.Duration) {
	begin, end := calls.Rounded(from).String(), calls.Rounded(to).String()
	x := 0
	if w.column <= textWidth(begin) { // the cursor would hide a part of it
		x = w.column + 2
	}
	c.text(x, 0, begin, w.a.theme.dim)
	if w.column < c.width-textWidth(end)-1 {
		c.text(c.width-textWidth(end), 0, end, w.a.theme.dim)
	}
	c.text(w.column, 0, "▲", w.a.theme.bold)
}

// drawTrack draws a class or a goroutine.
func (w *tracksWindow) drawTrack(c canvas, line int, from, to time.Duration) {
	style := w.a.theme.plain
	if line == w.list.current() {
		style = w.a.theme.selected
	}
	name := w.name(line)
	if w.goroutines == nil {
		name = fmt.Sprintf("%s (%d)", name, len(w.tracks.Classes[line].Goroutines))
	} else if w.of && line > 0 {
		name = "holder " + name
	}
	c.part(0, 0, trackNames-1, 1).fill(0, style)
	c.text(0, 0, shorten(name, trackNames-2), style)
	c = c.part(trackNames, 0, w.columns, 1)
	if w.goroutines == nil {
		for column, shares := range w.sharesOf(line, from, to) {
			w.drawShares(c, column, shares)
		}
		return
	}
	width := max((to-from)/time.Duration(w.columns), 1)
	for _, s := range w.tracks.Segments(w.goroutines[line], from, to, w.columns) {
		for column := int((s.From - from) / width); column <= int((s.To-from-1)/width); column++ {
			w.drawTyped(c, column, s.Typed)
		}
	}
}

// sharesOf returns the shares of a class by column. It keeps the
// shares that are shown: a class can have very many runs.
func (w *tracksWindow) sharesOf(line int, from, to time.Duration) [][views.NumTypedTimes]float64 {
	d := &w.shares
	if d.tracks != w.tracks || d.from != from || d.to != to || d.columns != w.columns {
		*d = drawnShares{w.tracks, from, to, w.columns, make(map[int][][views.NumTypedTimes]float64)}
	}
	if d.made[line] == nil {
		d.made[line] = w.tracks.Shares(&w.tracks.Classes[line], from, to, w.columns)
	}
	return d.made[line]
}

// drawShares draws the typed time that most goroutines are in,
// apart from waiting, if a quarter of them are.
func (w *tracksWindow) drawShares(c canvas, column int, shares [views.NumTypedTimes]float64) {
	most, all := views.Wait, shares[views.Wait]
	for typed := range views.Wait {
		all += shares[typed]
		if most == views.Wait || shares[typed] > shares[most] {
			most = typed
		}
	}
	switch {
	case all < 1e-9:
		return
	case shares[most] < all/4:
		most = views.Wait
	}
	w.drawTyped(c, column, most)
}

func (w *tracksWindow) drawTyped(c canvas, column int, typed views.TypedTime) {
	cell, style := w.a.theme.typedCell(typed)
	if typed == views.Wait {
		cell = "▁"
	}
	c.text(column, 0, cell, style)
}

// details says what the selected goroutine does at the cursor.
func (w *tracksWindow) details(width int) []string {
	line, at := w.list.current(), w.at(w.column)
	if line < 0 {
		return nil
	}
	if w.goroutines == nil {
		return wrap(w.sharesAt(&w.tracks.Classes[line], at), width)
	}
	g := w.goroutines[line]
	s, ok := w.tracks.At(g, at)
	if !ok {
		return []string{fmt.Sprintf("%v: goroutine %s is not there", calls.Rounded(at), w.name(line))}
	}
	run := w.r.Runs.At(int(s.Run))
	text := fmt.Sprintf("%v: goroutine %s %s, for %v", calls.Rounded(at), w.name(line), views.DoingOf(run).Words(),
		calls.Rounded(s.To-s.From))
	for _, h := range w.r.HolderSets[run.Holders] {
		verb := report.HolderVerb(views.DoingOf(run), run.Evidence.Blames())
		text += fmt.Sprintf("; goroutine %d, of %s, %s", w.r.Goroutines.At(h).ID, w.tracks.ClassOf(h), verb)
		if held, ok := w.tracks.At(h, at); ok {
			text += " and " + views.DoingOf(w.r.Runs.At(int(held.Run))).Words()
		}
	}
	lines := wrap(printable(text), width)
	if run.Stack != sampledata.NoStack {
		frames := views.StackFrames(w.r, w.a.options, run.Stack)
		slices.Reverse(frames)
		lines = append(lines, lists.Each(frames, func(f string) string { return "  " + printable(f) })...)
	}
	return lines
}

// sharesAt says what the goroutines of a class do at some time.
func (w *tracksWindow) sharesAt(c *views.TrackClass, at time.Duration) string {
	text := session.ShareOf(c.Name, w.tracks.Shares(c, at, at+1, 1)[0]).Text
	return fmt.Sprintf("%v:%s: Enter opens the class", calls.Rounded(at),
		cmp.Or(text, " no goroutine is there"))
}

// mouse selects and opens lines, and moves the cursor.
func (w *tracksWindow) mouse(action mouseAction, x, y int) {
	if column, _, inside := w.list.area.has(x, y); inside && action == mouseClick && column >= trackNames {
		w.column = min(column-trackNames, w.columns-1)
	}
	w.list.mouse(action, x, y)
}
