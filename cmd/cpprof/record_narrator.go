package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/views/locks"
)

// A narrator prints how a recording goes: on a terminal a
// progress line that it updates, and at the end a summary.
type narrator struct {
	statusLine

	deadlocks int    // so far
	calls     string // the function whose calls are timed

	several bool // programs may be recorded

	mu      sync.Mutex    // of what is printed while samples are taken
	keeps   time.Duration // how much is kept; 0: all
	written int           // of that, recordings so far
	times   int           // at most
}

func newNarrator(t terminal) *narrator {
	return &narrator{statusLine: statusLine{out: t.err, live: t.errIsTerminal}}
}

func (n *narrator) begin(p *sampler.Process, file string) {
	if n.live {
		tell(n.out, "recording process %d into %s; Ctrl-C ends the recording", p.PID, file)
	}
}

// progress updates the line a few times per second.
func (n *narrator) progress(p sampler.Progress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := ""
	if n.keeps > 0 {
		kept = fmt.Sprintf("  keeps the last %v; %d of %d written", n.keeps, n.written, n.times)
	}
	n.show("%s  %s%s", p.Elapsed.Round(100*time.Millisecond), achieved(p), kept)
}

// achieved returns the text that a progress line and the summary
// have in common.
func achieved(p sampler.Progress) string {
	s := fmt.Sprintf("%s (%.1f/s)  %s  %.2f%% halted", report.Counted(p.Samples, "sample"),
		p.Rate(), report.Counted(p.Goroutines, "goroutine"),
		100*p.HaltedShare())
	if p.Lost > 0 {
		s += "  " + report.Counted(p.Lost, "sample") + " lost"
	}
	return s
}

// described is the number of deadlocks that are described as
// they occur: a program with a bug may have thousands.
const described = 5

// deadlock prints a warning of goroutines that will never continue.
func (n *narrator) deadlock(p *sampler.Process, d locks.Deadlock) {
	n.deadlocks++
	if n.deadlocks > described+1 {
		return
	}
	n.clear()
	if n.deadlocks > described {
		tell(n.out, "there are more deadlocks; cpprof locks --top 0 shows them all")
		return
	}
	termtext.Fprintf(n.out, "cpprof: DEADLOCK in %s (process %d):\n%s", p.Name, p.PID,
		termtext.Text(report.Deadlock(&d)))
}

// beside prints that another process samples the target, too.
func (n *narrator) beside(p *sampler.Process, other sampler.Peer) {
	n.clear()
	tell(n.out, "process %d is also sampled by %s; the samples of both cost it time", p.PID, other)
}

// end prints what was recorded, what became of the target, and
// what to do next.
func (n *narrator) end(p *sampler.Process, file string, r sampler.Result) {
	tell(n.out, "recorded %s in %s: %s", achieved(r.Progress),
		r.Elapsed.Round(time.Millisecond), becameOf(p, r.End))
	if r.Samples == 0 {
		tell(n.out, "%s has no samples: record for longer, or at a higher --rate", file)
		return
	}
	n.suggestLonger(r)
	n.suggestBound(r)
	next := "cpprof why " + words.Shell(file)
	if n.calls != "" {
		next = "cpprof calls " + words.Shell(file) + " " + words.Shell(n.calls)
	}
	tell(n.out, "next: %s", next)
}

// suggestLonger prints that a recording was too short if the
// stacks of many goroutines are not known.
func (n *narrator) suggestLonger(r sampler.Result) {
	if r.Unread > 0 && 10*r.Unread >= r.Goroutines {
		tell(n.out, "the machine is so busy that the stacks of %d of %s were not read in that time: record for longer (-d %v)",
			r.Unread, report.Counted(r.Goroutines, "goroutine"), enough(r))
	}
}

// enough returns a time in which all stacks are probably read,
// and some more samples taken.
func enough(r sampler.Result) time.Duration {
	read := max(1-float64(r.Unread)/float64(r.Goroutines), 0.1)
	return time.Duration(2 * float64(r.Elapsed) / read).Round(time.Second)
}

// suggestBound prints which bound to raise if a bound made the
// samples few.
func (n *narrator) suggestBound(r sampler.Result) {
	if r.Bound.Flag == "" || r.Rate() >= sampler.Floor {
		return
	}
	what := "of processor time"
	if r.Bound.Flag == "--max-overhead" {
		what = "of halting the program"
	}
	if r.Bound.Used > 0 {
		tell(n.out, "each sample cost %v %s: %.0f%% of a core in all, since fewer samples say nothing; '%s %.3g%%' takes no more than that",
			r.Bound.Cost.Round(10*time.Microsecond), what, 100*r.Bound.Used, r.Bound.Flag, 100*r.Bound.Share)
		return
	}
	tell(n.out, "the samples are few: each cost %v %s, and %s allows %.3g%%; %s",
		r.Bound.Cost.Round(10*time.Microsecond), what, r.Bound.Flag, 100*r.Bound.Share,
		remedy(r.Bound))
}

// remedy returns a text that says which value of a bound's flag
// allows as many samples as a recording should have.
func remedy(b sampler.Bound) string {
	enough := math.Ceil(100 * sampler.Floor * b.Cost.Seconds())
	if b.Flag == "--max-cpu" && enough >= 100 {
		return fmt.Sprintf("%s 0 takes as many as it can", b.Flag)
	}
	if enough > 100*b.Share && enough < 100 {
		return fmt.Sprintf("%s %.0f%% allows %d per second", b.Flag, enough, sampler.Floor)
	}
	return "a larger " + b.Flag + " allows more"
}

// becameOf returns a text that says why a recording ended, and
// whether the target is still running.
func becameOf(p *sampler.Process, end sampledata.End) string {
	switch end.Cause {
	case sampledata.EndExited, sampledata.EndKilled, sampledata.EndExec, sampledata.EndFailed:
		return end.Detail
	}
	switch {
	case p.HasEnded():
		return "interrupted; " + p.End().Detail
	case p.Elsewhere:
		return "the program continues"
	}
	return fmt.Sprintf("process %d continues", p.PID)
}
