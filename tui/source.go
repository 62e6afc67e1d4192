package tui

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// lineTotals are the weight and the hits of every line of every function of a
// view.
type lineTotals map[string]map[int]calltree.Total

// countLines builds the view by line, and refines its root once: the entry
// "..f:42" has the hits of a line.
func countLines(build func(views.Options) (viewed, error), o views.Options) lineTotals {
	o.Granularity = views.ByLine
	v, err := build(o)
	if err != nil {
		return lineTotals{}
	}
	counted := make(lineTotals)
	for _, r := range refine.Down(v.Tree, nil, callpath.Root(v.Tree), callpath.Extended) {
		i := strings.LastIndexByte(r.Name, ':')
		if i < 0 {
			continue
		}
		line, err := strconv.Atoi(r.Name[i+1:])
		if err != nil {
			continue
		}
		if f := r.Name[:i]; counted[f] == nil {
			counted[f] = make(map[int]calltree.Total)
		}
		counted[r.Name[:i]][line] = r.Total
	}
	return counted
}

// source returns the lines of a function that have hits, and the lines around
// them, with the hits of each line. It counts the hits over the whole view on
// first use. It stores the place of the hottest line in d.hot.
func (d *detail) source(function string, width int) []textLine {
	t := d.w.a.theme
	if d.w.a.options.Granularity != views.ByFunction {
		return nil
	}
	recording, options, view := d.w.a.recording, d.w.a.options, d.w.subject.view
	lines := d.lines.get(d.w.a, func() lineTotals {
		return countLines(func(o views.Options) (viewed, error) { return view(recording, o) },
			options)
	})
	if lines == nil {
		return []textLine{{"Counting hits by line …", t.dim}}
	}
	f := functionNamed(recording, function)
	counted := (*lines)[function]
	title := "Source"
	if f.File != "" {
		title = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	out := []textLine{{"", t.plain}}
	for _, l := range wrap(title+"  (hits by line, in the whole view)", width) {
		out = append(out, textLine{l, t.title})
	}
	text, err := sourceLines(f.File)
	if err != nil {
		for _, l := range wrap(err.Error(), width) {
			out = append(out, textLine{l, t.dim})
		}
	}
	hot := hottest(counted)
	before := 0
	for _, n := range linesToShow(counted, int(f.Line), len(text)) {
		if before > 0 && n > before+1 {
			out = append(out, textLine{fmt.Sprintf("%7s %5s", "", ":"), t.dim})
		}
		before = n
		style, count, code := t.plain, "", ""
		if l, ok := counted[n]; ok {
			count = report.Hits(l.Hits)
			style = t.heat[report.HeatLevel(new(big.Rat).Quo(l.Weight, hot))]
			if len(text) > 0 && l.Weight.Cmp(hot) == 0 {
				d.hot = len(out)
			}
		}
		if n <= len(text) {
			code = strings.ReplaceAll(text[n-1], "\t", "    ")
		}
		out = append(out, textLine{termtext.Cut(
			printable(fmt.Sprintf("%7s %5d  %s", count, n, code)), width), style})
	}
	return out
}

// hottest returns the weight of the line with most weight, or 1 if that is
// more.
func hottest(counted map[int]calltree.Total) *big.Rat {
	most := big.NewRat(1, 1)
	for _, t := range counted {
		if t.Weight.Cmp(most) > 0 {
			most = t.Weight
		}
	}
	return most
}

// aroundLine is the number of lines that are shown before and behind a line
// with hits.
const aroundLine = 3

// linesToShow returns the numbers of a function's declaration, and of the lines
// with hits and those around them. If the source is missing, it returns only
// the lines with hits.
func linesToShow(counted map[int]calltree.Total, declared, length int) []int {
	var numbers []int
	for n := range counted {
		if n <= 0 {
			continue
		}
		if length == 0 {
			numbers = append(numbers, n)
			continue
		}
		for line := max(n-aroundLine, declared, 1); line <= min(n+aroundLine, length); line++ {
			numbers = append(numbers, line)
		}
	}
	if len(numbers) > 0 && 0 < declared && declared <= length {
		numbers = append(numbers, declared)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// functionNamed returns the function of a recording with a name, or the zero
// Function.
func functionNamed(r *sampledata.Recording, name string) sampledata.Function {
	for _, f := range r.Functions {
		if f.Name == name {
			return f
		}
	}
	return sampledata.Function{}
}

// largestSource is the size of the largest file that is shown as source.
const largestSource = 4 << 20

// sourceLines reads a source file of this machine. The name comes from the
// recording and is not trusted: it must be the name of a regular file of source
// code.
func sourceLines(name string) ([]string, error) {
	if name == "" {
		return nil, fmt.Errorf("the recording has no file name for it")
	}
	if !slices.Contains([]string{".go", ".s", ".c", ".cc", ".h"}, filepath.Ext(name)) ||
		!filepath.IsAbs(name) {
		return nil, fmt.Errorf("the source is not on this machine")
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode()&fs.ModeType != 0 || info.Size() > largestSource {
		return nil, fmt.Errorf("the source is not on this machine")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, largestSource)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}
