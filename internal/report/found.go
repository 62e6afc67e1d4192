package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/big"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
)

// Found is the output of a search: the bottlenecks that it
// found. Percentages have two decimals. The rows are made one by
// one when they are written, since names can be very long.
type Found struct {
	Width int // see Profile
	basis Basis
	found *hotspots.Found
	open  string
}

// foundDocument is the JSON of a search.
type foundDocument struct {
	Comparison      bool        `json:"comparison"`
	CoveragePercent json.Number `json:"coverage_percent"`
	MeanLength      json.Number `json:"mean_length"`
	Bottlenecks     elements    `json:"bottlenecks"` // foundRow
	// the search ended where increases may be chance
	Noise bool `json:"noise,omitempty"`
	Basis
}

// A foundRow is one bottleneck.
type foundRow struct {
	Number            int            `json:"number"` // from 1
	Path              []string       `json:"path"`
	OwnPercent        json.Number    `json:"own_percent"`
	AdditionalPercent json.Number    `json:"additional_percent"`
	CoveragePercent   json.Number    `json:"coverage_percent"`
	IntervalPercent   *[2]roundedTwo `json:"interval_percent,omitempty"`
	Command           string         `json:"command"`
}

// roundedTwo is a percentage that is not exact.
type roundedTwo float64

// MarshalJSON writes two decimals.
func (r roundedTwo) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.2f", float64(r)), nil
}

// NewFound prepares the result of a search for output. open is a
// command line that opens a row if the row's number follows,
// such as "cpprof find run.cpprof --interactive=".
func NewFound(f *hotspots.Found, open string, basis Basis) *Found {
	return &Found{basis: basis, found: f, open: open}
}

// row returns the row of a bottleneck.
func (r *Found) row(i int) foundRow {
	b := r.found.Bottlenecks[i]
	row := foundRow{
		Number:            i + 1,
		Path:              b.Summary.Path(),
		OwnPercent:        inPercent(b.Own),
		AdditionalPercent: inPercent(b.Additional),
		CoveragePercent:   inPercent(b.Coverage),
		Command:           fmt.Sprint(r.open, i+1),
	}
	if v := b.Interval; v != nil {
		row.IntervalPercent = &[2]roundedTwo{roundedTwo(100 * v.Low), roundedTwo(100 * v.High)}
	}
	return row
}

func (r *Found) meanLength() json.Number { return json.Number(r.found.MeanLength.FloatString(1)) }

func (r *Found) document() foundDocument {
	rows := func(yield func(any) bool) {
		for i := 0; i < len(r.found.Bottlenecks) && yield(r.row(i)); i++ {
		}
	}
	return foundDocument{r.found.Comparison, inPercent(r.found.Coverage), r.meanLength(), rows,
		r.found.Noise, r.basis}
}

func inPercent(share *big.Rat) json.Number {
	return json.Number(new(big.Rat).Mul(share, big.NewRat(100, 1)).FloatString(2))
}

// WriteJSON writes the bottlenecks as JSON.
func (r *Found) WriteJSON(w io.Writer) error { return writeJSON(w, r.document()) }

// A FoundByClass is the output of a search in the Thread Views
// of several classes.
type FoundByClass struct {
	Classes []foundInClass `json:"classes"`
	Basis
}

// foundInClass is what was found in one class.
type foundInClass struct {
	Class string `json:"class"`
	foundDocument
}

// Add adds what was found in a class.
func (r *FoundByClass) Add(class string, found *Found) {
	r.Classes = append(r.Classes, foundInClass{class, found.document()})
}

// WriteJSON writes the bottlenecks of each class as JSON.
func (r *FoundByClass) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Write writes a summary of the search, like the paper's tables
// 2 and 6, and below it a block for each bottleneck.
func (r *Found) Write(w io.Writer) {
	b := bufio.NewWriter(w)
	n := len(r.found.Bottlenecks)
	termtext.Fprintf(b, "%11s %9s %11s\n", "Bottlenecks", "Coverage", "Mean length")
	termtext.Fprintf(b, "%11d %9s %11s\n", n, inPercent(r.found.Coverage)+"%", r.meanLength())
	if n > 0 {
		termtext.Fprintf(b, "\n%4s %9s %9s %9s  %s\n", "", "Own", "Adds", "Coverage",
			"95 % interval of Own")
	}
	for i := range n {
		row, interval := r.row(i), "-"
		if v := row.IntervalPercent; v != nil {
			interval = fmt.Sprintf("%.2f%% to %.2f%%", float64(v[0]), float64(v[1]))
		}
		termtext.Fprintf(b, "%4d %9s %9s %9s  %s\n", row.Number, row.OwnPercent+"%",
			row.AdditionalPercent+"%",
			row.CoveragePercent+"%", interval)
		for _, name := range row.Path {
			termtext.Fprintf(b, "%s\n", withName("       ", words.Quote(name), r.Width))
		}
	}
	if n > 0 {
		termtext.Fprintf(b, "\nTo open one, by its number: %s1\n", r.open)
	}
	switch {
	case r.found.Noise:
		termtext.Fprintf(b, "\nThe search ended here: what else costs more may be noise, since its 95 %% interval has 0.\n")
	case r.found.Comparison && n == 0:
		termtext.Fprintf(b, "\nNothing costs more here than there.\n")
	}
	b.Flush()
}
