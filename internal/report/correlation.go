package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/termtext"
)

// A Correlated is the correlation of two metrics.
type Correlated struct {
	X, Y   *metrics.Metric
	Over   string // what it is computed over: "116 samples"
	Points string // what the numbers of leverage points count: "sample"
	metrics.Correlation
	Basis
}

// correlationJSON is a correlation for JSON. What is undefined is null.
type correlationJSON struct {
	X string `json:"x"`
	Y string `json:"y"`
	metrics.Correlation
}

// Coefficient formats a correlation coefficient.
func Coefficient(x float64) string {
	if !metrics.Defined(x) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

// probability formats how likely something is by chance.
func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// Write writes the correlation, and its caveats.
func (c *Correlated) Write(w io.Writer) {
	termtext.Fprintf(w, "%s with %s, over %s\n\n", c.X.Expr, c.Y.Expr, c.Over)
	t := table{}
	t.add("n", strconv.Itoa(c.N), "in which both are defined")
	t.add("r", Coefficient(c.Pearson), "Pearson")
	t.add("rho", Coefficient(c.Spearman), "Spearman: r of the ranks")
	if metrics.Defined(c.Differences) {
		t.add("r of differences", Coefficient(c.Differences), "from each "+c.Points+" to the next")
	}
	if len(c.Leverage) > 0 {
		t.add("r without leverage", Coefficient(c.Without),
			fmt.Sprintf("without %d that lie far out", len(c.Leverage)))
	}
	t.add("by chance", probability(c.P),
		fmt.Sprintf("of what amounts to %.0f independent %ss", c.Effective, c.Points))
	t.write(w)
	if caveats := c.Caveats(c.X, c.Y, c.Points); len(caveats) > 0 {
		termtext.Fprintf(w, "\n%s\n", termtext.Text(strings.Join(caveats, "\n")))
	}
}

// WriteJSON writes the correlation as JSON.
func (c *Correlated) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Over string `json:"over"`
		correlationJSON
		Caveats []string `json:"caveats"`
		Basis
	}{c.Over, correlationJSON{c.X.Expr, c.Y.Expr, c.Correlation},
		c.Caveats(c.X, c.Y, c.Points), c.Basis})
}

// A Matrix has the correlations of several metrics with one another.
type Matrix struct {
	Metrics []*metrics.Metric
	Over    string
	Of      [][]metrics.Correlation
	Basis
}

// NewMatrix correlates all pairs of metrics.
func NewMatrix(selected []*metrics.Metric,
	correlate func(x, y *metrics.Metric) metrics.Correlation) *Matrix {
	row := func(x *metrics.Metric) []metrics.Correlation {
		return lists.Each(selected, func(y *metrics.Metric) metrics.Correlation { return correlate(x, y) })
	}
	return &Matrix{Metrics: selected, Of: lists.Each(selected, row)}
}

// Write writes r of each pair above the diagonal, and rho below it.
func (m *Matrix) Write(w io.Writer) {
	termtext.Fprintf(w, "r (above the diagonal) and rho (below), over %s\n\n", m.Over)
	t := table{}
	head := []string{""}
	for i := range m.Metrics {
		head = append(head, strconv.Itoa(i+1))
	}
	t.add(append(head, "")...)
	for i, x := range m.Metrics {
		row := []string{fmt.Sprintf("%d  %s", i+1, termtext.Printable(x.Expr))}
		for k := range m.Metrics {
			switch c := &m.Of[i][k]; {
			case i == k:
				row = append(row, strconv.Itoa(c.N))
			case i < k:
				row = append(row, Coefficient(c.Pearson))
			default:
				row = append(row, Coefficient(c.Spearman))
			}
		}
		t.add(append(row, "")...)
	}
	t.write(w)
	termtext.Fprintf(w,
		"\nOn the diagonal: the number of values. 'cpprof monitors correlate RECORDING X Y' shows the caveats of a pair.\n")
}

// WriteJSON writes all pairs as JSON.
func (m *Matrix) WriteJSON(w io.Writer) error {
	pairs := []correlationJSON{}
	for i, x := range m.Metrics {
		for k, y := range m.Metrics {
			if i < k {
				pairs = append(pairs, correlationJSON{x.Expr, y.Expr, m.Of[i][k]})
			}
		}
	}
	return writeJSON(w, struct {
		Over         string            `json:"over"`
		Correlations []correlationJSON `json:"correlations"`
		Basis
	}{m.Over, pairs, m.Basis})
}

// A Ranking is what goes with a metric.
type Ranking struct {
	*metrics.Ranking
	Over string
	Basis
}

// Write writes a line for each candidate.
func (r *Ranking) Write(w io.Writer) {
	termtext.Fprintf(w, "What goes with %s, over %s: %d tried, %d of them call paths\n\n",
		r.Metric, r.Over, r.Tried, r.Paths)
	t := table{}
	t.add("r", "rho", "differences", "leverage", "n", "lag", "by chance", "", "")
	for i := range r.List {
		c := &r.List[i]
		mark, lag, leverage := "", "", ""
		if !c.Survives {
			mark = fmt.Sprintf("not sure after %d tries", r.Tried)
		}
		if c.Lag != 0 {
			lag = strconv.Itoa(c.Lag)
		}
		if len(c.Leverage) > 0 {
			leverage = Coefficient(c.Without)
		}
		t.add(Coefficient(c.Pearson), Coefficient(c.Spearman), Coefficient(c.Differences), leverage,
			strconv.Itoa(c.N), lag, probability(c.P),
			mark, termtext.Printable(c.Expr))
	}
	t.right = true
	t.write(w)
	termtext.Fprintf(w, `
r and rho are those of all samples; differences is r of the steps from sample to sample; leverage is r without the samples that
lie far out; with a lag of k samples, r is clearly better: the metric follows after k > 0 samples. Of those that are not marked,
at most 5 %% are expected to be there by chance. None of this says what is a cause: 'cpprof monitors correlate' has the caveats of a pair.
`)
}

// WriteJSON writes the ranking as JSON.
func (r *Ranking) WriteJSON(w io.Writer) error {
	type candidate struct {
		What     string `json:"what"`
		Survives bool   `json:"survives"`
		correlationJSON
	}
	list := lists.Each(r.List, func(c metrics.Candidate) candidate {
		return candidate{c.What, c.Survives, correlationJSON{c.Expr, r.Metric, c.Correlation}}
	})
	return writeJSON(w, struct {
		Metric string      `json:"metric"`
		Over   string      `json:"over"`
		Tried  int         `json:"tried"`
		Paths  int         `json:"call_paths"`
		List   []candidate `json:"candidates"`
		Basis
	}{r.Metric, r.Over, r.Tried, r.Paths, list, r.Basis})
}
