package report

import (
	"fmt"
	"io"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
)

// Probes are what instruments in the running program have measured, beside
// the samples of the same time.
type Probes struct {
	Recording *sampledata.Recording
	Top       int // how many call sites of a function the text shows; 0 for all
	Width     int // to which the table shortens names; 0: it does not
}

// Write writes a table of the probed functions, and below it
// what is known of each.
func (p *Probes) Write(w io.Writer) {
	if len(p.Recording.Probes) == 0 {
		termtext.Fprintln(w,
			"no function was probed: 'cpprof probe -p PROCESS FUNCTION' does that")
		return
	}
	p.table(w)
	for i := range p.Recording.Probes {
		termtext.Fprintln(w, "")
		termtext.Fprintln(w, p.Recording.Probes[i].Function)
		for _, line := range ProbeLines(p.Recording, &p.Recording.Probes[i], p.Top) {
			termtext.Fprintln(w, "  "+line)
		}
	}
}

// WriteLive writes the table, and below it what is to be said of
// functions meanwhile, in lines that are not wider than Width.
func (p *Probes) WriteLive(w io.Writer) {
	p.table(w)
	for i := range p.Recording.Probes {
		b := &p.Recording.Probes[i]
		if b.Note == "" {
			continue
		}
		name := termtext.Shorten(termtext.Printable(b.Function), p.Width)
		termtext.Fprintf(w, "\n%s\n  %s\n", name,
			termtext.Text(wrapped(termtext.Printable(b.Note), 2, p.Width)))
	}
}

// table writes a line for each function.
func (p *Probes) table(w io.Writer) {
	t := table{right: true, width: p.Width}
	t.add("calls", "per s", "mean", "p50", "p90", "p99", "max", "function")
	for i := range p.Recording.Probes {
		b := &p.Recording.Probes[i]
		row := []string{probeCalls(b), probeRate(b)}
		d := &b.Elapsed
		switch {
		case d.Count() > 0:
			row = append(row, brief(time.Duration(d.Mean())), brief(time.Duration(d.Quantile(0.5))),
				brief(time.Duration(d.Quantile(0.9))),
				brief(time.Duration(d.Quantile(0.99))), brief(time.Duration(d.Max)))
		default:
			mean := "-"
			if s := why.SamplesOf(p.Recording, b); s.Mean > 0 {
				mean = "~" + brief(s.Mean)
			}
			row = append(row, mean, "-", "-", "-", "-")
		}
		t.add(append(row, b.Function)...)
	}
	t.write(w)
}

// brief returns a duration with three digits.
func brief(d time.Duration) string {
	switch { // 999.5 would be rounded to 1e+03
	case d < time.Microsecond:
		return d.String()
	case d < 999_500*time.Nanosecond:
		return fmt.Sprintf("%.3gµs", d.Seconds()*1e6)
	case d < 999_500*time.Microsecond:
		return fmt.Sprintf("%.3gms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.4gs", d.Round(time.Millisecond).Seconds())
}

func probeCalls(p *sampledata.Probe) string {
	switch {
	case p.Instrument == sampledata.NoInstrument:
		return "-"
	case p.TakenOut:
		return fmt.Sprintf(">= %d", p.Calls)
	}
	return fmt.Sprint(p.Calls)
}

func probeRate(p *sampledata.Probe) string {
	d := p.To - p.From
	if d <= 0 {
		return "-"
	}
	rate := float64(p.Calls) / d.Seconds()
	if rate >= 1000 { // %g would write an exponent
		return fmt.Sprintf("%.0f", rate)
	}
	return fmt.Sprintf("%.4g", rate)
}

// ProbeLines returns what was measured of one function, as lines
// of text; top limits the call sites, unless it is 0.
func ProbeLines(r *sampledata.Recording, p *sampledata.Probe, top int) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if p.Instrument == sampledata.NoInstrument {
		add("not probed: %s", p.Note)
		return lines
	}
	add("%s calls, %s per second, from %s to %s (%s)", probeCalls(p), probeRate(p), span(p.From),
		span(p.To), p.Instrument)
	if p.Why != "" {
		add("why: %s", p.Why)
	}
	if p.Note != "" {
		add("%s", p.Note)
	}
	s := why.SamplesOf(r, p)
	if d := &p.Elapsed; d.Count() > 0 {
		add("elapsed: mean %s, %s, of %d calls", brief(time.Duration(d.Mean())),
			quantiles(d, brief), d.Count())
	} else if s.Mean > 0 {
		add("elapsed: mean %s ± %s, as %.3g goroutines are in it on average (Little's law)",
			brief(s.Mean), brief(s.MeanMargin), s.Inside)
	} else if s.Recursive {
		add("elapsed: not known, since the function calls itself: the samples don't tell one call from the next")
	}
	if s.Inside > 0 {
		add("time in it, by %d samples: %.0f %% running, %.0f %% ready, %.0f %% waiting for locks, %.0f %% for other things",
			s.Samples, 100*s.Running, 100*s.Ready, 100*s.Locked, 100*s.Waiting)
	}
	if p.Unfinished > 0 {
		add("%d calls ended without a return, by a panic or runtime.Goexit", p.Unfinished)
	}
	if p.Lost > 0 {
		add("%d hits came too fast to be recorded: the times and call sites lack them, the number of calls does not", p.Lost)
	}
	add("cost: about %s of the program's time", brief(p.Cost))
	for i := range p.Arguments {
		lines = append(lines, argumentLine(&p.Arguments[i]))
	}
	short := views.ShortFiles(r)
	for i := range p.Sites {
		if top > 0 && i == top {
			add("and %s", Counted(len(p.Sites)-top, "further call site"))
			break
		}
		lines = append(lines, siteLine(&p.Sites[i], short))
	}
	return lines
}

func quantiles(d *sampledata.Distribution, text func(time.Duration) string) string {
	at := func(q float64) string { return text(time.Duration(d.Quantile(q))) }
	return fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s", at(0.5), at(0.9), at(0.99),
		text(time.Duration(d.Max)))
}

// siteLine says what was measured of the calls from one place.
// short shortens the path of its file.
func siteLine(s *sampledata.CallSite, short func(string) string) string {
	place := "from elsewhere"
	if s.Caller != "" {
		place = fmt.Sprintf("from %s (%s:%d)", s.Caller, short(s.File), s.Line)
	}
	text := fmt.Sprintf("%s: %d calls", place, s.Calls)
	if s.Elapsed.Count() > 0 {
		text += fmt.Sprintf(", mean %s, %s", brief(time.Duration(s.Elapsed.Mean())),
			quantiles(&s.Elapsed, brief))
	}
	return text
}

func argumentLine(a *sampledata.Argument) string {
	d := &a.Values
	if d.Count() == 0 {
		return a.Name + ": no calls"
	}
	if a.Kind == sampledata.PointerArgument {
		return fmt.Sprintf("%s: nil in %d of %d calls", a.Name, d.Count()-uint64(d.Sum), d.Count())
	}
	name := a.Name
	if a.Kind == sampledata.LengthArgument {
		name = "len(" + name + ")"
	}
	number := func(n time.Duration) string { return fmt.Sprint(int64(n)) }
	return fmt.Sprintf("%s: min %d, mean %.4g, %s", name, d.Min, d.Mean(), quantiles(d, number))
}

// probeJSON is what was measured of one function, with what follows of it.
type probeJSON struct {
	*sampledata.Probe
	PerSecond float64    `json:"per_second"`
	Samples   why.Probed `json:"samples"`
}

// WriteJSON writes all that was measured. Times are in nanoseconds.
func (p *Probes) WriteJSON(w io.Writer) error {
	list := lists.Each(p.Recording.Probes, func(b sampledata.Probe) probeJSON {
		one := probeJSON{Probe: &b, Samples: why.SamplesOf(p.Recording, &b)}
		if d := b.To - b.From; d > 0 {
			one.PerSecond = float64(b.Calls) * float64(time.Second) / float64(d)
		}
		return one
	})
	return writeJSON(w, struct {
		Probes []probeJSON `json:"probes"`
		Basis
	}{list, BasisOf(p.Recording)})
}
