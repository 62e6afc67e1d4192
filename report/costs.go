package report

import (
	"io"
	"math/big"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/termtext"
)

// Costs are the costs of call paths in one view.
type Costs struct {
	Title  string
	Metric *calltree.Metric
	Basis  Basis // for JSON
	rows   []costRow
}

type costRow struct {
	path callpath.Path
	hits *big.Rat
}

// Add adds a path and its hits.
func (c *Costs) Add(p callpath.Path, hits *big.Rat) {
	c.rows = append(c.rows, costRow{p, hits})
}

// Write writes a line for each path: its cost, its exact hits, and the path.
func (c *Costs) Write(w io.Writer) error {
	if _, err := termtext.Fprintf(w, "%s; %s\n\n", termtext.Printable(c.Title), unit(c.Metric.Denominator)); err != nil {
		return err
	}
	t := new(table)
	t.add(" cost", "hits", "call path")
	for _, r := range c.rows {
		t.add(Cost(c.Metric.Cost(r.hits)), r.hits.RatString(), termtext.Printable(r.path.String()))
	}
	return t.write(w)
}

type costJSON struct {
	Path        string   `json:"path"`
	Cost        float64  `json:"cost"`
	Hits        *big.Rat `json:"hits"`
	Denominator *big.Rat `json:"denominator"`
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
		list[i] = costJSON{r.path.String(), float(c.Metric.Cost(r.hits)), r.hits, c.Metric.Denominator}
	}
	return writeJSON(w, costsJSON{list, c.Basis})
}
