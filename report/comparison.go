package report

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
)

// A Comparison is a profile of two views, with what each entry costs in both.
type Comparison struct {
	Session  *refine.Session // over what calltree.Merge gives
	Title    string          // of both views
	A, B     string          // what the views are of
	Warnings []sampledata.Warning
	Color    bool
}

// A comparedEntry is an entry with its costs, as fractions of each view's denominator.
type comparedEntry struct {
	entry    *refine.Entry
	a, b     *big.Rat
	children []*comparedEntry
}

func (e *comparedEntry) difference() *big.Rat { return new(big.Rat).Sub(e.a, e.b) }

// entries gives the entries that are shown, below each those that changed most first, up or down.
func (c *Comparison) entries() *comparedEntry {
	var paths []callpath.Path
	c.Session.Walk(func(e *refine.Entry, _ int) { paths = append(paths, e.Path) })
	var costs [2][]*big.Rat
	for i := range costs {
		t := c.Session.Tree().Only(i + 1)
		for _, hits := range callpath.Costs(t, c.Session.Membership(), paths) {
			costs[i] = append(costs[i], t.Main().Cost(hits))
		}
	}
	var root *comparedEntry
	var above []*comparedEntry // the entry that is open at each depth
	n := 0
	c.Session.Walk(func(e *refine.Entry, depth int) {
		entry := &comparedEntry{entry: e, a: costs[0][n], b: costs[1][n]}
		n++
		if depth == 0 {
			root = entry
		} else {
			above[depth-1].children = append(above[depth-1].children, entry)
		}
		above = append(above[:depth], entry)
	})
	root.sort()
	return root
}

func (e *comparedEntry) sort() {
	slices.SortStableFunc(e.children, func(x, y *comparedEntry) int {
		dx, dy := x.difference(), y.difference()
		return cmp.Or(dy.Abs(dy).Cmp(dx.Abs(dx)), y.a.Cmp(x.a))
	})
	for _, c := range e.children {
		c.sort()
	}
}

// Write writes a line an entry, as Profile.Write does: its cost in both views, and the first less the second.
func (c *Comparison) Write(w io.Writer) error {
	b := new(strings.Builder)
	fmt.Fprintf(b, "%s: A is %s, B is %s\n\n", Printable(c.Title), Printable(c.A), Printable(c.B))
	fmt.Fprintf(b, "%6s  %6s  %6s  %s\n", "A", "B", "A - B", "call path")
	c.write(b, c.entries(), 0)
	hidden := 0
	c.Session.Walk(func(e *refine.Entry, _ int) { hidden += c.Session.Hidden(e) })
	if hidden > 0 {
		fmt.Fprintf(b, "\n%d more below %s in both together (--min-hits 0 shows all)\n", hidden, threshold(c.Session.Threshold()))
	}
	b.WriteString(Warnings(c.Warnings))
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) write(b *strings.Builder, e *comparedEntry, depth int) {
	d := e.difference()
	line := fmt.Sprintf("%6s  %6s  %6s  %s%s", Cost(e.a), Cost(e.b), Signed(d), strings.Repeat("  ", depth), Printable(e.entry.Label()))
	fmt.Fprintln(b, paint(c.Color, d.Abs(d), line))
	for _, child := range e.children {
		c.write(b, child, depth+1)
	}
}

// Signed shows a difference of costs with its sign; what rounds to nothing has none.
func Signed(d *big.Rat) string {
	text := Cost(d)
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case d.Sign() > 0:
		return "+" + text
	}
	return text
}

// comparisonJSON is a comparison as data.
type comparisonJSON struct {
	Title    string               `json:"title"`
	A        string               `json:"a"`
	B        string               `json:"b"`
	Steps    []refine.Step        `json:"steps"`
	MinHits  *big.Rat             `json:"min_hits,omitempty"` // in both together
	MinCost  *big.Rat             `json:"min_cost,omitempty"`
	Profile  comparedJSON         `json:"profile"`
	Warnings []sampledata.Warning `json:"warnings"`
}

type comparedJSON struct {
	Path       string         `json:"path"`
	Label      string         `json:"label"`
	A          float64        `json:"a"`
	B          float64        `json:"b"`
	Difference float64        `json:"difference"`
	Children   []comparedJSON `json:"children,omitempty"`
}

// WriteJSON writes the same entries as JSON.
func (c *Comparison) WriteJSON(w io.Writer) error {
	t := c.Session.Threshold()
	return writeJSON(w, comparisonJSON{
		Title: c.Title, A: c.A, B: c.B,
		Steps: append([]refine.Step{}, c.Session.Steps()...), MinHits: t.Hits, MinCost: t.Cost,
		Profile: c.entries().json(), Warnings: append([]sampledata.Warning{}, c.Warnings...),
	})
}

func (e *comparedEntry) json() comparedJSON {
	j := comparedJSON{Path: e.entry.Key(), Label: e.entry.Label(), A: float(e.a), B: float(e.b), Difference: float(e.difference())}
	for _, c := range e.children {
		j.Children = append(j.Children, c.json())
	}
	return j
}
