package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why"
)

// MeasuredLines says what probes have measured of the functions of a finding.
func MeasuredLines(f *why.Finding) []string {
	return lists.Each(f.Measured, func(m why.Measured) string { return measuredText(f, &m) })
}

func measuredText(f *why.Finding, m *why.Measured) string {
	if m.Refused != "" {
		return m.Function + " was not probed: " + m.Refused
	}
	text := m.Function
	switch m.Role {
	case why.HolderRole:
		text += ", which holds the lock,"
	case why.CallerRole:
		text += ", which calls " + f.Where.Function + ","
	}
	if m.Calls == 0 {
		return text + " was not called while it was probed: the calls that took the time began before"
	}
	text += " is called "
	if m.AtLeast {
		text += "at least "
	}
	text += rateText(m.PerSecond) + " times a second"
	switch {
	case m.Timed > 0:
		text += fmt.Sprintf(", %s each (p50 %s, p99 %s, max %s)", brief(m.Mean), brief(m.P50),
			brief(m.P99), brief(m.Max))
	case m.AtMost:
		text += fmt.Sprintf(", at most %s each, by the samples", brief(m.Mean+m.Margin))
	case m.Mean > 0:
		text += fmt.Sprintf(", %s ± %s each, by the samples", brief(m.Mean), brief(m.Margin))
	}
	if m.Pattern != "" {
		text += ": " + string(m.Pattern)
	}
	if len(m.Sites) > 0 {
		of := "the calls"
		if m.Timed > 0 {
			of = "its time"
		}
		text += "; of " + of + ", " + sharesText(m.Sites[:min(len(m.Sites), maxCauses)], " from ")
	}
	return text
}

// rateText formats a rate with three digits, and never with an exponent.
func rateText(rate float64) string {
	if rate < 1000 {
		return fmt.Sprintf("%.3g", rate)
	}
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	return fmt.Sprintf("%.0f", math.Round(rate/unit)*unit)
}

// WriteLog writes the log of experiments: each hypothesis with
// the course of its verdict, and each probe.
func (y *Why) WriteLog(w io.Writer, r *sampledata.Recording) {
	var b strings.Builder
	b.WriteString("Hypotheses, with their verdicts as evidence grew\n")
	for i := range y.Hypotheses {
		h := &y.Hypotheses[i]
		about := strings.Join(slices.DeleteFunc([]string{string(h.Kind), h.Class, h.Where},
			func(s string) bool { return s == "" }), ", ")
		line := termtext.Sprintf("%s %s of %s: %s", h.Verdict.String(), aboutShare(h.Share),
			Counted(h.Share.Samples, "sample"), about)
		if course := courseText(h.Course); course != "" {
			line += "; " + course
		}
		if h.Note != "" {
			line += "; no finding: " + h.Note
		}
		termtext.Fprintf(&b, "%s\n",
			termtext.Text(wrapped(y.readable(termtext.Printable(line)), 6, whyWidth)))
	}
	if len(r.Probes) > 0 {
		b.WriteString("\nProbes\n")
	}
	for i := range r.Probes {
		termtext.Fprintf(&b, "%s\n",
			termtext.Text(wrapped(y.readable(termtext.Printable(probeLog(&r.Probes[i]))), 6,
				whyWidth)))
	}
	io.WriteString(w, b.String())
}

// courseText says when a verdict changed: "MAYBE at 0.4 s, YES
// from 1.2 s".
func courseText(steps []why.Step) string {
	return strings.Join(lists.Each(steps, func(s why.Step) string {
		return fmt.Sprintf("%s from %.1f s", s.Verdict, s.At.Seconds())
	}), ", ")
}

// probeLog describes what one probe was for, and what came of it.
func probeLog(p *sampledata.Probe) string {
	text := p.Function
	if p.Why != "" {
		text += ", " + p.Why
	}
	if p.Instrument == sampledata.NoInstrument {
		return text + ": not probed: " + p.Note
	}
	text += fmt.Sprintf(": %s calls by %s from %s to %s, at a cost of %s", probeCalls(p),
		p.Instrument, span(p.From), span(p.To), brief(p.Cost.Round(time.Microsecond)))
	if p.Note != "" {
		text += "; " + p.Note
	}
	return text
}
