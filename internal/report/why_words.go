package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
	"github.com/cpprof/cpprof/why/stuck"
	"github.com/shopspring/decimal"
)

// sharePercent formats a share without decimals, unless it is small.
func sharePercent(share float64) string {
	if share > 0 && share < 0.0095 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// aboutShare formats an estimate, with the digits of the cost in a report:
// "80.3 % ± 2 %".
func aboutShare(e hotspots.Estimate) string {
	margin := 100 * e.Margin()
	if margin < 1 {
		return fmt.Sprintf("%s ± %.1f %%", exactShare(e.Share), max(margin, 0.1))
	}
	return fmt.Sprintf("%s ± %.0f %%", exactShare(e.Share), margin)
}

// exactShare formats a share so that it is the cost in a report, to the
// digit: "80.3 %" is a cost of 0.803.
func exactShare(share float64) string {
	return decimal.NewFromFloat(share).Mul(decimal.New(100, 0)).StringFixed(1) + " %"
}

// counted formats a mean number of goroutines.
func counted(n float64) string {
	switch {
	case n >= 9.5:
		return fmt.Sprintf("%.0f goroutines", n)
	case n > 0.95 && n < 1.05:
		return "1 goroutine"
	}
	return fmt.Sprintf("%.1f goroutines", n)
}

func processorsText(n float64) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%.4g processors", n)
}

// goroutines describes a class: "go:main.worker (10 goroutines)".
func goroutines(f *why.Finding) string {
	text := f.Class + " (" + counted(f.Alive)
	if float64(f.Count) > 1.5*f.Alive+1 {
		text += fmt.Sprintf(" at a time, %d in all", f.Count)
	}
	return text + ")"
}

// spends says how much of its life a class spends on something: the time in
// which it waits for work does not count.
func spends(f *why.Finding, on string) string {
	text := goroutines(f) + " spends " + aboutShare(f.Share)
	if f.Idle < 0.05 {
		return text + " of its life " + on + "."
	}
	return text + " of its time at work " + on + "; " + sharePercent(f.Idle) +
		" of its life it waits for work."
}

// Sentence describes a finding in one sentence.
func Sentence(f *why.Finding) string {
	if f.Phase && len(f.When.Spans) == 1 {
		return "From " + spanText(f.When.Spans[0].From, f.When.Spans[0].To) + ": " + statement(f)
	}
	return statement(f)
}

// statement describes a finding in a sentence that does not say when.
func statement(f *why.Finding) string {
	says := filled(f, f.Words().Says)
	if strings.HasSuffix(says, ".") {
		return says
	}
	return f.Words().First + spends(f, says)
}

// filled replaces the names in the words for a kind of finding (see why.KindWords).
func filled(f *why.Finding, words string) string {
	return strings.NewReplacer(
		"{who}", goroutines(f), "{class}", f.Class, "{place}", f.Where.Function, "{share}",
		aboutShare(f.Share), "{mean}", fmt.Sprintf("%.2g", f.Mean),
		"{lock}", f.Lock, "{waits}", waitText(f), "{reason}", f.Reason, "{parts}",
		sharesText(f.Parts), "{growth}", growthText(f.Growth), "{circle}", circleText(f), "{calls}",
		callsText(f.Calls), "{stuck}", stuckText(f.Stuck), "{slow}", slowText(f.Slow),
		"{made}", madeText(f.Made), "{each}", eachText(f.Made),
	).Replace(words)
}

// growthText says how many goroutines there are more and more of.
func growthText(g *why.Growth) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("from %d to %d in the recording, %.3g a second", g.From, g.To, g.PerSecond)
}

// circleText says who waits in a deadlock.
func circleText(f *why.Finding) string {
	if f.Count == 1 {
		return "A goroutine waits for a lock that it holds itself: a deadlock."
	}
	return fmt.Sprintf("%s wait for one another's locks in a circle: a deadlock.",
		Counted(f.Count, "goroutine"))
}

// slowText says how much longer the slowest calls take, and what they have
// more of.
func slowText(s *why.SlowCalls) string {
	if s == nil {
		return ""
	}
	again := ""
	if s.Period > 0 {
		again = "; it happens every " + span(s.Period)
	}
	return fmt.Sprintf("%s of the calls of %s take %s or more, half of all at most %s: %s of that time, the call %s%s.",
		sharePercent(s.Share), s.Function, brief(s.Least), brief(s.Usual), aboutShare(s.More.Slow),
		FeatureText(&s.More), again)
}

// madeText names what is made.
func madeText(m *why.Made) string {
	if m == nil {
		return ""
	}
	return m.What
}

// eachText says how often a thing is made, and how long that takes.
func eachText(m *why.Made) string {
	if m == nil {
		return ""
	}
	if m.Each == 0 {
		return "they are made faster than the samples can count"
	}
	return "at least " + rateText(m.PerSecond) + " a second are made, in at most " +
		brief(time.Duration(m.Each*1e9)) + " each"
}

// callsText lists system calls.
func callsText(calls []why.Part) string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Name+" ("+sharePercent(c.Share)+")")
	}
	return cmp.Or(strings.Join(list, "; "), "of several kinds")
}

// stuckText says that goroutines can never run again, and whose fault that is.
func stuckText(f *stuck.Finding) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s.", Counted(f.Count, "goroutine"), verdictOf(f), causeOf(f))
}

// stuckLines says who is stuck where, since when, and what that costs.
func stuckLines(f *why.Finding) (lines []string) {
	one := f.Stuck
	for i, g := range one.Groups {
		lines = append(lines, groupText(g, one.Lock[i])+", in "+placeIn(g.Calls))
	}
	if len(one.Behind) > 0 {
		lines = append(lines,
			fmt.Sprintf("behind %s: %s", them(len(one.Groups)), behindText(one.Behind)))
	}
	if more := keptText(one); more != "" {
		lines = append(lines, more)
	}
	if f.Growth != nil {
		lines = append(lines, "they become more: "+growthText(f.Growth))
	}
	return lines
}

// waitText says what the goroutines of a finding wait for, by the runtime's reason.
func waitText(f *why.Finding) string {
	does := views.WaitingFor(f.Reason)
	if does == views.OtherWait {
		return "waiting (" + f.Reason + ")"
	}
	return does.Participle()
}

// whereText says where a finding is: the function, its callers, and the line.
func whereText(f *why.Finding) string {
	if !f.HasPlace() {
		return ""
	}
	text := f.Where.Function
	chain := slices.IndexFunc(f.Callers, func(p why.Part) bool { return p.Share < 0.95 })
	if chain < 0 {
		chain = len(f.Callers)
	}
	for i, p := range f.Callers[:chain] {
		if i == maxCallers {
			text += ", ..."
			break
		}
		text += ", called by " + p.Name
	}
	if several := f.Callers[chain:]; len(several) > 0 {
		text += ", called by " + partsText(several)
	}
	if len(f.Callers) == 0 && f.Where.Caller != "" {
		text += ", called by " + f.Where.Caller
	}
	text += throughText(f, text)
	if f.Where.Library != "" && f.Reason != "" && f.Kind != why.LockKind {
		text += ", in " + f.Where.Library
	}
	switch file := f.Where.ShortFile; {
	case f.Where.File == "":
	case f.Where.Line == 0: // traces have no lines of functions
		text += " (" + file + ")"
	default:
		text += fmt.Sprintf(" (%s:%d)", file, f.Where.Line)
	}
	return text
}

// throughText names the functions of a finding in which one module calls
// another, as far as the text has not named them yet.
func throughText(f *why.Finding, text string) string {
	var more []string
	for _, name := range f.Through {
		if !strings.Contains(text, name) {
			more = append(more, name)
		}
	}
	if len(more) == 0 {
		return ""
	}
	return "; through " + strings.Join(more, ", ")
}

// whoText says which goroutines of the class, or which label, have most of a
// finding; "" if none stands out.
func whoText(f *why.Finding) string {
	var parts []string
	if w := f.Outliers; w != nil {
		text := fmt.Sprintf("goroutine %d alone has %s of it", w.Goroutines[0],
			sharePercent(w.Share))
		if w.Count > 1 {
			var numbers []string
			for _, g := range w.Goroutines {
				numbers = append(numbers, fmt.Sprint(g))
			}
			if w.Count > len(w.Goroutines) {
				numbers = append(numbers, "...")
			}
			text = fmt.Sprintf("%d goroutines (%s) have %s of it", w.Count,
				strings.Join(numbers, ", "), sharePercent(w.Share))
		}
		parts = append(parts, fmt.Sprintf("%s, of %d of the class", text, w.Of))
	}
	if l := f.Label; l != nil {
		parts = append(parts,
			fmt.Sprintf("those with the label %s have %s of it, and %s of the class's life",
				l.Label, sharePercent(l.Share), sharePercent(l.Life)))
	}
	return strings.Join(parts, "; ")
}

// maxCallers limits the callers of callers that the text shows.
const maxCallers = 2

func partsText(parts []why.Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.Name+" ("+sharePercent(p.Share)+")")
	}
	return strings.Join(list, ", ")
}

// sharesText formats parts for reading: "51 % in main.f and 49 % in main.g".
func sharesText(parts []why.Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, sharePercent(p.Share)+" in "+p.Name)
	}
	return strings.Join(list, ", ")
}

// WhyLines says why something is slow, as far as it is known.
func WhyLines(f *why.Finding) (lines []string) {
	for i, c := range f.Causes {
		if i == maxCauses {
			break
		}
		lines = append(lines, causeText(f, &c))
	}
	words := f.Words()
	switch {
	case len(f.Parts) > 0 && words.Because != "":
		lines = append(lines, filled(f, words.Because))
	case words.Own != "":
		lines = append(lines, filled(f, words.Own))
	}
	lines = append(lines, f.Signs...)
	if f.Garbage != nil {
		lines = append(lines, garbageLines(f.Garbage)...)
	}
	if f.Throttling != nil {
		lines = append(lines, throttlingText(f.Throttling))
	}
	switch f.Kind {
	case why.StuckKind:
		return append(lines, stuckLines(f)...)
	case why.LockKind:
		lines = append(lines, unknownText(f)...)
		if len(f.Chained) > 0 {
			lines = append(lines,
				"through it others wait, too: those for "+strings.Join(f.Chained, ", "))
		}
	case why.SleepKind:
		if f.Lock != "" {
			lines = append(lines,
				"by its name, "+f.Lock+
					" takes a lock: by tries, with sleeps in between; whoever unlocks it wakes nobody")
		}
	case why.DeadlockKind:
		if f.Count == 1 {
			return append(lines,
				"it locks "+strings.Join(f.Chained, ", ")+" a second time before it unlocks it")
		}
		return append(lines,
			"each holds a lock that the next one waits for: "+strings.Join(f.Chained, ", "))
	}
	if len(f.Others) > 0 {
		lines = append(lines,
			"so do others, by share of their time at work: "+
				partsText(f.Others[:min(len(f.Others), maxCauses)]))
	}
	return lines
}

// maxCauses limits the causes that the text shows.
const maxCauses = 3

// unknownText says for which part of the waiting for a lock nobody is known
// to hold it.
func unknownText(f *why.Finding) []string {
	known := 0.0
	for _, c := range f.Causes {
		known += c.Share
	}
	if 1-known < 0.2 {
		return nil
	}
	return []string{"who holds it is not known for " + sharePercent(1-known) + " of that time"}
}

// manyText formats a large number: "3.2 million".
func manyText(n float64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%.3g million", n/1e6)
	}
	return rateText(n)
}

// garbageLines says how much is allocated, and where.
func garbageLines(g *why.Garbage) (lines []string) {
	if g.Bytes > 0 {
		text := "it allocates " + bytesText(g.Bytes) + " a second"
		if g.Objects > 0 {
			text += fmt.Sprintf(", in %s objects of %s on average", manyText(g.Objects),
				bytesText(g.Bytes/g.Objects))
		}
		if g.Collections > 0 {
			text += fmt.Sprintf("; %s collections a second", rateText(g.Collections))
		}
		if g.Live > 0 {
			text += ", of a heap of " + bytesText(g.Live)
		}
		lines = append(lines, text)
	}
	if len(g.Sites) > 1 {
		lines = append(lines, "it is allocated "+sharesText(g.Sites))
	}
	return lines
}

// throttlingText says how often the kernel has stopped a program for the rest
// of a period.
func throttlingText(t *why.Throttling) string {
	text := fmt.Sprintf("it had used up its time in %s of the kernel's periods, and was stopped for the rest of each", sharePercent(t.Periods))
	if t.Limit > 0 {
		text += fmt.Sprintf(": its limit is %.3g CPUs", t.Limit)
	}
	return text
}

// causeText says what one cause of a wait does.
func causeText(f *why.Finding, c *why.Cause) string {
	doing := "it " + c.Activity.Words()
	if c.Activity == why.Locked && c.Lock != "" {
		doing += ", " + c.Lock
	}
	at := placeText(&c.Place)
	share := " (" + sharePercent(c.Share) + " of that time)"
	switch {
	case c.Activity == why.Nobody:
		return "nobody holds it: a goroutine was woken to take it, and has not run yet" + share
	case f.Kind == why.ProcessorKind:
		return c.Class + " has the processors, mostly in " + at + share
	case c.Certainty == why.Known:
		return c.Class + " holds it, in " + at + ": " + doing + share
	case c.Certainty == why.Likely && f.Kind == why.LockKind:
		return c.Class + " probably holds it, in " + at + ": " + doing + share
	case c.Certainty == why.Likely:
		return c.Class + " probably has what they wait for, in " + at + ": " + doing + share
	case c.Certainty == why.OtherSide:
		return "at the other end of the channel is " + c.Class + ", in " + at + ": " + doing +
			" (" + sharePercent(c.Share) + " of its life)"
	case c.Certainty == why.Fellow:
		return "others of the class are further on in " + f.Where.Caller + ", in " + at + ": " +
			doing + " (" + sharePercent(c.Share) + ")"
	}
	if f.Kind == why.LockKind {
		return "perhaps " + c.Class + " holds it, in " + at + ": " + doing + share
	}
	return "a candidate to end the wait, by the code that it is in, is " + c.Class + ", in " + at +
		": " + doing + share
}

func placeText(p *why.Place) string {
	if p.Library != "" {
		return p.Function + ", " + p.Library
	}
	return p.Function
}

// whenText says when a finding is true.
func whenText(f *why.Finding, from, to time.Duration) string {
	text := "all the time, " + spanText(from, to)
	if len(f.When.Spans) > 0 {
		var list []string
		for _, s := range f.When.Spans {
			list = append(list, spanText(s.From, s.To)+" ("+sharePercent(s.Share)+")")
		}
		text = "only " + strings.Join(list, ", ")
		if len(list) > maxCauses {
			text = fmt.Sprintf("in %d spans: %s, ...", len(list),
				strings.Join(list[:maxCauses], ", "))
		}
	}
	if f.When.Period > 0 {
		text += fmt.Sprintf("; it comes and goes every %s", span(f.When.Period))
	}
	if f.When.Collecting {
		text += "; mostly while garbage is collected"
	}
	for _, c := range f.With {
		text += fmt.Sprintf("; it goes with %s (r = %.2f)", c.Monitor, c.R)
	}
	return text
}

func spanText(from, to time.Duration) string {
	return fmt.Sprintf("%.1f to %.1f s", from.Seconds(), to.Seconds())
}

// beforeText says what a finding was in the earlier recording.
func beforeText(f *why.Finding) string {
	if f.Before == nil {
		return ""
	}
	if f.Before.Severity == 0 {
		return "nothing of it was seen"
	}
	return aboutShare(f.Before.Share)
}
