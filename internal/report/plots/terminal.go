package plots

import (
	"cmp"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
)

const (
	stripRows   = 4 // height of a strip on a terminal
	scatterRows = 20
	usualWidth  = 100 // if there is no terminal
	beside      = 34  // columns for the statistics
	minColumns  = 20
)

// eighths are bars of growing height.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// PrintStrips draws strips of blocks below one another, with
// statistics beside them. Width is the terminal's; 0 if there is
// none.
func PrintStrips(w io.Writer, strips []Strip, width int) {
	width = cmp.Or(width, usualWidth)
	columns := max(minColumns, width-beside)
	for i := range strips {
		s := &strips[i]
		low, high, end, ok := s.bounds()
		if !ok {
			termtext.Fprintf(w, "%s: no value is defined\n\n", s.Name)
			continue
		}
		termtext.Fprintf(w, "%s: %s to %s, in %s\n", s.Name, report.InUnit(low, s.Unit),
			report.InUnit(high, s.Unit), report.InUnit(end, "s"))
		for k := range s.Runs {
			r := &s.Runs[k]
			if len(s.Runs) > 1 {
				termtext.Fprintf(w, "%s\n", r.Recording)
			}
			lines := r.bars(columns, low, high, end)
			stats := r.statistics(s.Unit)
			half := (len(stats) + 1) / 2
			for row, line := range lines {
				text := ""
				if row < half {
					text = strings.Join(stats[row*2:min(row*2+2, len(stats))], "  ")
				}
				termtext.Fprintf(w, "%s  %s\n", line, text)
			}
		}
		termtext.Fprintf(w, "\n")
	}
}

// bars draws a run as bars, from the top line to the bottom
// line. Where nothing is defined, there is no bar.
func (r *Run) bars(columns int, low, high, end float64) []string {
	sums, counts := make([]float64, columns), make([]float64, columns)
	for i, x := range r.Values {
		if !metrics.Defined(x) || math.IsInf(x, 0) {
			continue
		}
		c := 0
		if end > 0 {
			c = min(columns-1, int(r.Seconds[i]/end*float64(columns)))
		}
		sums[c] += x
		counts[c]++
	}
	lines := make([]string, stripRows)
	for row := range lines {
		var b strings.Builder
		for c := range columns {
			level := 0
			if counts[c] > 0 {
				level = 1 // so that the least value differs from none
				if high > low {
					level += int((sums[c]/counts[c] - low) / (high - low) * float64(8*stripRows-1))
				}
			}
			b.WriteRune(eighths[max(0, min(8, level-8*(stripRows-1-row)))])
		}
		lines[row] = b.String()
	}
	return lines
}

// PrintScatter draws a scatter plot of dots.
func PrintScatter(w io.Writer, p *Pair, width int) {
	width = cmp.Or(width, usualWidth)
	columns := max(minColumns, min(width-16, 3*scatterRows))
	termtext.Fprintf(w, "%s (up) with %s (right): %s\n\n", p.Y, p.X, p.Title())
	if len(p.At) == 0 {
		termtext.Fprintf(w, "no sample has values of both\n")
		return
	}
	dots := NewDots(p, columns, scatterRows)
	x, y := dots.X, dots.Y
	top, bottom := report.InUnit(y.High, p.UnitY), report.InUnit(y.Low, p.UnitY)
	margin := max(utf8.RuneCountInString(top), utf8.RuneCountInString(bottom))
	for i := range scatterRows {
		label := ""
		switch i {
		case 0:
			label = top
		case scatterRows - 1:
			label = bottom
		}
		termtext.Fprintf(w, "%*s │%s\n", margin, label, dots.Line(i))
	}
	left, right := report.InUnit(x.Low, p.UnitX), report.InUnit(x.High, p.UnitX)
	gap := max(1, columns-utf8.RuneCountInString(left)-utf8.RuneCountInString(right))
	termtext.Fprintf(w, "%*s └%s\n%*s  %s%s%s\n", margin, "",
		strings.Repeat("─", columns), margin, "", left, strings.Repeat(" ", gap), right)
}
