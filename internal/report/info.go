package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// Headline writes one line that says what was recorded and what
// that cost the target, then the warnings, and a blank line.
func Headline(w io.Writer, path string, r *sampledata.Recording) {
	if r.Picked == nil && r.Restricted == nil {
		headline(w, path, r, wholeText(r))
	}
	PartHeadline(w, path, r)
}

// headline writes what a recording is, and its warnings.
func headline(w io.Writer, path string, r *sampledata.Recording, what string) {
	termtext.Fprintf(w, "%s: %s\n%s\n", filepath.Base(path), what,
		termtext.Text(Warnings(r.Warnings)))
}

// wholeText says what a recording is, all of whose samples count.
func wholeText(r *sampledata.Recording) string {
	if r.Profile != nil {
		return r.Profile.Title + " of " + quantityText(r.Profile.Main())
	}
	s := r.Stats()
	switch r.Header.Sampler.Backend {
	case sampledata.FromTrace:
		return fmt.Sprintf("an execution trace of %s, with %s of goroutines", span(s.Duration),
			Counted(r.Runs.Len(), "state"))
	case sampledata.FromDump:
		return Counted(s.Samples, "dump") + " of " + Counted(r.Goroutines.Len(), "goroutine")
	}
	return fmt.Sprintf("%s of %s in %s (%.1f a second); it was halted %s of the time",
		Counted(s.Samples, "sample"), Program(r), span(s.Duration), s.RateHz,
		Percent(s.HaltedShare))
}

// PartHeadline is Headline for a recording if only some of its
// samples, or the time inside some calls, count; it writes
// nothing for others.
func PartHeadline(w io.Writer, path string, r *sampledata.Recording) {
	of := " of " + Program(r) + " in " + span(r.Stats().Duration)
	switch {
	case r.Restricted != nil:
		headline(w, path, r, Counted(r.Samples.Len(), "sample")+of+"; only the time in "+
			restrictedText(r.Restricted)+" counts")
	case r.Picked != nil:
		headline(w, path, r, pickedText(r)+of+": those with "+r.Picked.List)
	}
}

// Program returns the name of the target.
func Program(r *sampledata.Recording) string {
	if len(r.Header.Command) > 0 {
		return filepath.Base(r.Header.Command[0])
	}
	return filepath.Base(r.Header.Executable)
}

// span formats a duration with a few digits.
func span(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

var endTexts = map[sampledata.EndCause]string{
	sampledata.EndUnknown:     "ended",
	sampledata.EndDuration:    "after the given duration",
	sampledata.EndInterrupted: "interrupted",
	sampledata.EndExited:      "the target exited",
	sampledata.EndKilled:      "the target was killed",
	sampledata.EndExec:        "the target became another program",
	sampledata.EndFailed:      "the sampler failed",
}

// ending returns a text that says how a recording ended.
func ending(r *sampledata.Recording) string {
	if r.End == nil {
		return "it is incomplete: it is still being recorded, the sampler was killed, or the files are damaged"
	}
	if r.End.Cause == sampledata.EndUnknown && r.End.Detail != "" {
		return r.End.Detail
	}
	text := endTexts[r.End.Cause]
	if r.End.Cause == sampledata.EndExited { // no detail says more
		return text + fmt.Sprintf(" with status %d", r.End.ExitStatus)
	}
	if r.End.Detail != "" {
		text += ": " + r.End.Detail
	}
	return text
}

// Info writes what was recorded, how, and what it cost the target.
func Info(w io.Writer, path string, r *sampledata.Recording) error {
	if r.Profile != nil {
		return profileInfo(w, path, r)
	}
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		return err
	}
	var b infoText
	switch r.Header.Sampler.Backend {
	case sampledata.FromTrace:
		b.traced(path, r)
	case sampledata.FromDump:
		b.dumped(path, r)
	default:
		b.recorded(path, r)
	}
	if r.Samples.Len() > 0 {
		b.line("locks", "%s", LockWaits(a))
	}
	if wasNotHalted(r) {
		return b.write(w, Warnings(r.Warnings))
	}
	title := "series"
	for _, text := range seriesLines(path, r) {
		b.line(title, "%s", text)
		title = ""
	}
	return b.write(w, Deadlocks(path, a)+Warnings(r.Warnings))
}

// wasNotHalted reports whether a recording is an execution trace
// or a dump, for which nothing was halted.
func wasNotHalted(r *sampledata.Recording) bool {
	backend := r.Header.Sampler.Backend
	return backend == sampledata.FromTrace || backend == sampledata.FromDump
}

// mostCommand is how much of a command line is shown, in columns.
const mostCommand = 500

// recorded writes how samples were taken, and what they cost.
func (b *infoText) recorded(path string, r *sampledata.Recording) {
	h, s, line := r.Header, r.Stats(), b.line
	line("recording", "%s", termtext.Printable(path))
	line("target", "%s", termtext.Cut(termtext.Printable(strings.Join(h.Command, " ")), mostCommand))
	line("", "pid %d, %s, %s/%s, GOMAXPROCS %d", h.PID, termtext.Printable(h.GoVersion),
		termtext.Printable(h.OS), termtext.Printable(h.Arch), h.GOMAXPROCS)
	if h.Container != "" {
		line("", "in the container %s", termtext.Printable(h.Container))
	}
	line("recorded", "%s from %s by the %s backend", span(s.Duration),
		h.Start.Format(time.DateTime), termtext.Printable(h.Sampler.Backend))
	if h.Sampler.Wakes != "" {
		line("", "it woke for each halt with %s", termtext.Printable(h.Sampler.Wakes))
	}
	line("ended", "%s", termtext.Printable(ending(r)))
	line("samples", "%d, %.1f a second (the limit was %g); %s missed", s.Samples, s.RateHz,
		h.Sampler.RateHz, Counted(s.MissedTicks, "tick"))
	if s.Samples == 0 {
		return
	}
	line("goroutines", "%.1f a sample on average, at most %d; at most %s", s.Goroutines.Mean,
		s.Goroutines.Max, Counted(s.ThreadsMax, "thread"))
	if u, known := utilisation(r); known {
		line("CPUs", "%s", cpusUsed(u))
		if u.Differs() {
			line("", "the samples and the kernel's clock differ by more than chance: goroutines that hand over work within microseconds are seen ready too often")
		}
	}
	line("halts", "%s", sampleHalts(s.Halt))
	if m := r.Marking; m != nil && m.Halted > 0 {
		line("", "to find what is stuck for good: longest %s", span(m.MaxHalt))
	}
	line("cost", "the target was halted %s of the time (%s in all); the sampler used %s of a core",
		Percent(s.HaltedShare), span(s.Halt.Total), Percent(s.SamplerCPUShare))
	line("stacks", "%s torn; %s reused without reading, %s of these wrong", Percent(s.TornShare),
		Percent(s.ReusedShare), Percent(s.ReusedWrongShare))
}

// sampleHalts says how long samples halted the target.
func sampleHalts(h sampledata.HaltStats) string {
	if h.Max == 0 {
		return "no sample needed one"
	}
	return fmt.Sprintf("median %s, 90 %% within %s, 99 %% within %s, longest %s",
		span(h.Median), span(h.P90), span(h.P99), span(h.Max))
}

// An infoText is a list of lines with names.
type infoText struct{ strings.Builder }

func (b *infoText) line(name, format string, args ...any) {
	termtext.Fprintf(b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
}

// write writes the lines, then the warnings.
func (b *infoText) write(w io.Writer, warnings string) error {
	if warnings == "" {
		b.line("warnings", "none")
	}
	_, err := io.WriteString(w, b.String()+warnings)
	return err
}

// utilisation returns how many CPUs the target used, and false
// if the recording does not say it.
func utilisation(r *sampledata.Recording) (metrics.Utilisation, bool) {
	if r.Picked != nil {
		return metrics.Utilisation{}, false // the clock counts what was left out, too
	}
	return metrics.New(r, metrics.Options{}).Utilisation()
}

// cpusUsed formats it, such as "0.86 ± 0.05 used by goroutines,
// 0.09 kept by the runtime, which may sleep there; 0.93 by the
// kernel's clock".
func cpusUsed(u metrics.Utilisation) string {
	text := fmt.Sprintf("%.2f ± %.2f used by goroutines (%s of the processors), %.2f kept by the runtime, which may sleep there; %.2f by the kernel's clock",
		u.Goroutines, u.Margin, exactShare(u.Share), u.Runtime, u.Clock)
	if u.NoCPU > 0 || u.Delayed >= 0.005 {
		text += fmt.Sprintf("; %.2f ready without a CPU (%s of the processors)", u.NoCPU,
			exactShare(u.NoCPUShare))
		if u.Delayed > 0 {
			text += fmt.Sprintf(", %.2f by the kernel's clock", u.Delayed)
		}
	}
	return text
}

// infoJSON is the output of InfoJSON.
type infoJSON struct {
	sampledata.Header
	Backend string    `json:"backend"`
	AskedHz float64   `json:"asked_rate_hz"`
	Wakes   string    `json:"wakes"`
	Ended   string    `json:"ended"`
	Locks   locksInfo `json:"locks"`
	sampledata.Stats
	CPUs   *metrics.Utilisation `json:"cpus,omitempty"`
	Series []seriesJSON         `json:"series"`
	Basis
}

// locksInfo summarises the waits for locks.
type locksInfo struct {
	Contended int          `json:"contended"`
	Waits     evidenceJSON `json:"waits"`
	Deadlocks int          `json:"deadlocks"`
}

// InfoJSON writes the same as JSON: times in nanoseconds, shares of 1.
func InfoJSON(w io.Writer, r *sampledata.Recording) error {
	if r.Profile != nil {
		return writeJSON(w, profileInfoOf(r))
	}
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		return err
	}
	h, waits := r.Header, locksInfo{len(a.Locks), evidenceOf(&a.Evidence), len(a.Deadlocks)}
	if wasNotHalted(r) {
		return seenInfoJSON(w, r, waits)
	}
	info := infoJSON{
		Header: h, Backend: h.Sampler.Backend, AskedHz: h.Sampler.RateHz, Wakes: h.Sampler.Wakes,
		Ended: ending(r), Stats: r.Stats(), Basis: BasisOf(r), Locks: waits, Series: seriesOf(r),
	}
	if u, known := utilisation(r); known {
		info.CPUs = &u
	}
	return writeJSON(w, info)
}
