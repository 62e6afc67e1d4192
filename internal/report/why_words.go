package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
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

// aboutShare formats an estimate, with the digits of the cost in
// a report: "80.3 % ± 2 %". A wide interval is not in its middle:
// "12.9 % (3 to 38 %)".
func aboutShare(e hotspots.Estimate) string {
	margin := 100 * e.Margin()
	switch {
	case margin > 100*e.Share/2:
		return fmt.Sprintf("%s (%s to %s)", exactShare(e.Share), strings.TrimSuffix(sharePercent(e.Low), " %"), sharePercent(e.High))
	case margin < 1:
		return fmt.Sprintf("%s ± %.1f %%", exactShare(e.Share), max(margin, 0.1))
	}
	return fmt.Sprintf("%s ± %.0f %%", exactShare(e.Share), margin)
}

// exactShare formats a share so that it is the cost in a report,
// to the digit: "80.3 %" is a cost of 0.803.
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
	if n = math.Round(10*n) / 10; n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%g processors", n)
}

// goroutines describes a class: "go:main.worker (10 goroutines)".
func goroutines(f *why.Finding) string {
	text := f.Class + " (" + counted(f.Alive)
	if float64(f.Count) > 1.5*f.Alive+1 {
		text += fmt.Sprintf(" at a time, %d seen", f.Count)
	}
	return text + ")"
}

// whose says in which goroutines code runs.
func whose(f *why.Finding) string {
	if f.IsCode() && len(f.Others) > 0 { // the share is of all
		return goroutines(f) + " and others"
	}
	return goroutines(f)
}

// spends says how much of its life a class spends on something:
// the time in which it waits for work does not count, unless that
// makes no difference.
func spends(f *why.Finding, on string) string {
	text := goroutines(f) + " spends " + aboutShare(f.Share)
	if ofLife := f.Share.Share * (1 - f.Idle); f.Idle < 0.05 && ofLife >= f.Share.Low {
		if f.InCalls {
			return text + " of its time in these calls " + on + "."
		}
		return text + " of its life " + on + "."
	}
	rests := " of its life it waits for work."
	if f.Sleeps() {
		rests = " of its life it sleeps in its loop."
	}
	return text + " of its time at work " + on + "; " + sharePercent(f.Idle) + rests
}

// Sentence describes a finding in one sentence.
func Sentence(f *why.Finding) string {
	if f.Phase && len(f.When.Spans) > 0 {
		phase := f.When.Spans[0]
		if in := f.Within; in != nil && len(f.When.Spans) > 1 {
			phase.From, phase.To = in.From, cmp.Or(in.To, f.When.Spans[len(f.When.Spans)-1].To)
		}
		return "From " + spanText(phase.From, phase.To) + ": " + statement(f)
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

// filled replaces the names in the words for a kind of finding
// (see why.KindWords).
func filled(f *why.Finding, text string) string {
	return strings.NewReplacer(
		"{who}", whose(f), "{class}", f.Class, "{place}", withBelow(f), "{share}",
		aboutShare(f.Share), "{mean}", fmt.Sprintf("%.2g", f.Mean),
		"{lock}", f.Lock, "{waits}", waitText(f), "{reason}", f.Reason, "{parts}",
		sharesText(f.Parts, " in "), "{growth}", growthText(f.Growth), "{leak}", leakText(f), "{ends}", endsText(f.Growth),
		"{waited}", waitedText(f.Growth),
		"{circle}", circleText(f), "{left}", strconv.Itoa(f.Left), "{calls}",
		callsText(f.Calls), "{stuck}", stuckSentence(f.Stuck), "{slow}", slowText(f.Slow),
		"{made}", madeText(f.Made), "{each}", eachText(f.Made),
	).Replace(text)
}

// growthText says how many goroutines there are more and more of.
func growthText(g *why.Growth) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("from %d to %d in the recording, %s a second", g.From, g.To, rateText(g.PerSecond))
}

// leakText says how sure it is that goroutines leak. Those that
// sleep go on after some time.
func leakText(f *why.Finding) string {
	switch {
	case views.WaitingFor(f.Reason) == views.Sleeping:
		return "become more"
	case f.Growth != nil && f.Growth.Probable():
		return "probably leak"
	}
	return "may leak"
}

// endsText says how few of those that may leak end.
func endsText(g *why.Growth) string {
	if g != nil && g.OthersEnd {
		return "hardly any of these goes on, though others end"
	}
	return "hardly any ends"
}

// waitedText says what else there is to know of goroutines that leak.
func waitedText(g *why.Growth) (text string) {
	if g == nil {
		return ""
	}
	if g.Waited >= time.Second {
		text = ", one " + atLeast(g.Waited)
	}
	if g.Alone {
		text += "; no other goroutine was seen to wait at the other end"
	}
	return text
}

// circleText says who waits in a deadlock.
func circleText(f *why.Finding) string {
	switch {
	case f.Likely && f.Count == 1:
		return "A goroutine has not moved for seconds, and seems to wait for a lock that it holds itself."
	case f.Likely:
		return fmt.Sprintf("%d goroutines have not moved for seconds, and seem to wait for locks that each of them holds itself.", f.Count)
	case f.Itself && f.Count == 1:
		return "A goroutine waits for a lock that it holds itself: a deadlock."
	case f.Itself:
		return fmt.Sprintf("%d goroutines wait for locks that each of them holds itself: a deadlock.", f.Count)
	case f.ReadsAgain:
		return "A goroutine reads again what it has locked for reading, behind a writer that waits for it: a deadlock."
	}
	return fmt.Sprintf("%s wait for one another's locks in a circle: a deadlock.",
		Counted(f.Count, "goroutine"))
}

// slowText says how much longer the slowest calls take, and what
// they have more of.
func slowText(s *why.SlowCalls) string {
	if s == nil {
		return ""
	}
	again := ""
	if s.Period > 0 {
		again = "; it happens " + roughly(s.Period)
	}
	some := sharePercent(s.Share) + " of the calls"
	if s.Source == calls.Samples { // most short calls are not seen
		some = fmt.Sprintf("The %d slowest calls", s.Calls)
	}
	return fmt.Sprintf("%s of %s take %s, half of all at most %s: %s of that time, the call %s%s.",
		some, s.Function, leastText(s), brief(s.Usual), aboutShare(s.More.Slow),
		FeatureText(&s.More), again)
}

// leastText says how long slow calls take at least.
func leastText(s *why.SlowCalls) string {
	if s.Several {
		return brief(s.Least) + " or more, if none is several that followed one another"
	}
	return brief(s.Least) + " or more"
}

// madeText says what is done to make a thing, and for whom.
func madeText(m *why.Made) string {
	if m == nil {
		return ""
	}
	switch {
	case m.For != "":
		return m.Does + " for " + m.For
	case m.Awaited:
		return m.Does + ", and waiting for them,"
	}
	return m.Does
}

// eachText says how often a thing is made, and how long that takes.
func eachText(m *why.Made) string {
	if m == nil {
		return ""
	}
	text := "at least " + rateText(m.PerSecond) + " a second"
	switch {
	case m.Each > 0:
		return text + ", in at most " + brief(time.Duration(m.Each*1e9)) + " each on average"
	case m.Fast:
		return "samples can't tell how many: each takes less time than passes between two samples"
	case m.Counted:
		return text
	}
	return text + "; samples can't tell how many more"
}

// callsText lists system calls.
func callsText(calls []why.Part) string {
	return cmp.Or(strings.Join(lists.Each(calls, func(p why.Part) string { return partText(p, "") }), "; "), "of several kinds")
}

// stuckSentence says that goroutines can never run again; "" if f is nil.
func stuckSentence(f *stuck.Finding) string {
	if f == nil {
		return ""
	}
	return stuckText(f) + "."
}

// stuckLines says who is stuck where, since when, and what that costs.
func stuckLines(f *why.Finding) (lines []string) {
	one := f.Stuck
	for i, g := range one.Groups {
		text := groupText(g, one.Lock[i])
		if place := " in " + placeIn(g.Calls); !strings.Contains(text, place+" [") { // as of a variable
			text += "," + place
		}
		lines = append(lines, text)
	}
	if len(one.Behind) > 0 {
		lines = append(lines,
			fmt.Sprintf("behind %s: %s", either(len(one.Groups), "it", "them"), behindText(one.Behind)))
	}
	if more := keptText(one); more != "" {
		lines = append(lines, more)
	}
	return lines
}

// withBelow names the function of a finding, and what it has
// asked for there. It says how much of it is in what the function
// calls, if these are waits of their own, too.
func withBelow(f *why.Finding) string {
	switch {
	case f.Asked != "":
		return placeText(&f.Where)
	case f.Below == 0:
		return f.Where.Function
	}
	return fmt.Sprintf("%s, or in what it calls (%s of it)", f.Where.Function, sharePercent(f.Below))
}

// waitText says what the goroutines of a finding wait for, by
// the runtime's reason.
func waitText(f *why.Finding) string {
	does := views.WaitingFor(f.Reason)
	if does == views.OtherWait {
		return "waiting (" + f.Reason + ")"
	}
	return does.Participle()
}

// whereText says where a finding is: the function, its callers,
// and the line.
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
		text += ", called by " + partsText(several, "")
	}
	if len(f.Callers) == 0 && f.Where.Caller != "" {
		text += ", called by " + f.Where.Caller
	}
	text += throughText(f, text)
	if f.Where.Library != "" && (f.Reason != "" || f.Kind == why.AllocationKind) && f.Kind != why.LockKind {
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

// maxThrough limits the passages between modules that are named.
const maxThrough = 5

// throughText names the functions in which one module calls another, or
// what calls the program back. It leaves out what the text has named, and
// all but the first two and the last ones: what the program calls in a
// library may be what it calls too often.
func throughText(f *why.Finding, text string) string {
	var more []string
	for _, way := range f.Through {
		names := strings.Split(way, " or ")
		others := slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return strings.Contains(text, name) })
		if len(others) > 0 && len(others) < len(names) {
			others[0] = "also " + others[0]
		}
		if len(others) > 0 {
			more = append(more, strings.Join(others, " or "))
		}
	}
	if len(more) == 0 {
		return ""
	}
	if outer := len(more) - maxThrough; outer > 0 {
		more = slices.Replace(more, 2, 2+outer, "...")
	}
	return strings.Replace("; through "+strings.Join(more, ", "), "through also", "also through", 1)
}

// whoText says which goroutines of the class, or which label,
// have most of a finding; "" if none stands out.
func whoText(f *why.Finding) string {
	var parts []string
	if w := f.Outliers; w != nil {
		text := fmt.Sprintf("goroutine %d alone has %s of it", w.Goroutines[0],
			sharePercent(w.Share))
		if w.Count > 1 {
			numbers := lists.Each(w.Goroutines, func(g int64) string { return fmt.Sprint(g) })
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

// partsText lists parts with their shares of something.
func partsText(parts []why.Part, of string) string {
	return strings.Join(lists.Each(parts, func(p why.Part) string { return partText(p, of) }), ", ")
}

func partText(p why.Part, of string) string {
	text := sharePercent(p.Share) + of
	if p.Where != "" && p.Where != strings.TrimPrefix(p.Name, "go:") {
		text += ", in " + p.Where
	}
	return p.Name + " (" + text + ")"
}

// sharesText formats parts for reading: "51 % in main.f, 49 % in
// main.g; 70 % in @map". An aspect has shares of the same time
// as the functions before it.
func sharesText(parts []why.Part, in string) string {
	var b strings.Builder
	for i, p := range parts {
		switch {
		case i == 0:
		case isAspect(p) && !isAspect(parts[i-1]):
			b.WriteString("; ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(sharePercent(p.Share) + in + p.Name)
		if len(p.Through) > 0 {
			b.WriteString(" (through " + strings.Join(p.Through, ", ") + ")")
		}
	}
	return b.String()
}

func isAspect(p why.Part) bool { return strings.HasPrefix(p.Name, "@") }

// whenText says when a finding is true.
func whenText(f *why.Finding, from, to time.Duration) string {
	text := "all the time, " + spanText(from, to)
	if f.When.Present > 0 {
		text = "whenever they are at work, which is " + sharePercent(f.When.Present) + " of the time, " + spanText(from, to)
	}
	if len(f.When.Spans) > 0 {
		list := lists.Each(f.When.Spans, func(s why.Span) string {
			return spanText(s.From, s.To) + " (" + sharePercent(s.Share) + " then)"
		})
		text = strings.Join(list, ", ")
		if len(list) > maxCauses {
			text = fmt.Sprintf("in %d spans: %s, ...", len(list),
				strings.Join(list[:maxCauses], ", "))
		} else if f.When.Otherwise == 0 {
			text = "only " + text
		}
		if f.When.Otherwise > 0 {
			text += ", and " + sharePercent(f.When.Otherwise) + " at other times"
		}
	}
	if f.When.Period > 0 {
		text += "; it comes and goes " + roughly(f.When.Period)
	}
	if f.When.Collecting {
		text += "; mostly while garbage is collected"
	}
	for _, c := range f.With {
		text += fmt.Sprintf("; it goes with %s (r = %.2f)", c.Monitor, c.R)
	}
	return text
}

// roughly formats the time between two events.
func roughly(d time.Duration) string { return "about every " + brief(twoDigits(d)) }

// twoDigits rounds a time: samples don't tell when exactly it begins
// and ends.
func twoDigits(d time.Duration) time.Duration {
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.1e", float64(d)), 64)
	return time.Duration(rounded)
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
