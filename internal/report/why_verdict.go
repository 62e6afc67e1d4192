package report

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
)

// minDelayed is the mean number of threads that wait for a CPU
// by the kernel's clock, from which that is said.
const minDelayed = 0.5

// maxIdle is the share of the processors, by the kernel's clock,
// up to which a program is called idle.
const maxIdle = 0.03

// Verdict returns what an answer says before its findings, or without
// any; it may be "".
func (y *Why) Verdict() string {
	return strings.Join(slices.DeleteFunc([]string{y.state(), y.workText(), y.heapText()},
		func(text string) bool { return text == "" }), " ")
}

// workText says what most of the work is of a program that is mostly
// idle; "" if that is not known.
func (y *Why) workText() string {
	w := y.Work
	if w == nil {
		return ""
	}
	return termtext.Sprintf("%s (%s) is at work for %s of its life; for %s of that time it %s in %s.",
		w.Class, counted(w.Alive), sharePercent(w.Active), sharePercent(w.Share), w.Activity.Words(), w.Function)
}

// state says what state the program is in, if that is more than findings.
func (y *Why) state() string {
	delayed := y.delayed()
	switch y.State {
	case why.Slow:
		return y.heldUp()
	case why.Idle, why.Waiting, why.Balanced:
		if y.State != why.Waiting && slices.ContainsFunc(y.Findings, (*why.Finding).LacksCPU) {
			return "But for the machine's CPUs, nothing was seen to be slow. " + y.usedText() + "."
		}
		if delayed != "" {
			return delayed + " Nothing else was seen to be slow. " + y.usedText() + "."
		}
	}
	return strings.TrimSpace(y.verdict() + " " + delayed)
}

// heapText says how the heap grows; "" if it is not known to.
func (y *Why) heapText() string {
	g := y.HeapGrows
	if g == nil {
		return ""
	}
	return termtext.Sprintf("Its heap grows: after collections, it had %s at first, and %s at last. What it keeps may become more and more: a heap profile shows it.",
		InUnit(g.From, "bytes"), InUnit(g.To, "bytes"))
}

// manyHeldUp is how many goroutines that are held up are worth telling
// before what is slow.
const manyHeldUp = 3

// heldUp says that goroutines may be stuck, if they are many; else "".
func (y *Why) heldUp() string {
	held := y.HeldUp()
	if lists.Sum(held, func(s why.Still) int { return s.Count }) < manyHeldUp {
		return ""
	}
	return "Goroutines may be stuck, or wait for longer than it was recorded: " + stillText(held) + "."
}

// delayed is delayedText as a sentence.
func (y *Why) delayed() string {
	if text := delayedText(y.Delayed, y.NoCPU); text != "" {
		return "B" + text[1:] + "."
	}
	return ""
}

// otherClock says that the kernel's clock contradicts the shares of the
// processors that findings have; "" if it does not.
func (y *Why) otherClock() string {
	if !y.ClockDiffers || y.Clock <= 0 || !slices.ContainsFunc(y.Findings, (*why.Finding).IsCode) {
		return ""
	}
	off := "too low"
	if y.Used.Share > y.Clock {
		off = "too high"
	}
	return termtext.Sprintf("Samples show that it uses %s of the processors, and the kernel's clock %s: shares of the processors may be %s.",
		exactShare(y.Used.Share), exactShare(y.Clock), off)
}

// usedText says how much of the processors the program uses.
func (y *Why) usedText() string {
	share, clock := aboutShare(y.Used), ""
	if y.Clock > 0 { // samples miss what is over before they are taken
		share, clock = exactShare(y.Clock), " by the kernel's clock"
	}
	return "It uses " + share + " of " + processorsText(y.Processors) + clock
}

// delayedText says how many threads wait for a CPU by the kernel's
// clock, if samples show only a part of that.
func delayedText(kernel, samples float64) string {
	if kernel < max(minDelayed, 1.3*samples, samples+minDelayed/2) {
		return ""
	}
	return termtext.Sprintf("by the kernel's clock, %.2g of its threads wait for a CPU on average; samples show only a part of that", kernel)
}

// fewerText says the same if samples show more.
func fewerText(kernel, samples float64) string {
	if kernel <= 0 || samples < max(1.3*kernel, kernel+minDelayed/2) {
		return ""
	}
	return termtext.Sprintf("by the kernel's clock, only %.2g of its threads wait for a CPU on average: samples may show too many", kernel)
}

// sleepsLong reports whether several goroutines sleep in one place.
func sleepsLong(s why.Still) bool {
	return s.Count >= manyHeldUp && views.WaitingFor(s.Reason) == views.Sleeping
}

func (y *Why) verdict() string {
	used := y.usedText()
	if y.State == why.TooLittle && y.Samples == 0 { // of a profile, for example
		return "There are no samples over time, and without them nothing can be called slow."
	}
	switch y.State {
	case why.TooLittle:
		return termtext.Sprintf("Too few samples to say anything: only %d. %s.",
			y.Samples, y.takeMore())
	case why.Unmoved:
		text := "Nothing was seen to be slow; "
		if y.NotMoved[0].Process { // perhaps it looks after that
			text = "Nothing was seen to be slow, but it may wait for a process; "
		} else if slices.ContainsFunc(y.NotMoved, why.Still.HeldUp) {
			text = "Nothing was seen to be slow, but goroutines may be stuck, or wait for longer than it was recorded; "
		} else if slices.ContainsFunc(y.NotMoved, sleepsLong) {
			text = "Nothing was seen to be slow, but goroutines sleep for longer than it was recorded; "
		}
		return text + stillText(y.NotMoved) + ". " + y.unmarked() + used + "."
	case why.Waiting:
		if y.ForProcess != nil {
			break
		}
		return "Nothing was seen to be slow, but goroutines wait, and it is not known whether they wait for work. " + used + "."
	case why.Idle:
		switch {
		case slices.ContainsFunc(y.Resting, why.Resting.GoesOn):
			return "Nothing was seen to be slow. " + used + "; its goroutines wait for work, or are in requests that go on."
		case slices.ContainsFunc(y.Resting, why.Resting.Sleeps): // perhaps others wait for that
			return "Nothing was seen to be slow. " + used + "; its goroutines wait for work, or sleep."
		case y.Clock > maxIdle:
			return "Nothing was seen to be slow. " + used + "; its goroutines mostly wait for work."
		}
		return "Nothing was seen to be slow: the program is idle. " + used +
			"; its goroutines wait for work."
	case why.Unchanged:
		return "Nothing is slower than in the earlier recording, as far as these samples show. " +
			used + "."
	case why.Balanced:
		return "Nothing stands out: the program works, and is balanced. " + used +
			", and no lock, wait or piece of code costs much."
	}
	if p := y.ForProcess; p != nil {
		return termtext.Sprintf("For %s of the time, it waits until a process ends, in %s; nothing else was seen to be slow. %s.", sharePercent(p.Share), p.Name, used)
	}
	if s := y.Few; s != nil {
		return termtext.Sprintf("Nothing is certain yet: the %d slowest calls of %s took %s, half of all at most %s; that is too few to say why. %s. %s.",
			s.Calls, s.Function, leastText(s), brief(s.Usual), used, y.takeMore())
	}
	return termtext.Sprintf("Nothing is certain yet: %s are not enough evidence. %s. %s.", Counted(y.Samples, "sample"), used, y.takeMore())
}

// takeMore says how to get more samples.
func (y *Why) takeMore() string {
	if y.Exited {
		return "The program ended: give it more to do, or take more samples with 'cpprof record --rate 1000 --max-cpu 0 --max-overhead 0'"
	}
	if slices.ContainsFunc(y.Flags, func(flag string) bool { return strings.HasPrefix(flag, "--span") }) {
		return "Give a longer --span, or none"
	}
	return "Record for longer"
}
