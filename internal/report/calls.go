package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// Calls are the calls of a function in a recording.
type Calls struct {
	*calls.Table
	*calls.Contrast
	Condition calls.Condition // of the slow ones
	Recording *sampledata.Recording
	File      string
	Top       int // number of the longest calls that the text shows
	Width     int
}

// Write writes how long calls took, and what the slow ones have more of.
func (c *Calls) Write(w io.Writer) {
	var b strings.Builder
	c.head(&b)
	if c.Whole() > 0 {
		if c.TellsTimes() || !c.TooFew() {
			c.contrast(&b)
		}
		b.WriteString(c.longest())
		c.goOn(&b)
	}
	io.WriteString(w, b.String())
}

// contrast writes what the slow calls have more of.
func (c *Calls) contrast(b *strings.Builder) {
	bound := ""
	if times := c.Condition.Quantiles(c.Table); len(times) > 0 {
		bound = " (" + strings.Join(lists.Each(times, RangeText), ", ") + ")"
	}
	termtext.Fprintf(b, "\nSlow: %s %s%s; the rest: %s\n", Counted(c.Slow.Calls, "call"), c.Condition, bound,
		Counted(c.Rest.Calls, "call"))
	if c.TooFew() {
		termtext.Fprintf(b, "These are too few to say what slow calls have more of: it takes %d of each. --slow '> p90' has more.\n",
			calls.LeastSlow)
		return
	}
	b.WriteString(c.split())
	b.WriteString(c.alone())
	b.WriteString(c.more())
}

// head writes the number of calls, and how long they took.
func (c *Calls) head(b *strings.Builder) {
	rate := ""
	if s := c.Covered.Seconds(); s > 0 {
		begun := lists.Count(c.Calls, func(one calls.Call) bool { return !one.CutBegin })
		if rate = fmt.Sprintf(" (%s begun a second)", rateText(float64(begun)/s)); c.Source == calls.Samples {
			rate = fmt.Sprintf(" (at least %s begun a second)", rateText(float64(begun)/s))
		}
		if c.Source == calls.Samples && begun == 0 {
			rate = "" // it was in it all the time, perhaps again and again
		}
	}
	seen := "seen in " + span(c.Duration)
	if c.Span != (views.Span{}) {
		seen = "begun " + c.Span.String()
	}
	more := ""
	if c.Merges() {
		more = " or more,"
	}
	termtext.Fprintf(b, "%s: %s%s %s%s\n", c.Function, Counted(len(c.Calls), "call"), more, seen, rate)
	switch n := c.Whole(); {
	case c.TellsTimes():
		before := ""
		if c.Source == calls.Samples && c.Short() > 0 { // shorter ones are not seen
			before = "of those seen: "
		}
		for _, q := range calls.Quantiles {
			b.WriteString(before + q.Name + " " + RangeText(c.Between(q.Share)))
			before = "   "
		}
		b.WriteByte('\n')
	case n > 0:
		termtext.Fprintf(b, "%s from begin to end, the longest %s: too few to say how long calls take\n", Counted(n, "call"), RangeText(c.Between(1)))
	}
	if n := c.Short(); n > 0 {
		b.WriteString(Counted(n, "call") + " seen in one sample only: how long is not known\n")
	}
	if n := len(c.Calls) - c.Whole(); n > 0 {
		what := "the recording"
		if c.Windows > 1 {
			what = "its window"
		}
		longer := ""
		for i := range c.Calls { // the longest first
			if cut := &c.Calls[i]; !cut.Whole() && !c.MayBeSeveral(cut) && cut.Took.Least > c.Between(1).Most {
				longer = "; the longest took " + Took(c.Table, cut)
				break
			}
		}
		if c.TellsTimes() {
			longer = ": the quantiles leave them out" + longer
		}
		termtext.Fprintf(b, "%s had begun before %s, or ended after it%s\n", Counted(n, "call"), what, longer)
	}
	b.WriteString(c.sourceText())
	if len(c.Calls) == 0 && c.Source == calls.Uprobes {
		b.WriteString("No call began in this time. Those that began earlier may not be seen: record it without --calls, and the samples show them.\n")
	}
	if c.Merges() {
		b.WriteString(paragraph("", c.mergesText()))
		termtext.Fprintf(b, "To time each call: cpprof record --calls %s -p PROCESS\n", words.Shell(c.Function))
	}
}

// mergesText says which calls may be several.
func (c *Calls) mergesText() string {
	switch {
	case c.Touches():
		return fmt.Sprintf("Some of the calls that have %s of the time are probably several that followed one another: before them, the goroutine was outside in one sample only.",
			sharePercent(c.Touching))
	case c.Repeats():
		return fmt.Sprintf("Calls that have %s of the time may be several that followed one another, or the function loops: in them, the goroutine came back to a wait, or was never seen outside.",
			sharePercent(c.Several))
	}
	return fmt.Sprintf("Calls in up to %d samples are probably several that took less than an interval each: chance alone would show about as many.", c.ByChance)
}

// sourceText says where the calls are from, and what that can't show.
func (c *Calls) sourceText() string {
	text := termtext.Sprintf("The source is the samples: on average, each end is known to within %s; calls between two samples are not seen.",
		brief(c.Interval))
	switch {
	case c.Source == calls.Trace:
		text = "The source is the execution trace: both ends are exact."
	case c.Source == calls.Uprobes && c.Windows > 1:
		text = termtext.Sprintf("The source is probes: both ends are exact. It is called too often to time all calls: %d windows have %s of the time. Calls are cut that take longer than a window, %s at most.",
			c.Windows, sharePercent(float64(c.Covered)/float64(max(1, c.Duration))), brief(c.LongestWindow))
	case c.Source == calls.Uprobes:
		text = termtext.Sprintf("The source is probes: both ends are exact, and they cover %s of the time.",
			sharePercent(min(1, float64(c.Covered)/float64(max(1, c.Duration)))))
	}
	if c.Note != "" {
		text += " " + termtext.Sprintf("%s", c.Note) + "."
	}
	return paragraph("", text)
}

// RangeText formats a time that is known to be between two.
func RangeText(r calls.Range) string {
	switch least, most := brief(r.Least), brief(r.Most); {
	case r.Least == 0 && r.Most > 0:
		return "below " + most
	case r.Most-r.Least <= r.Most/exactly:
		return brief((r.Least + r.Most) / 2)
	case strings.TrimLeft(least, digits) == strings.TrimLeft(most, digits):
		return strings.TrimRight(least, units) + " to " + most
	default:
		return least + " to " + most
	}
}

const (
	exactly = 10 // a time that is known up to a tenth is one
	digits  = "0123456789."
	units   = "nµms"
)

// split writes the typed time of both sides.
func (c *Calls) split() string {
	t := &table{}
	t.add("", "slow", "rest")
	for typed := range views.NumTypedTimes {
		slow, rest := c.Slow.Parts[typed], c.Rest.Parts[typed]
		if slow.Share > 0 || rest.Share > 0 {
			t.add(typed.Name(), aboutShare(slow), aboutShare(rest)+" ")
		}
	}
	if len(t.rows) == 1 {
		return "No sample is inside of them: they are too short to say what they do.\n"
	}
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// alone says that one call has much of the time of the slow
// ones, and how to leave it out.
func (c *Calls) alone() string {
	if 4*c.Slow.Longest <= c.Slow.Total {
		return ""
	}
	return termtext.Sprintf("One call has %s of the time of the slow ones. --slow '%s < %v' leaves it out.\n",
		sharePercent(float64(c.Slow.Longest)/float64(c.Slow.Total)), c.Condition, c.Slow.Longest.Truncate(time.Microsecond))
}

// more writes what slow calls have more of.
func (c *Calls) more() string {
	if len(c.More) == 0 {
		return "\nThere is nothing that the slow ones certainly have more of.\n"
	}
	var b strings.Builder
	b.WriteString("\nThe slow ones have more of this, in shares of their time:\n")
	t := &table{right: true, width: c.Width}
	t.add("more", "slow", "rest", "")
	for i := range c.More {
		m := &c.More[i]
		t.add("+"+aboutShare(m.Difference), exactShare(m.Slow.Share), exactShare(m.Rest.Share), FeatureText(m))
	}
	t.write(&b)
	return b.String()
}

// Took says how long a call took.
func Took(t *calls.Table, call *calls.Call) string {
	switch {
	case call.Whole():
		return RangeText(t.Within(call))
	case t.MayBeSeveral(call):
		return "not known"
	}
	return "over " + brief(call.Took.Least)
}

// FeatureText says what a feature is: "waits for a lock,
// cache.mu, in main.get".
func FeatureText(m *calls.Common) string {
	switch m.Kind {
	case calls.Does:
		what := m.Doing.Words()
		if m.Lock != "" {
			what = "waits for " + LockWords(m.Lock)
		}
		return termtext.Sprintf("%s, in %s", what, m.Function)
	case calls.HeldBy:
		text := termtext.Sprintf("waits for %s, which %s holds", LockWords(m.Lock), m.Class)
		if m.Doing != 0 {
			text = termtext.Sprintf("%s, in %s, for what %s probably has", m.Doing.Words(), m.Function, m.Class)
		}
		if a := m.Meanwhile; a != nil {
			text += termtext.Sprintf(" (%s of that it %s, in %s)", sharePercent(a.Share), a.Doing.Words(), a.Function)
		}
		return text
	case calls.Below:
		return termtext.Sprintf("is in %s, or in what that calls", m.Function)
	case calls.CallerOf:
		return termtext.Sprintf("was called by %s, line %d", m.Function, m.Line)
	case calls.NoCPU:
		return "is ready to run, and has no CPU"
	case calls.WithArgument:
		switch m.Least {
		case math.MinInt64:
			return termtext.Sprintf("has a negative %s", m.Label)
		case m.Most:
			return termtext.Sprintf("has %s %d", m.Label, m.Least)
		}
		return termtext.Sprintf("has %s from %d to %d", m.Label, m.Least, m.Most)
	case calls.Collecting:
		return "the garbage collector is at work"
	case calls.OneGoroutine:
		return fmt.Sprintf("is goroutine %d", m.Goroutine)
	case calls.OneMoment:
		return "is at " + spanText(m.From, m.To)
	}
	return termtext.Sprintf("has the label %s", m.Label)
}

// HolderVerb says what a goroutine is to the wait of another one.
func HolderVerb(wait views.Doing, certain bool) string {
	switch {
	case !certain:
		return "may end it"
	case wait == views.AwaitingGroup:
		return "is waited for"
	case wait == views.AwaitingLock:
		return "holds it"
	}
	return "probably has it"
}

// LockWords names a lock.
func LockWords(lock string) string { return cmp.Or(lock, "a lock") }

// longest lists the longest calls.
func (c *Calls) longest() string {
	var b strings.Builder
	b.WriteString("\nThe longest\n")
	t := &table{right: true, width: c.Width}
	t.add("number", "took", "from", "goroutine")
	several := false
	for i := range c.Calls[:min(len(c.Calls), c.Top)] {
		call := &c.Calls[i]
		several = several || call.Several
		t.add(fmt.Sprint(i+1), Took(c.Table, call), fmt.Sprintf("%.3f s", call.Begin.Seconds()),
			fmt.Sprint(call.ID))
	}
	t.write(&b)
	if several && !c.Merges() { // or the head says it
		b.WriteString("In those below a time, the goroutine came back to a wait: a loop, or several calls.\n")
	}
	return b.String()
}

// spanFlag is the flag of a span on a command line.
func spanFlag(s views.Span) string {
	if s == (views.Span{}) {
		return ""
	}
	text := " --span " + s.From.String() + ","
	if s.To != 0 {
		text += s.To.String()
	}
	return text
}

func (c *Calls) goOn(b *strings.Builder) {
	file, function := words.Shell(c.File), words.Shell(c.Function)
	slow := words.Shell(c.Function + " " + c.Condition.In(c.Table))
	termtext.Fprintf(b, "\nGo on with\n  cpprof calls %s %s%s --number 1\n", file, function, spanFlag(c.Span))
	if !c.TooFew() {
		termtext.Fprintf(b, "  cpprof report %s --calls %s\n", file, slow)
	}
}

// WriteCall writes what the goroutine of one call did, given the
// call's number.
func (c *Calls) WriteCall(w io.Writer, number int, steps []calls.Step) {
	call := &c.Calls[number-1]
	cut := ""
	switch {
	case c.MayBeSeveral(call):
		cut = "; it may be several calls that followed one another"
	case !call.Whole():
		cut = "; the recording does not have all of it"
	}
	termtext.Fprintf(w, "Call %d of %s, by goroutine %d: %s from %.3f s on%s\n\n", number, c.Function,
		call.ID, Took(c.Table, call), call.Begin.Seconds(), cut)
	if len(steps) == 0 {
		io.WriteString(w, "No sample is inside of it: what it did is not known. 'cpprof record --rate' takes more samples.\n")
		return
	}
	t := &table{right: true, width: c.Width}
	t.add("after", "for", "")
	for i := range steps {
		s := &steps[i]
		t.add(brief(max(0, s.At-call.Begin)), brief(s.Length), StepText(s))
	}
	t.write(w)
}

// StepText says what the goroutine of a call did.
func StepText(s *calls.Step) string {
	what := s.Doing.Words()
	if s.Lock != "" {
		what = "waits for " + LockWords(s.Lock)
	}
	text := termtext.Sprintf("%s, in %s", what, s.Function)
	if s.Line > 0 {
		text += fmt.Sprintf(":%d", s.Line)
	}
	for i, h := range s.Holders {
		if i == 3 {
			return text + fmt.Sprintf(", and %d more", len(s.Holders)-i)
		}
		text += termtext.Sprintf("; goroutine %d %s", h.ID, HolderVerb(s.Doing, s.Certain))
		if h.Class != "" {
			text += termtext.Sprintf(": %s %s, in %s", h.Class, h.Doing.Words(), h.Function)
		}
	}
	return text
}

// ProposedCalls are functions whose calls are worth a look.
type ProposedCalls struct {
	Proposals []calls.Proposal
	Recording *sampledata.Recording
	File      string
	Width     int
}

// Write writes a table of them.
func (p *ProposedCalls) Write(w io.Writer) {
	if len(p.Proposals) == 0 {
		termtext.Fprintln(w,
			"No function stands out in which goroutines work from one wait for work to the next: name one. 'cpprof report' shows the functions.")
		return
	}
	termtext.Fprintf(w, "Functions in which goroutines work from one wait for work to the next:\n\n")
	t := &table{right: true, width: p.Width}
	t.add("calls", "cut", "p50", "p99", "longest", "work", "function")
	merge, cuts := false, false
	for i := range p.Proposals {
		one := &p.Proposals[i]
		c := Calls{Table: one.Table}
		number, cut := fmt.Sprint(len(one.Calls)), len(one.Calls)-one.Whole()
		cuts = cuts || cut > 0
		if one.Merges() {
			number, merge = "*"+number, true
		}
		at := func(share float64) string {
			if !c.TellsTimes() {
				return "-"
			}
			return RangeText(c.Between(share))
		}
		t.add(number, fmt.Sprint(cut), at(0.5), at(0.99), at(1), sharePercent(one.Share),
			termtext.Sprintf("%s, of %s", one.Function, one.Class))
	}
	t.write(w)
	if cuts {
		termtext.Fprintf(w, "\ncut are calls whose begin or end is not in the recording: the quantiles and the longest leave them out.\n")
	}
	if merge {
		termtext.Fprintf(w, "\n* Some of these calls may be several that followed one another: then there are more, and they are\nshorter. 'cpprof record --calls FUNCTION' times each.\n")
	}
	termtext.Fprintf(w, "\nwork is the share of the class's work that is in these calls. Go on with\n  cpprof calls %s %s%s\n",
		words.Shell(p.File), words.Shell(p.Proposals[0].Function), spanFlag(p.Proposals[0].Span))
}

// WriteJSON writes the same as data.
func (p *ProposedCalls) WriteJSON(w io.Writer) error {
	type proposal struct {
		Function string  `json:"function"`
		Class    string  `json:"class"`
		Calls    int     `json:"calls"`
		Share    float64 `json:"share"`
	}
	return writeJSON(w, struct {
		Proposals []proposal `json:"proposals"`
		Basis
	}{lists.Each(p.Proposals, func(one calls.Proposal) proposal {
		return proposal{one.Function, one.Class, len(one.Calls), one.Share}
	}), BasisOf(p.Recording)})
}
