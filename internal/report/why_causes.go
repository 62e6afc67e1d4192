package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/views/locks"
	"github.com/cpprof/cpprof/why"
)

// WhyLines says why something is slow, as far as it is known.
func WhyLines(f *why.Finding) (lines []string) {
	lines = causeLines(f)
	says, others := f.Words(), f.Others
	switch {
	case len(f.Parts) > 0 && says.Because != "":
		lines = append(lines, filled(f, says.Because))
	case says.Own != "" && !f.Paced(): // else it is no guess
		lines = append(lines, filled(f, says.Own))
	}
	lines = append(lines, partLines(f)...)
	lines = append(lines, f.Signs...)
	if f.Lasts > 0 {
		ends := "a deadline or a timer"
		if f.Kind == why.IOKind || slices.Contains(f.Signs, why.AwaitsServer) {
			ends += ", here or at the other end,"
		}
		lines = append(lines, "each of these waits takes about "+brief(twoDigits(f.Lasts))+": "+ends+" may end it")
	}
	if f.Garbage != nil {
		lines = append(lines, garbageLines(f.Garbage)...)
	}
	if f.Throttling != nil {
		lines = append(lines, throttlingText(f.Throttling))
	}
	lines = append(lines, crowdLines(f)...)
	if b := f.Bound; b != nil {
		lines = append(lines, fmt.Sprintf("%s probably lets %d go on at a time; %s of the time, others wait for a place in it",
			b.Channel, b.Capacity, sharePercent(b.Share)))
	}
	if f.Growth != nil && f.Kind != why.LeakKind {
		lines = append(lines, "they become more: "+growthText(f.Growth))
	}
	lines = append(lines, unknownText(f)...)
	switch f.Kind {
	case why.StuckKind:
		return append(lines, stuckLines(f)...)
	case why.LockKind:
		if len(f.Chained) > 0 {
			lines = append(lines,
				"through it others wait, too: those for "+strings.Join(f.Chained, ", "))
		}
	case why.ChannelKind:
		if f.Limit != nil {
			lines = append(lines, fullText(f))
		}
	case why.SleepKind:
		if f.Lock != "" {
			lines = append(lines,
				"by its name, "+f.Lock+
					" takes a lock: by tries, with sleeps in between; whoever unlocks it wakes nobody")
		}
	case why.DeadlockKind:
		lines, others = append(lines, circleLine(f)), nil
	}
	for _, of := range []struct {
		do      string
		classes []why.Part
	}{
		{cmp.Or(says.Others, "others do the same:"), others}, {"others wait for these:", f.Behind},
		{"waiting for a processor meanwhile:", f.Ready},
	} {
		if len(of.classes) > 0 {
			lines = append(lines, of.do+" "+
				partsText(of.classes[:min(len(of.classes), maxCauses)], " of its time at work"))
		}
	}
	if len(f.Behind) > 0 && f.Count == 1 && f.Severity-f.Mean >= minQueue {
		lines = append(lines, "it is one goroutine, and does one thing after another")
	}
	return lines
}

// partLines says what a function is a part of, and what it would bring
// if all that went away.
func partLines(f *why.Finding) []string {
	p := f.PartOf
	if p == nil {
		return nil
	}
	text := fmt.Sprintf("it is a part of %s, which has %s of the CPU time of %s", p.Name, sharePercent(p.Share), f.Class)
	if f.Gain != nil && f.Gain.Whole != nil {
		text += "; without that, " + factorText(f.Gain.Whole)
	}
	return []string{text}
}

// circleLine says which locks a deadlock is of.
func circleLine(f *why.Finding) string {
	switch {
	case f.Likely:
		return "a function that has locked " + locks.FieldOf(f.Lock) + " has called one that locks it, too; nobody else may hold it, as far as is known"
	case f.Itself && f.Count == 1:
		return "it locks " + f.Lock + " a second time before it unlocks it"
	case f.Itself:
		return "each locks one " + locks.FieldOf(f.Lock) + " a second time before it unlocks it"
	case f.ReadsAgain:
		return "the lock is " + f.Chained[0] + ": others that read it wait, too"
	}
	return "each holds a lock that the next one waits for: " + strings.Join(f.Chained, ", ")
}

// minQueue is how many goroutines wait for one at least, on average,
// if it is worth telling that it is one.
const minQueue = 2

// maxCauses limits the causes that the text shows.
const maxCauses = 3

// unknownText says for which part of the waiting it is not known
// who ends it, if it is likely for another part, or of a lock.
func unknownText(f *why.Finding) []string {
	who, unknown := "who has what they wait for", f.Unknown
	switch {
	case f.Kind == why.LockKind:
		if who = "who holds it"; len(f.Causes) == 0 && unknown == 0 {
			unknown = 1
		}
	case !slices.ContainsFunc(f.Causes, isLikely):
		return nil // these are guesses
	case f.Kind == why.GroupKind:
		who = "for whom it waits"
	}
	if unknown < 0.2 {
		return nil
	}
	return []string{who + " is not known for " + sharePercent(unknown) + " of that time"}
}

func isLikely(c why.Cause) bool {
	return c.Certainty == why.Known || c.Certainty == why.Likely || c.Certainty == why.Started
}

// manyText formats a large number: "3.2 million".
func manyText(n float64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%.3g million", n/1e6)
	}
	return rateText(n)
}

// fewWaiting goroutines that wait for the collector are not worth a line.
const fewWaiting = 0.2

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
			text += ", when the heap has " + bytesText(g.Live) + " on average"
		}
		lines = append(lines, text)
	}
	if len(g.Sites) > 1 {
		lines = append(lines, "of the time that it takes goroutines: "+sharesText(g.Sites, " in "))
	}
	if g.Waiting >= fewWaiting {
		lines = append(lines, "meanwhile, the collector keeps "+counted(g.Waiting)+" waiting, on average")
	}
	return lines
}

// throttlingText says how often the kernel has stopped a program
// for the rest of a period.
func throttlingText(t *why.Throttling) string {
	text := fmt.Sprintf("it had used up its time in %s of the kernel's periods, and was stopped for the rest of each", sharePercent(t.Periods))
	if t.Limit > 0 {
		text += fmt.Sprintf(": its limit is %.3g CPUs", t.Limit)
	}
	return text
}

// fullText says what is full, so that goroutines wait. In a
// semaphore, places can be free meanwhile.
func fullText(f *why.Finding) string {
	if f.OfSemaphore() {
		return f.Limit.Channel + " has " + Counted(f.Limit.Capacity, "place") +
			": too few are free, or somebody who wants more of them is first in the queue"
	}
	return f.Limit.Channel + " is full: its buffer has " + Counted(f.Limit.Capacity, "element")
}

// crowdLines says who wants the CPUs that threads wait for, and how
// many wait by the kernel's clock, if samples have only a part.
func crowdLines(f *why.Finding) (lines []string) {
	switch {
	case f.Crowd != nil:
		lines = append(lines, crowdText(f.Crowd, f.Kind))
		kernel := f.Crowd.Waiting()
		if text := cmp.Or(delayedText(kernel, f.Mean), fewerText(kernel, f.Mean)); text != "" {
			lines = append(lines, text)
		}
	case f.Kind == why.MachineKind:
		lines = append(lines, "who has the CPUs was not measured: other programs, or more threads of its own than it has CPUs")
	}
	return lines
}

// crowdText says who wants the CPUs that threads wait for.
func crowdText(c *why.Crowd, kind why.Kind) string {
	if kind == why.WakingKind {
		return fmt.Sprintf("by the kernel's clock, %s times a second a thread gets a CPU, on average %s after it was ready; the program and others use %.2g of %s",
			rateText(c.Turns), span(time.Duration(c.Delay)), c.Own+c.Others, Counted(c.CPUs, "CPU"))
	}
	text := "other programs use 1 CPU"
	if n := fmt.Sprintf("%.2g", c.Others); n != "1" {
		text = "other programs use " + n + " CPUs"
	}
	if 0 < c.CPUs {
		text += fmt.Sprintf("; it may run on %d, and GOMAXPROCS is %d", c.CPUs, c.Most)
	}
	return text
}

// causeLines says for whom goroutines wait. What one does in several states is
// one line.
func causeLines(f *why.Finding) (lines []string) {
	last := "" // who was said to do something, and where
	for i := range f.Causes[:min(len(f.Causes), maxCauses)] {
		c := &f.Causes[i]
		who, does := causeText(f, c, "it")
		if who == last && does != "" {
			lines[len(lines)-1] += "; " + does
		} else {
			lines = append(lines, sentence(who, does))
		}
		if last = who; c.Behind != nil {
			lines, last = append(lines, sentence(causeText(f, c.Behind, c.Lock))), ""
		}
	}
	return lines
}

func sentence(who, does string) string {
	if does == "" {
		return who
	}
	return who + ": " + does
}

// causeText says who one cause of a wait is, and what it does, unless that
// is all one. held is the lock that it holds, as the text has it.
func causeText(f *why.Finding, c *why.Cause, held string) (text, does string) {
	doing := "it " + c.Activity.Words()
	if c.AwaitsServer() {
		doing = why.AwaitsServer
	}
	if c.Activity == why.Locked && c.Lock != "" {
		doing += ", " + c.Lock
	}
	at := placeText(&c.Place)
	switch {
	case c.Within < 0.5:
		at = "for example in " + at
	case c.Within < 0.9 || f.Kind == why.ProcessorKind:
		at = "mostly in " + at
	default:
		at = "in " + at
	}
	further := c.Certainty == why.Fellow && f.Kind != why.LockKind
	if c.Taken != "" && c.Taken != f.Where.Function && !further {
		at += " (taken in " + c.Taken + ")"
	}
	who, of := c.Class, " of that time"
	switch {
	case c.Activity == why.Nobody:
		return "nobody holds it: a goroutine was woken to take it, and has not run yet (" +
			sharePercent(c.Share) + of + ")", ""
	case f.Kind == why.ProcessorKind:
		return who + " has the processors (" + sharePercent(c.Share) + of + "), " + at, ""
	case c.Certainty == why.Known:
		who += " holds " + held + ","
	case c.Certainty == why.Likely && f.Kind == why.LockKind:
		who += " probably holds it,"
	case c.Certainty == why.Started || c.Certainty == why.Likely && f.Kind == why.GroupKind:
		who = "it waits for " + who + ","
	case c.Certainty == why.Likely:
		who += " probably has what they wait for,"
	case c.Certainty == why.OtherSide:
		who, of = "at the other end of the channel is "+who+",", " of its life"
	case c.Certainty == why.Sibling:
		who, of = "started with it is "+who+",", ""
	case c.Certainty == why.Child:
		who = "it has started " + who + " there,"
	case c.Certainty == why.Meanwhile:
		who = "it may wait for what it has started: " + who + ","
	case further:
		who, of = "another of the class is further on in "+c.Taken+",", ""
		at = strings.TrimPrefix(at, "in "+c.Taken+", ")
	case f.Kind == why.LockKind:
		who = "perhaps " + who + " holds it,"
	default:
		who = "to judge by its code, " + who + " may end the wait; meanwhile it is"
	}
	return who + " " + at, doing + " (" + sharePercent(c.Share) + of + ")"
}

func placeText(p *why.Place) string {
	if p.Library != "" {
		return p.Function + ", " + p.Library
	}
	return p.Function
}
