package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
)

// source returns the source of a function. It counts the hits over the whole
// view on first use. It stores the place of the hottest line in d.hot.
func (d *detail) source(function string, width int) []textLine {
	t := d.w.a.theme
	if d.w.a.options.Granularity != views.ByFunction {
		return nil
	}
	recording, options, view := d.w.a.recording, d.w.a.options, d.w.subject.view
	counted := d.lines.get(d.w.a, func() report.LineTotals {
		options.Granularity = views.ByLine
		v, err := view(recording, options)
		if err != nil {
			return report.LineTotals{}
		}
		return report.CountLines(v.Tree)
	})
	if counted == nil {
		return []textLine{{"Counting hits by line …", t.dim}}
	}
	s := report.SourceOf(recording, function, (*counted)[function])
	title := "Source"
	if s.Place != "" {
		title = s.Place
	}
	out := []textLine{{"", t.plain}}
	for _, l := range wrap(title+"  (hits by line, in the whole view)", width) {
		out = append(out, textLine{l, t.title})
	}
	if s.Missing != "" {
		for _, l := range wrap(s.Missing, width) {
			out = append(out, textLine{l, t.dim})
		}
	}
	for _, l := range s.Lines {
		if l.Skipped {
			out = append(out, textLine{fmt.Sprintf("%7s %5s", "", ":"), t.dim})
		}
		style := t.plain
		if l.Hits != "" {
			style = t.heat[l.Heat]
			if s.Missing == "" && l.Hottest {
				d.hot = len(out)
			}
		}
		out = append(out, textLine{termtext.Cut(
			printable(fmt.Sprintf("%7s %5d  %s", l.Hits, l.Number, l.Text)), width), style})
	}
	return out
}
