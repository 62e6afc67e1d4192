package report

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/shopspring/decimal"
)

// A Top shows what a program did in the last few seconds, in as
// many lines as fit a screen.
type Top struct {
	Title    string // "shop, process 4711"
	Span     time.Duration
	Samples  int
	List     string        // "" if all samples count
	Counted  int           // otherwise, how many samples of the span are in the list
	Halted   time.Duration // of the span
	Classes  []views.ClassSummary
	Session  *refine.Session // of the Server View
	Warnings []sampledata.Warning
	Order    TopOrder
	Hint     string // the last line

	Width, Height int // of the screen, in characters; 0 means unlimited
	Color         bool
}

// Lines returns the classes, the busiest first, each with its
// typed time as a bar, and the call paths that take most
// processor time. The lines fit the screen, in width and in
// number.
func (t *Top) Lines() []string {
	classes, paths := t.classLines(), t.pathLines()
	end := t.endLines()
	const fixed = 6 // the lines that are always there
	if room := t.Height - fixed - len(end); t.Height > 0 && len(classes)+len(paths) > room {
		room = max(room, 2)
		forClasses := max(min(len(classes), room-min(len(paths), room/2)), 1)
		classes = t.cutLines(classes, forClasses, "classes")
		paths = t.cutLines(paths, max(room-forClasses, 1), "call paths")
	}
	lines := append(t.headLines(), "", t.classHeader())
	lines = append(lines, classes...)
	lines = append(lines, "", t.fit("  cost  processor time by call path (Server View)"))
	lines = append(lines, paths...)
	lines = append(lines, end...)
	if t.Height > 0 && len(lines) > t.Height {
		lines = lines[:t.Height]
	}
	return lines
}

// headLines returns the lines that say what is shown, and what
// the sampling costs the program.
func (t *Top) headLines() []string {
	var alive big.Rat
	for _, c := range t.Classes {
		alive.Add(&alive, c.MeanAlive)
	}
	var rate, halted float64
	if t.Span > 0 {
		rate, halted = float64(t.Samples)/t.Span.Seconds(), float64(t.Halted)/float64(t.Span)
	}
	samples := Counted(t.Samples, "sample")
	if t.List != "" {
		samples = fmt.Sprintf("%d of %s in %q", t.Counted, samples, t.List)
	}
	return []string{
		t.fit(fmt.Sprintf("%s: %s, processors %s busy", termtext.Printable(t.Title),
			Counted(decimal.NewFromBigRat(&alive, 0).IntPart(), "goroutine"),
			percentNumber(t.Session.Cost(t.Session.Root()))+" %")),
		t.fit(fmt.Sprintf("the last %s: %s (%.1f a second), halted %s of the time", span(t.Span),
			termtext.Printable(samples), rate, Percent(halted))),
	}
}

// endLines returns the warnings and the hint.
func (t *Top) endLines() []string {
	var lines []string
	for w := range strings.Lines(Warnings(t.Warnings)) {
		lines = append(lines, t.fit(strings.TrimSuffix(w, "\n")))
	}
	if t.Height > 0 && len(lines) > 1 {
		lines = t.cutLines(lines, 1, "warnings")
	}
	if t.Hint != "" {
		lines = append(lines, t.fit(t.Hint))
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// cutLines returns a list that fits the room: if some lines
// don't fit, the last line says how many are missing.
func (t *Top) cutLines(lines []string, room int, what string) []string {
	if len(lines) <= room {
		return lines
	}
	return append(lines[:room-1:room-1],
		t.fit(fmt.Sprintf("  ... %d more %s", len(lines)-room+1, what)))
}

// The widths of columns.
const (
	aliveWidth = 8
	minBar     = 10
	maxBar     = 40
	usualBar   = 30 // if the width is unlimited
)

// columns returns the widths of the column of class names and of
// the bar, and whether there is room for numbers.
func (t *Top) columns() (class, bar int, numbers bool) {
	class = len("class")
	for _, c := range t.Classes {
		class = max(class, utf8.RuneCountInString(termtext.Printable(c.Class)))
	}
	if t.Width <= 0 {
		return class, usualBar, true
	}
	bar = min(max(t.Width/5, minBar), maxBar)
	others := aliveWidth + 2 + bar + 1
	for t := range views.NumTypedTimes {
		others += numberWidth(t)
	}
	if t.Width-others >= 16 {
		return min(class, t.Width-others), bar, true
	}
	return max(min(class, t.Width-aliveWidth-2-bar), 4), bar, false
}

// numberWidth returns the width of the column of a typed time's
// percentages, and of a mark behind its head.
func numberWidth(t views.TypedTime) int { return 1 + max(len(t.Name()), len("100")) }

// classHeader returns the heads of the columns, with a mark
// beside the one that orders the classes.
func (t *Top) classHeader() string {
	class, bar, numbers := t.columns()
	by := t.Order.column()
	line := fmt.Sprintf("%-*s%*s%s %-*s", class,
		"class"+strings.TrimSpace(t.Order.mark(by.Name == "class")), aliveWidth, "alive",
		t.Order.mark(by.Name == "alive"), bar,
		"time"+strings.TrimSpace(t.Order.mark(by.Name == "busy")))
	if numbers {
		line += " "
		for typed := range views.NumTypedTimes {
			line += fmt.Sprintf("%*s%s", numberWidth(typed)-1, typed.Name(),
				t.Order.mark(typed == by.typed))
		}
	}
	return t.fit(strings.TrimRight(line, " "))
}

// classLines returns a line for each class, in their order.
func (t *Top) classLines() []string {
	classes, hidden := t.Order.apply(t.Classes)
	class, bar, numbers := t.columns()
	var lines []string
	for _, c := range classes {
		shares := c.Shares()
		name := cutFront(termtext.Printable(c.Class), class)
		line := name + strings.Repeat(" ", class-utf8.RuneCountInString(name))
		line += fmt.Sprintf("%*s  ", aliveWidth, Decimal(c.MeanAlive, 1)) + t.bar(shares, bar)
		if numbers {
			for i, s := range shares {
				line += fmt.Sprintf(" %*s", numberWidth(views.TypedTime(i))-1, percentNumber(s))
			}
		}
		lines = append(lines, line)
	}
	if hidden > 0 {
		lines = append(lines,
			t.fit(fmt.Sprintf("  (i shows %d more, which hardly did anything but wait for work)",
				hidden)))
	}
	return lines
}

// barColors has the colours of the typed times in bars.
var barColors = [views.NumTypedTimes]string{
	views.Run: "\x1b[32m", views.Load: "\x1b[33m", views.Prio: "\x1b[35m",
	views.Monitor: "\x1b[1;31m", views.Wait: "\x1b[34m",
}

// bar returns a bar of letters. The number of letters of each
// typed time is proportional to its share; shares sum to 1, or
// to 0 if all time is left out.
func (t *Top) bar(shares views.Parts, width int) string {
	var b strings.Builder
	empty := width
	for i, n := range Apportion(shares[:], width) {
		empty -= n
		part := strings.Repeat(views.TypedTime(i).Letter(), n)
		if t.Color && n > 0 {
			part = barColors[i] + part + "\x1b[0m"
		}
		b.WriteString(part)
	}
	return b.String() + strings.Repeat(" ", empty)
}

// Apportion divides n into whole parts in proportion to the
// shares: each share gets its exact part rounded down, and the
// shares with the largest remainders get one more. For example,
// shares 1/2, 1/3 and 1/6 of 10 get 5, 3 and 2.
func Apportion(shares []*big.Rat, n int) []int {
	type due struct {
		i    int
		rest float64
	}
	parts, dues, left := make([]int, len(shares)), make([]due, len(shares)), n
	for i, s := range shares {
		x := float(s) * float64(n)
		parts[i] = int(x)
		dues[i] = due{i, x - float64(parts[i])}
		left -= parts[i]
	}
	slices.SortStableFunc(dues, func(a, b due) int { return cmp.Compare(b.rest, a.rest) })
	for _, d := range dues[:min(max(left, 0), len(dues))] {
		if d.rest > 0 {
			parts[d.i]++
		}
	}
	return parts
}

// pathLines returns a line for each entry of the profile.
func (t *Top) pathLines() []string {
	var lines []string
	t.Session.Walk(func(e *refine.Entry, depth int) {
		cost := t.Session.Cost(e)
		line := fmt.Sprintf("%6s  %s%s", Cost(cost), strings.Repeat("  ", depth),
			termtext.Printable(e.Label()))
		lines = append(lines, paint(t.Color, cost, t.fit(line)))
	})
	return lines
}

// fit cuts a line that is wider than the screen.
func (t *Top) fit(line string) string {
	if t.Width <= 0 || utf8.RuneCountInString(line) <= t.Width {
		return line
	}
	return string([]rune(line)[:t.Width-1]) + "…"
}

// cutFront cuts the front of a name that is too long, since the
// end says more.
func cutFront(name string, width int) string {
	r := []rune(name)
	if len(r) <= width {
		return name
	}
	return "…" + string(r[len(r)-width+1:])
}
