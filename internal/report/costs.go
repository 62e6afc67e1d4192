package report

import (
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// Costs are the costs of call paths in one view.
type Costs struct {
	Title  string
	Metric *calltree.Metric
	Basis  Basis // for JSON
	Width  int   // see Profile
	rows   []costRow
}

type costRow struct {
	path callpath.Path
	calltree.Total
}

// Add adds a path and its weight.
func (c *Costs) Add(p callpath.Path, total calltree.Total) {
	c.rows = append(c.rows, costRow{p, total})
}

// Write writes a line for each path: its cost, its exact hits,
// and the path.
func (c *Costs) Write(w io.Writer) {
	termtext.Fprintf(w, "%s; %s\n\n", c.Title, unit(c.Metric))
	t := &table{width: c.Width}
	t.add(" cost", HitsHead(c.Metric), "call path")
	for _, r := range c.rows {
		t.add(Cost(c.Metric.Cost(r.Weight)), r.Hits.RatString(),
			termtext.Printable(r.path.String()))
	}
	t.write(w)
}

type costJSON struct {
	Path        string   `json:"path"`
	Cost        float64  `json:"cost"`
	Weight      *big.Rat `json:"weight"`
	Denominator *big.Rat `json:"denominator"` // the weight that is a cost of 1
	Unit        string   `json:"unit"`        // of weights
	Hits        *big.Rat `json:"hits"`        // samples, or the weight if hits are not counted
}

// costsJSON is the output of Costs.WriteJSON.
type costsJSON struct {
	Costs []costJSON `json:"costs"`
	Basis
}

// WriteJSON writes the same as JSON.
func (c *Costs) WriteJSON(w io.Writer) error {
	list := lists.Each(c.rows, func(r costRow) costJSON {
		return costJSON{r.path.String(), float(c.Metric.Cost(r.Weight)), r.Weight,
			c.Metric.Denominator, c.Metric.Unit, r.Hits}
	})
	return writeJSON(w, costsJSON{list, c.Basis})
}

// Aspects writes each aspect with its functions among the given
// ones, sorted by name. The last line lists the aspects that
// have none of these functions.
func Aspects(w io.Writer, set *aspects.Set, functions []string) {
	functions = slices.Compact(slices.Sorted(slices.Values(functions)))
	var empty []string
	for _, a := range set.All() {
		members := slices.DeleteFunc(slices.Clone(functions),
			func(f string) bool { return !a.Has(f) })
		if len(members) == 0 {
			empty = append(empty, a.Name())
			continue
		}
		termtext.Fprintf(w, "%s  (%s)\n", a.Name(), Counted(len(members), "function"))
		for _, f := range members {
			termtext.Fprintf(w, "  %s\n", f)
		}
	}
	if empty != nil {
		termtext.Fprintf(w, "aspects without functions here: %s\n", strings.Join(empty, " "))
	}
}
