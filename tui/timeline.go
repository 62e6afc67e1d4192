package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// timelineBuckets is greater than the number of columns of any
// screen. One walk through the recording then serves every
// width.
const timelineBuckets = 2048

// A timeline shows the typed time of the whole recording, and
// selects the span to count.
type timeline struct {
	a       *app
	of      *sampledata.Recording // the buckets are of this recording
	by      division
	buckets []views.Bucket
	err     error
	busy    bool      // new buckets are being computed
	next    time.Time // earliest time of new buckets while the recording grows

	waiting *bool         // whether waiting goroutines are shown; nil: unless nearly all wait
	active  bool          // the timeline has the keys
	cursor  time.Duration // the time of the cursor
	anchor  time.Duration // the start of the span that the user is selecting
	begun   bool          // anchor is set
	dragged bool          // the mouse is selecting
	place   canvas        // the graph, as it was last drawn

	zoom  views.Span // the part of the time that is shown
	lanes lanes
}

// A division is everything that the buckets depend on. The first
// is the part of the options that decides how hits are divided
// over typed time: the accounting, and the definition of thread
// classes, since classes can have priorities. The second is the
// time that is shown.
type division struct {
	accounting views.Accounting
	classes    views.ClassBy
	zoom       views.Span
}

func newTimeline(a *app, lanes []string) *timeline {
	t := &timeline{a: a}
	t.lanes.t, t.lanes.chosen = t, lanes
	return t
}

// refresh computes the buckets again, on another goroutine, if
// the recording or the division has changed. While the recording
// grows, it pauses between updates; a change of the division
// does not wait.
func (t *timeline) refresh() {
	r, o := t.a.whole, t.a.options
	by, began := division{o.Accounting, o.Classes, t.zoom}, time.Now()
	if t.busy || t.by == by && (t.of == r || t.a.live.growing() && began.Before(t.next)) {
		return
	}
	o.Span = t.zoom
	t.busy = true
	var err error
	background(t.a, func() (made []views.Bucket) {
		made, err = views.Timeline(r, o, timelineBuckets)
		return made
	}, func(made []views.Bucket) {
		t.of, t.by, t.buckets, t.err, t.busy = r, by, made, err, false
		t.next = time.Now().Add(restFactor * time.Since(began))
		t.refresh()
	})
}

func (t *timeline) bindings() []binding {
	by := func(columns int) func() { return func() { t.move(columns) } }
	own := []binding{
		on("Space", "Begin", "begin a span here", func() { t.anchor, t.begun = t.cursor, true }),
		on("Enter", "Count", "count only the span, or only this moment", t.count),
		on("a", "All", "count the whole recording again", t.countAll),
		on("Esc t", "Back", "back to the classes", t.leave),
		on("l Right", "", "later", by(1)),
		on("h Left", "", "earlier", by(-1)),
		on("L PgDn", "", "much later", by(10)),
		on("H PgUp", "", "much earlier", by(-10)),
		on("g Home", "", "the beginning", by(-timelineBuckets)),
		on("G End", "", "the end", by(timelineBuckets)),
		on("z", "Zoom", "zoom in: show only the span, or half of the time", t.zoomIn),
		on("Z", "", "zoom out: show the whole time", func() { t.zoomTo(views.Span{}) }),
		on("n", "", "name the samples of the span as a sample list", t.nameSpan),
		on("w", "", "show or hide waiting goroutines", t.toggleWaiting),
	}
	return append(own, t.lanes.bindings()...)
}

// zoomIn shows only the chosen or counted span or, without one,
// half of the time, around the cursor.
func (t *timeline) zoomIn() {
	slices := t.slices(t.place.width)
	if len(slices) == 0 {
		return
	}
	first, last, some := t.marked(slices)
	if !some {
		half := len(slices) / 4
		at := min(max(columnOf(slices, t.cursor), half), len(slices)-1-half)
		first, last = at-half, at+half
	}
	t.zoomTo(views.Span{From: slices[first].from, To: slices[last].to})
}

func (t *timeline) zoomTo(s views.Span) {
	if s != (views.Span{}) && (!s.Has(t.a.whole) || s.To-s.From < minZoom) {
		t.a.say("There is no more to see of a shorter time: Z zooms out.")
		return
	}
	t.zoom, t.begun = s, false
	t.refresh()
}

// minZoom is the shortest time that the timeline shows.
const minZoom = time.Millisecond

// nameSpan asks for the name of a sample list with the chosen span.
func (t *timeline) nameSpan() {
	slices := t.slices(t.place.width)
	if len(slices) == 0 {
		return
	}
	first, last := t.chosen(slices)
	t.a.askList(fmt.Sprintf("span(%v, %v)", slices[first].from, slices[last].to))
}

// askList asks for the name of a sample list.
func (a *app) askList(expr string) {
	line := "list  = " + expr
	commandLine{a, a.window()}.ask()
	a.prompt.text, a.prompt.cursor = line, len("list ")
}

// slice is the time of one column.
type slice struct{ from, to time.Duration }

// slices returns the columns for a width. They begin at round times.
func (t *timeline) slices(width int) []slice {
	n := len(t.buckets)
	width = min(width, n)
	list := make([]slice, width)
	for i := range list {
		end := t.buckets[n-1].To
		list[i].from = t.buckets[i*n/width].From.Truncate(precision(end - t.buckets[0].From))
		if list[i].to = end; i > 0 {
			list[i-1].to = list[i].from
		}
	}
	return list
}

// columnOf returns the column of a time.
func columnOf(slices []slice, at time.Duration) int {
	for i, s := range slices {
		if at < s.to {
			return i
		}
	}
	return len(slices) - 1
}

func (t *timeline) move(columns int) {
	if slices := t.slices(t.place.width); len(slices) > 0 {
		t.cursor = slices[min(max(0, columnOf(slices, t.cursor)+columns), len(slices)-1)].from
	}
}

// chosen returns the first and last column of the selection, or
// the column of the cursor.
func (t *timeline) chosen(slices []slice) (first, last int) {
	last = columnOf(slices, t.cursor)
	first = last
	if t.begun {
		first = columnOf(slices, t.anchor)
	}
	return min(first, last), max(first, last)
}

// count restricts all windows to the chosen columns. A span to
// the last column has no end, also if the recording grows.
func (t *timeline) count() {
	slices := t.slices(t.place.width)
	if len(slices) == 0 {
		return
	}
	first, last := t.chosen(slices)
	span := views.Span{From: slices[first].from, To: slices[last].to}
	if last == len(slices)-1 {
		span.To = 0
	}
	if t.countSpan(t.withSample(span)) == nil {
		t.leave()
	}
}

// withSample extends a span without samples to the sample before
// it. The state of that sample lasts until the next one.
func (t *timeline) withSample(span views.Span) views.Span {
	if samples := &t.a.recording.Samples; !span.Has(t.a.recording) && t.a.counts.list == "" {
		if i := samples.Search(span.From); i > 0 {
			span.From = samples.Time(i - 1)
		}
	}
	return span
}

// countSpan restricts all windows to a span. It returns an error
// if the span has no samples.
func (t *timeline) countSpan(span views.Span) error {
	if !span.Has(t.a.recording) {
		err := fmt.Errorf("there are no samples in %s", spanText(span))
		t.a.fail(err)
		return err
	}
	t.a.setSpan(span)
	return nil
}

func (t *timeline) countAll() {
	t.leave()
	if t.a.options.Span != (views.Span{}) {
		t.a.setSpan(views.Span{})
	}
}

func (t *timeline) leave() { t.active, t.begun, t.dragged = false, false, false }

// spanCommand executes "span FROM TO", "span FROM" or "span all".
func (a *app) spanCommand(args string) error {
	t := a.windows[0].(*summaryWindow).timeline
	if args == "all" {
		t.countAll()
		return nil
	}
	words := strings.Fields(args)
	if len(words) < 1 || len(words) > 2 {
		return fmt.Errorf("want 'span FROM TO', 'span FROM' or 'span all', such as 'span 1.5s 2s'")
	}
	span, err := views.ParseSpan(strings.Join(append(words, "")[:2], ","))
	if err != nil {
		return err
	}
	return t.countSpan(span)
}
