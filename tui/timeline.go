package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// timelineBuckets is greater than the number of columns of any screen, so that one walk through the recording serves
// every width.
const timelineBuckets = 2048

// A timeline shows the typed time of the whole recording, and selects the span to count.
type timeline struct {
	a       *app
	of      *sampledata.Recording // the buckets are of this recording
	by      division
	buckets []views.Bucket
	lanes   []views.Lane
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

	firstLane int // the first lane that is shown
}

// A division is the part of the options that decides how hits are divided over typed time: the accounting, and the
// definition of thread classes, since classes can have priorities.
type division struct {
	accounting views.Accounting
	classes    views.ClassBy
}

func newTimeline(a *app) *timeline { return &timeline{a: a} }

// refresh computes the buckets again, on another goroutine, if the recording or the division has changed. While the
// recording grows, it pauses between updates; a change of the division does not wait.
func (t *timeline) refresh() {
	r, o := t.a.recording, t.a.options
	by, began := division{o.Accounting, o.Classes}, time.Now()
	if t.busy || t.by == by && (t.of == r || t.a.live.growing() && began.Before(t.next)) {
		return
	}
	o.Span = views.Span{}
	t.busy = true
	var err error
	type result struct {
		buckets []views.Bucket
		lanes   []views.Lane
	}
	background(t.a, func() (made result) {
		made.buckets, err = views.Timeline(r, o, "", timelineBuckets)
		made.lanes = views.Lanes(r, made.buckets)
		return made
	}, func(made result) {
		t.of, t.by, t.buckets, t.lanes, t.err, t.busy = r, by, made.buckets, made.lanes, err, false
		t.next = time.Now().Add(restFactor * time.Since(began))
		t.refresh()
	})
}

func (t *timeline) bindings() []binding {
	by := func(columns int) func(string) { return func(string) { t.move(columns) } }
	return []binding{
		{keys: []string{"Space"}, label: "Begin", description: "begin a span here", do: func(string) { t.anchor, t.begun = t.cursor, true }},
		{keys: []string{"Enter"}, label: "Count", description: "count only the span, or only this moment", do: func(string) { t.count() }},
		{keys: []string{"a"}, label: "All", description: "count the whole recording again", do: func(string) { t.countAll() }},
		{keys: []string{"Esc", "t"}, label: "Back", description: "back to the classes", do: func(string) { t.leave() }},
		{keys: []string{"l", "Right"}, description: "later", do: by(1)},
		{keys: []string{"h", "Left"}, description: "earlier", do: by(-1)},
		{keys: []string{"L", "PgDn"}, description: "much later", do: by(10)},
		{keys: []string{"H", "PgUp"}, description: "much earlier", do: by(-10)},
		{keys: []string{"g", "Home"}, description: "the beginning", do: by(-timelineBuckets)},
		{keys: []string{"G", "End"}, description: "the end", do: by(timelineBuckets)},
		{keys: []string{"j", "Down"}, description: "scroll the series down", do: func(string) { t.scroll(1) }},
		{keys: []string{"k", "Up"}, description: "scroll the series up", do: func(string) { t.scroll(-1) }},
		{keys: []string{"w"}, description: "show or hide waiting goroutines", do: func(string) { t.toggleWaiting() }},
	}
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
		list[i].from = t.buckets[i*n/width].From.Truncate(precision(end))
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

// chosen returns the first and last column of the selection, or the column of the cursor.
func (t *timeline) chosen(slices []slice) (first, last int) {
	last = columnOf(slices, t.cursor)
	first = last
	if t.begun {
		first = columnOf(slices, t.anchor)
	}
	return min(first, last), max(first, last)
}

// count restricts all windows to the chosen columns. A span to the last column has no end, also if the recording grows.
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

// withSample extends a span without samples to the sample before it, whose state lasts until the next sample.
func (t *timeline) withSample(span views.Span) views.Span {
	if samples := &t.a.recording.Samples; !span.Has(t.a.recording) {
		if i := samples.Search(span.From); i > 0 {
			span.From = samples.Time(i - 1)
		}
	}
	return span
}

// countSpan restricts all windows to a span. It returns an error if the span has no samples.
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
	var span views.Span
	for i, to := range []*time.Duration{&span.From, &span.To}[:len(words)] {
		d, err := time.ParseDuration(words[i])
		if err != nil || d < 0 {
			return fmt.Errorf("%q: want an offset from the start, such as 1.5s", words[i])
		}
		*to = d
	}
	if len(words) == 2 && span.To <= span.From {
		return fmt.Errorf("the span ends before it begins")
	}
	return t.countSpan(span)
}
