package tui

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"
)

// drag moves the mouse from one cell to another with its button down.
func (b *bench) drag(x, y, toX, toY int) {
	b.t.Helper()
	b.mouse(x, y, tcell.ButtonPrimary)
	b.event(tcell.NewEventMouse((x+toX)/2, toY, tcell.ButtonPrimary, tcell.ModNone))
	b.event(tcell.NewEventMouse(toX, toY, tcell.ButtonPrimary, tcell.ModNone))
	b.mouse(toX, toY, tcell.ButtonNone)
}

// graphAt returns the cell of a column in the graph's last line.
func (b *bench) graphAt(column int) (x, y int) {
	b.do(func() {
		p := b.summary().timeline.place
		x, y = p.x+column, p.y+p.height-1
	})
	return x, y
}

func (b *bench) span() (s views.Span) {
	b.do(func() { s = b.options.Span })
	return s
}

// Of the 78 columns over 1.5 seconds, number 39 begins at the middle.
func TestSpanByKeys(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("t", "Home")
	b.shows("▲─────", "Space Begin  ⏎ Count")
	b.keys("Space", "L", "PgDn", "PgDn", "L", "h", "Left", "l")
	b.shows("\n ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▲──────", " 0s to ")
	b.keys("Enter")
	b.shows("only 0s to 769ms counts", "go:bob.(*terminal).run: 5 goroutines, 75 hits")
	if s := b.span(); s.From != 0 || s.To < 768*time.Millisecond || s.To > 770*time.Millisecond {
		t.Errorf("it is %v", s)
	}
	b.keys("s")
	b.shows("only 0s to 769")
	b.keys("1", "Esc")
	b.shows("1.5s, up to 7.0 goroutines", "150 hits")
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it is %v", s)
	}
}

// The state of a sample lasts until the next sample.
func TestSpanBetweenSamples(t *testing.T) {
	b := newBench(t, bob(t))
	var columns []slice
	b.do(func() { columns = b.summary().timeline.slices(78) })
	b.keys("t", "Home")
	for range columnOf(columns, 75*time.Millisecond) { // samples are 50ms apart
		b.keys("l")
	}
	b.keys("Enter")
	if s := b.span(); s.From != 50*time.Millisecond || s.To > 100*time.Millisecond {
		t.Errorf("it is %v", s)
	}
	b.shows(": 5 goroutines, 5 hits")
	b.keys("Esc", "t", "Home", "Enter")
	b.shows("there are no samples in 0s to 19ms")
}

// A span to the last column has no end, so that it grows with a recording.
func TestSpanToTheEnd(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("t", "G", "Space", "H", "Enter")
	if s := b.span(); s.To != 0 || s.From < time.Second {
		t.Errorf("it is %v", s)
	}
	b.shows(" on counts")
	b.keys("t", "a")
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it is %v", s)
	}
}

func TestSpanByMouse(t *testing.T) {
	for name, columns := range map[string][2]int{"forward": {10, 60}, "backward": {60, 10}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, bob(t))
			var want views.Span
			b.do(func() {
				slices := b.summary().timeline.slices(78)
				want = views.Span{From: slices[10].from, To: slices[60].to}
			})
			x, y := b.graphAt(columns[0])
			toX, _ := b.graphAt(columns[1])
			b.drag(x, y, toX, 0) // it may leave the timeline
			if s := b.span(); s != want {
				t.Errorf("it is %v, want %v", s, want)
			}
			b.shows("only ", "Esc All")
			b.click("Esc All")
			if s := b.span(); s != (views.Span{}) {
				t.Errorf("then it is %v", s)
			}
		})
	}
}

// A click in the graph leaves the cursor there.
func TestClickIntoTheTimeline(t *testing.T) {
	b := newBench(t, bob(t))
	x, y := b.graphAt(30)
	b.clickAt(x, y)
	b.shows("\n ──────────────────────────────▲────")
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it selects %v", s)
	}
	b.keys("Esc")
	b.hides("▲────")
}

// A drag that begins elsewhere has no effect on the timeline.
func TestDragElsewhere(t *testing.T) {
	b := newBench(t, bob(t))
	x, y := b.graphAt(10)
	_, below := b.find("go:main.main")
	b.drag(x, below, x+20, y)
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it selects %v", s)
	}
}

// If the button is released over another window, the drag ends, too.
func TestDragThatEndsElsewhere(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("s", "1")
	x, y := b.graphAt(10)
	b.mouse(x, y, tcell.ButtonPrimary)
	b.keys("2")
	b.mouse(x+20, y, tcell.ButtonNone)
	b.keys("1")
	b.event(tcell.NewEventMouse(x+30, y, tcell.ButtonNone, tcell.ModNone))
	b.keys("w") // handled after the mouse event
	b.do(func() {
		if line := b.summary().timeline; line.dragged || columnOf(line.slices(78), line.cursor) != 10 {
			t.Errorf("the cursor still follows the mouse, to %v", line.cursor)
		}
	})
}

func TestSpanCommand(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys(":")
	b.line("span 500ms 1s")
	if s := b.span(); s != (views.Span{From: 500 * time.Millisecond, To: time.Second}) {
		t.Errorf("it is %v", s)
	}
	b.keys(":")
	b.line("span all")
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it is %v", s)
	}
	for line, want := range map[string]string{
		"span":           "want 'span FROM TO'",
		"span 1s 2s 3s":  "want 'span FROM TO'",
		"span soon":      `"soon" is no time`,
		"span -1s":       "want offsets from the start",
		"span 2s 1s":     "the first before the second",
		"span 51ms 52ms": "no samples in 51ms to 52ms",
	} {
		b.keys(":")
		b.line(line)
		b.shows(want)
		b.keys("Esc")
	}
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("a refused span is %v", s)
	}
}

// If nearly all goroutines wait, the graph leaves them out until
// the user wants to see them.
func TestTimelineLeavesWaitingOut(t *testing.T) {
	b := newBench(t, manyClasses(t, 5))
	b.shows("up to 0.0 not waiting")
	b.keys("w")
	b.shows("up to 5.0 goroutines")
	b.keys("w")
	b.shows("up to 0.0 not waiting")
	newBench(t, bob(t)).shows("up to 7.0 goroutines")
}

// The graph's cells have the colours, or letters, of their typed times.
func TestTimelineColors(t *testing.T) {
	theme := newTheme(256, false)
	for _, c := range []struct {
		stack        []views.TypedTime
		want         string
		color, below int // typed times; -1: none
		letter       string
	}{
		{[]views.TypedTime{0, 0, 0, 0, 0, 0, 0, 0}, "█", 0, -1, "R"},
		{[]views.TypedTime{0, 0, 3, 3, 3, 4, 3, 3}, "▂", 0, 3, "M"},
		{[]views.TypedTime{1}, "▁", 1, -1, " "},
		{[]views.TypedTime{1, 1, 4, 4, 4, 4}, "▂", 1, 4, "W"},
		{[]views.TypedTime{1, 1, 1, 1, 4}, "▄", 1, -1, "L"},
		{[]views.TypedTime{2, 2, 2, 2, 2, 2}, "▆", 2, -1, "P"},
	} {
		text, style := theme.stackCell(c.stack)
		fg, bg, _ := style.Decompose()
		below := tcell.ColorDefault
		if c.below >= 0 {
			below = foreground(theme.typed[c.below])
		}
		if text != c.want || fg != foreground(theme.typed[c.color]) || bg != below {
			t.Errorf("%v: %q in %v on %v", c.stack, text, fg, bg)
		}
		if letter, _ := newTheme(256, true).stackCell(c.stack); letter != c.letter {
			t.Errorf("%v without colours: %q, want %q", c.stack, letter, c.letter)
		}
	}
}

// For every width, the columns cover the whole recording without
// gaps and overlaps, and contain all samples.
func TestColumnsTileTheRecording(t *testing.T) {
	r := synthetic.Recording(300, 20, 0.1)
	buckets := fixture.Must(views.Timeline(r, views.Options{}, timelineBuckets))(t)
	line := &timeline{of: r, buckets: buckets}
	end := r.Samples.Time(r.Samples.Len() - 1)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3000).Draw(t, "width")
		slices := line.slices(width)
		var at time.Duration
		for i, s := range slices {
			if s.from != at || s.to < s.from {
				t.Fatalf("column %d is %v, after %v", i, s, at)
			}
			at = s.to
		}
		if at <= end {
			t.Fatalf("they end at %v, the recording at %v", at, end)
		}
		sample := r.Samples.Time(rapid.IntRange(0, r.Samples.Len()-1).Draw(t, "sample"))
		if s := slices[columnOf(slices, sample)]; sample < s.from || sample >= s.to {
			t.Fatalf("what happened at %v is in column %v", sample, s)
		}
		first := columnOf(slices, r.Samples.Time(0))
		for i, m := range line.amounts(width) {
			if i >= first && math.Abs(m.total()-20) > 1e-9 || i < first && m.total() != 0 {
				t.Fatalf("column %d has %v of 20 goroutines", i, m)
			}
		}
	})
}

// A recording without samples has no timeline, and no span to select.
func TestTimelineOfNothing(t *testing.T) {
	b := newBench(t, Options{Path: "none.cpprof", Recording: sampledata.NewBuilder(synthetic.Header()).Recording()})
	b.keys("t", "l", "Space", "G", "Enter", "Esc", "w", "j", "G", "Enter", "o", "n")
	b.shows("Summary")
	b.drag(5, 5, 20, 5)
	if s := b.span(); s != (views.Span{}) {
		t.Errorf("it selects %v", s)
	}
}

// Classes can have priorities, so that the definition of classes
// decides between :LOAD and :PRIO, in the timeline as in the
// table.
func TestTimelineFollowsClasses(t *testing.T) {
	rec := sampledata.NewBuilder(synthetic.Header())
	f := rec.Function(sampledata.Function{Name: "main.serve"})
	gold := rec.LabelSet([]sampledata.Label{{Key: "tier", Value: "gold"}})
	runs := rec.Goroutine(sampledata.Goroutine{ID: 1, Start: f})
	waits := rec.Goroutine(sampledata.Goroutine{ID: 2, Start: f})
	err := rec.Sample(sampledata.Sample{Time: time.Millisecond, Processors: []sampledata.GoroutineID{runs, runs, runs, runs}}, []sampledata.Change{
		{Goroutine: runs, State: sampledata.State{Run: sampledata.Running, Stack: sampledata.NoStack, Labels: gold}},
		{Goroutine: waits, State: sampledata.State{Run: sampledata.Runnable, Stack: sampledata.NoStack}},
	})
	fixture.Check(t, err)
	o := Options{Path: "tiers.cpprof", Recording: rec.Recording()}
	o.Views.Priority = func(class string) (int32, bool) { return 1, class == "label:tier=gold" }
	b := newBench(t, o)
	check := func(rule string, want views.TypedTime) {
		t.Helper()
		b.do(func() {
			inTable, inTimeline := new(big.Rat), new(big.Rat)
			for _, c := range b.summary().classes {
				inTable.Add(inTable, c.New.Parts[want])
			}
			for _, bucket := range b.summary().timeline.buckets {
				inTimeline.Add(inTimeline, bucket.Parts[want])
			}
			if one := big.NewRat(1e6, 1); inTable.Cmp(one) != 0 || inTimeline.Cmp(one) != 0 {
				t.Errorf("by %s, %v is %v in the table and %v in the timeline, want 1 ms", rule, want, inTable, inTimeline)
			}
		})
	}
	check("function", views.Load)
	b.line(":class by label:tier")
	check("label:tier", views.Prio)
	b.line(":class by function")
	check("function", views.Load)
}

// timelineKeys has a test for every binding of the summary while
// a span is being selected, by its first key.
var timelineKeys = map[string]keyTest{
	"Space": {unseen: true, keys: []string{"l", "l"}, check: func(t *testing.T, b *bench) { b.keys("l"); b.shows("━▲─") }},
	"Enter": {keys: []string{"Space", "L"}, check: shows("only 0s to ", "⏎ Open")},
	"a":     {keys: []string{"Space", "L", "Enter", "t"}, check: hides("counts")},
	"Esc":   {check: shows("⏎ Open")},
	"l":     {check: shows("\n ─▲─")},
	"h":     {keys: []string{"l", "l"}, check: shows("\n ─▲─")},
	"L":     {check: shows("\n ──────────▲─")},
	"H":     {keys: []string{"L", "L"}, check: shows("\n ──────────▲─")},
	"g":     {keys: []string{"L"}, check: shows("\n ▲─")},
	"G":     {check: shows("─▲\n")},
	"j":     {check: shows("›main.queue1")},
	"k":     {keys: []string{"j", "j"}, check: shows("›main.queue1")},
	"J":     {check: shows("›main.queue0", " main.queue1")},
	"K":     {keys: []string{"j"}, check: shows("›main.queue1", " main.queue0")},
	"+": {check: func(t *testing.T, b *bench) {
		b.line("goroutines")
		b.shows("›goroutines: ")
	}},
	"-": {check: shows("›main.queue1")},
	"v": {check: func(t *testing.T, b *bench) {
		b.line("goroutines")
		b.shows("goroutines (up) with main.queue0 (right)")
	}},
	"m": {check: shows("r above it")},
	"z": {keys: []string{"Space", "L"}, check: func(t *testing.T, b *bench) { b.keys("Esc"); b.shows("0s to 5.") }},
	"Z": {keys: []string{"z"}, check: func(t *testing.T, b *bench) { b.keys("Esc"); b.hides("0s to ") }},
	"n": {keys: []string{"Space", "L"}, check: shows(":list  = span(0s, ")},
	"w": {check: func(t *testing.T, b *bench) { b.keys("Esc"); b.shows("goroutines\n") }},
}
