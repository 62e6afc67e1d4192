package report

import (
	"io"
	"math/big"

	"github.com/cpprof/cpprof/callpath"
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

// Write writes a line for each path: its cost, its exact hits, and the path.
func (c *Costs) Write(w io.Writer) {
	termtext.Fprintf(w, "%s; %s\n\n", termtext.Printable(c.Title), unit(c.Metric))
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
	list := make([]costJSON, len(c.rows))
	for i, r := range c.rows {
		list[i] = costJSON{
			r.path.String(), float(c.Metric.Cost(r.Weight)), r.Weight, c.Metric.Denominator,
			c.Metric.Unit, r.Hits,
		}
	}
	return writeJSON(w, costsJSON{list, c.Basis})
}
