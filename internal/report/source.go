package report

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// LineTotals are the weight and the hits of every line of every
// function of a view.
type LineTotals map[string]map[int]calltree.Total

// CountLines refines the root of a view by line once, and each
// class below it: the entry "..f:42" has the hits of a line.
func CountLines(byLine *calltree.Tree) LineTotals {
	counted := make(LineTotals)
	root := callpath.Root(byLine)
	counted.below(byLine, root)
	for _, r := range refine.Down(byLine, nil, root, callpath.Immediate) {
		if calltree.KindOf(r.Name) == calltree.Class {
			counted.below(byLine, r.Path)
		}
	}
	return counted
}

// below adds the hits of the lines that are called below a path.
func (l LineTotals) below(byLine *calltree.Tree, p callpath.Path) {
	for _, r := range refine.Down(byLine, nil, p, callpath.Extended) {
		i := strings.LastIndexByte(r.Name, ':')
		if i < 0 {
			continue
		}
		line, err := strconv.Atoi(r.Name[i+1:])
		if err != nil {
			continue
		}
		f := r.Name[:i]
		lines := lists.Made(l, f, func() map[int]calltree.Total { return map[int]calltree.Total{} })
		if before, ok := lines[line]; ok {
			r.Total = r.Total.Plus(before)
		}
		lines[line] = r.Total
	}
}

// A Source has the lines of a function that have hits, and the
// lines around them.
type Source struct {
	Function string       `json:"function"`
	Place    string       `json:"place,omitempty"`   // FILE:LINE of the declaration
	Missing  string       `json:"missing,omitempty"` // why there is no text
	File     string       `json:"file,omitempty"`    // on this machine, if there is a text
	Lines    []SourceLine `json:"lines"`

	declared int // the line
}

// A SourceLine is one line of a Source.
type SourceLine struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Hits   string `json:"hits,omitempty"` // "" if it has none
	Heat   int    `json:"heat"`           // see HeatLevel; the warmest line has 0
	// Hottest is set if no line of the function has more weight.
	Hottest bool `json:"hottest,omitempty"`
	Skipped bool `json:"skipped,omitempty"` // lines are left out before it
}

// SourceOf returns the source of a function, with the hits of its lines.
func SourceOf(r *sampledata.Recording, function string, counted map[int]calltree.Total) Source {
	f := functionNamed(r, function)
	s := Source{Function: function, declared: int(f.Line)}
	if f.File != "" {
		s.Place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	text, err := sourceText(f.File)
	if err != nil {
		s.Missing = err.Error()
	} else {
		s.File = f.File
	}
	hot := hottest(counted)
	before := 0
	for _, n := range linesToShow(counted, int(f.Line), len(text)) {
		l := SourceLine{Number: n, Heat: HeatLevels - 1, Skipped: before > 0 && n > before+1}
		before = n
		if c, ok := counted[n]; ok {
			l.Hits = Hits(c.Hits)
			l.Heat = HeatLevel(new(big.Rat).Quo(c.Weight, hot))
			l.Hottest = c.Weight.Cmp(hot) == 0
		}
		if n <= len(text) {
			l.Text = strings.ReplaceAll(text[n-1], "\t", "    ")
		}
		s.Lines = append(s.Lines, l)
	}
	return s
}

// Line returns the number of the hottest line or, without hits,
// of the first.
func (s *Source) Line() int {
	for _, l := range s.Lines {
		if l.Hottest {
			return l.Number
		}
	}
	return max(1, s.declared)
}

// hottest returns the weight of the line with most weight, or 1
// if that is more.
func hottest(counted map[int]calltree.Total) *big.Rat {
	most := big.NewRat(1, 1)
	for _, t := range counted {
		if t.Weight.Cmp(most) > 0 {
			most = t.Weight
		}
	}
	return most
}

// AroundLine is the number of lines that are shown before and
// behind a line with hits.
const AroundLine = 3

// linesToShow returns the numbers of a function's declaration,
// and of the lines with hits and those around them. If the
// source is missing, it returns only the lines with hits.
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
		for line := max(n-AroundLine, declared, 1); line <= min(n+AroundLine, length); line++ {
			numbers = append(numbers, line)
		}
	}
	if len(numbers) > 0 && 0 < declared && declared <= length {
		numbers = append(numbers, declared)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// functionNamed returns the function of a recording with a name,
// or the zero Function.
func functionNamed(r *sampledata.Recording, name string) sampledata.Function {
	for _, f := range r.Functions {
		if f.Name == name {
			return f
		}
	}
	return sampledata.Function{}
}

// maxSource is the size of the largest file that is shown as source.
const maxSource = 4 << 20

// errNoSource says that a recording was made elsewhere, or of
// files that are gone.
var errNoSource = errors.New("the source is not on this machine")

// sourceText reads a source file of this machine. The name comes
// from the recording and is not trusted: it must be the name of
// a regular file of source code.
func sourceText(name string) ([]string, error) {
	if name == "" {
		return nil, errors.New("the recording has no file name for it")
	}
	if !slices.Contains([]string{".go", ".s", ".c", ".cc", ".h"}, filepath.Ext(name)) ||
		!filepath.IsAbs(name) {
		return nil, errNoSource
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode()&fs.ModeType != 0 || info.Size() > maxSource {
		return nil, errNoSource
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxSource)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}
