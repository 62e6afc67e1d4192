package report

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"github.com/cpprof/cpprof/views/calltree"
)

// XOptions say what the reports of the arcflow paper (xtree,
// xprof, xarc) show.
type XOptions struct {
	// Metrics has indexes of the tree's metrics. Empty means all
	// except the number of calls.
	Metrics []int

	// MinCum leaves out rows that have less cum, as a fraction
	// of the denominator, in every metric shown. nil is 0.
	MinCum *big.Rat

	// Keep reports whether to keep the function of a name. xtree
	// leaves out stacks without such a function; xprof and xarc
	// leave out the rows and stanzas of other functions. nil
	// keeps all.
	Keep func(name string) bool

	// Depth leaves out functions that occur only deeper below
	// the root. 0 keeps all.
	Depth int

	// Width, if it isn't 0, is the screen's: import paths are
	// shortened so that lines fit.
	Width int
}

// An Amount is an exact weight, or number of hits, of one metric.
type Amount struct {
	of   *xmetric
	low  int64
	more []int64 // further digits; see calltree.Plane
}

// An XWeight has a row's values of one metric: its own
// consumption, and its consumption with all it called.
type XWeight struct {
	Base, Cum Amount
}

// An XRow is a function, or a call of one by another. Its costs
// count each stack once, however deep it recurs.
type XRow struct {
	Name string
	// occurrences: calls if they were counted, else the hits of
	// the stacks that end here
	Calls   Amount
	Weights []XWeight // by metric shown
}

// Exact returns the amount as a number.
func (a Amount) Exact() *big.Rat {
	if a.more == nil {
		return a.of.Weight(a.low)
	}
	return a.of.Weight(append([]int64{a.low}, a.more...)...)
}

// Cost returns the amount as a fraction of the metric's denominator.
func (a Amount) Cost() *big.Rat { return a.of.Cost(a.Exact()) }

// Percent formats the cost in percent, with two decimals.
func (a Amount) Percent() string { return string(a.appendPercent(nil)) }

func (a Amount) appendPercent(to []byte) []byte {
	if hundredths, ok := a.of.hundredths(a); ok {
		return appendHundredths(to, hundredths)
	}
	return append(to, new(big.Rat).Mul(a.Cost(), big.NewRat(100, 1)).FloatString(2)...)
}

// String formats the hits: whole numbers as they are, others
// with two decimals.
func (a Amount) String() string { return string(a.appendHits(nil)) }

func (a Amount) appendHits(to []byte) []byte {
	if a.more == nil && a.of.integral {
		return strconv.AppendInt(to, a.low, 10)
	}
	return append(to, exactOrRounded(a.Exact(), 2)...)
}

func exactOrRounded(r *big.Rat, places int) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.FloatString(places)
}

// Cmp compares two amounts of one metric.
func (a Amount) Cmp(b Amount) int {
	if a.more == nil && b.more == nil {
		return cmp.Compare(a.low, b.low)
	}
	return a.Exact().Cmp(b.Exact())
}

// MarshalJSON writes the row with hits and percentages as numbers.
func (r XRow) MarshalJSON() ([]byte, error) {
	type weight struct {
		Metric      string      `json:"metric"`
		Unit        string      `json:"unit"`
		Base        json.Number `json:"base"`
		Cum         json.Number `json:"cum"`
		BasePercent json.Number `json:"base_percent"`
		CumPercent  json.Number `json:"cum_percent"`
	}
	row := struct {
		Name    string      `json:"name"`
		Calls   json.Number `json:"calls"`
		Weights []weight    `json:"weights"`
	}{r.Name, r.Calls.number(), make([]weight, len(r.Weights))}
	for i, w := range r.Weights {
		m := w.Base.of
		row.Weights[i] = weight{m.Name, m.Unit, w.Base.number(), w.Cum.number(),
			json.Number(w.Base.Percent()), json.Number(w.Cum.Percent())}
	}
	return marshal(row)
}

func (a Amount) number() json.Number { return json.Number(exactOrRounded(a.Exact(), 6)) }

// An xmetric is a metric with two factors for fast percentages.
// If they are not 0, the metric has one plane, and sum * times /
// over is the percentage of a sum in hundredths of a percent.
type xmetric struct {
	*calltree.Metric
	integral    bool
	times, over uint64
}

func newXMetric(m *calltree.Metric) *xmetric {
	x := &xmetric{Metric: m, integral: m.Integral()}
	if len(m.Planes()) != 1 || m.Denominator.Sign() == 0 {
		return x
	}
	factor := new(big.Rat).Mul(m.Cost(m.Weight(1)), big.NewRat(100*100, 1))
	if factor.Num().IsUint64() && factor.Denom().IsUint64() {
		x.times, x.over = factor.Num().Uint64(), factor.Denom().Uint64()
	}
	return x
}

// hundredths returns the amount in hundredths of a percent, and
// reports whether machine words are large enough for that.
func (m *xmetric) hundredths(a Amount) (int64, bool) {
	if m.times == 0 || a.more != nil {
		return 0, false
	}
	sum := uint64(a.low)
	if a.low < 0 {
		sum = -sum
	}
	high, low := bits.Mul64(sum, m.times)
	if high >= m.over {
		return 0, false
	}
	whole, rest := bits.Div64(high, low, m.over)
	if rest >= m.over-m.over/2 {
		whole++
	}
	if whole > math.MaxInt64 {
		return 0, false
	}
	if a.low < 0 {
		return -int64(whole), true
	}
	return int64(whole), true
}

// appendHundredths appends v / 100, with two decimals.
func appendHundredths(to []byte, v int64) []byte {
	if v < 0 {
		to, v = append(to, '-'), -v
	}
	to = append(strconv.AppendInt(to, v/100, 10), '.')
	return append(to, byte('0'+v/10%10), byte('0'+v%10))
}

// xsums has the base and cum of numbered rows, by plane and row.
type xsums struct {
	of        *xmetric
	base, cum [][]int64
}

func (s *xsums) weight(row int32) XWeight {
	return XWeight{amount(s.of, s.base, row), amount(s.of, s.cum, row)}
}

func amount(of *xmetric, planes [][]int64, row int32) Amount {
	a := Amount{of: of, low: planes[0][row]}
	for _, p := range planes[1:] {
		a.more = append(a.more, p[row])
	}
	return a
}

// xvalues has the numbers of all rows of a report.
type xvalues struct {
	calls   *xsums // only base is used
	weights []*xsums
	title   string // the title of the column of occurrences
}

// nodeValues returns the values of the tree itself: one row for each node.
func nodeValues(t *calltree.Tree, o XOptions) *xvalues {
	v := &xvalues{}
	metrics := t.Metrics()
	occurrences := metrics[0].Hits()
	v.title = "Hits"
	for _, m := range metrics {
		if m.Name == calltree.CallsName {
			occurrences, v.title = m, "Calls"
			break
		}
		if hits := m.Hits(); hits.Unit == "samples" && v.title == "Hits" {
			occurrences, v.title = hits, "Samples"
		}
	}
	v.calls = nodeSums(t, occurrences)
	shown := o.Metrics
	if len(shown) == 0 {
		for i, m := range metrics {
			if m.Name != calltree.CallsName || len(metrics) == 1 {
				shown = append(shown, i)
			}
		}
	}
	for _, i := range shown {
		v.weights = append(v.weights, nodeSums(t, metrics[i]))
	}
	return v
}

// nodeSums returns the values of a metric. The base of a
// function has its typed time, which has none of its own.
func nodeSums(t *calltree.Tree, m *calltree.Metric) *xsums {
	s := &xsums{of: newXMetric(m)}
	for _, p := range m.Planes() {
		s.base = append(s.base, t.Fold(p.Own))
		s.cum = append(s.cum, p.Cum)
	}
	return s
}

// byRow sums the values of nodes by row. Nodes with a negative
// row are left out. A node inside another node of the same row
// adds only to the base, since the cum of the other node already
// has its stacks.
func (v *xvalues) byRow(t *calltree.Tree, row []int32, rows int) *xvalues {
	out := &xvalues{title: v.title}
	outer := outermost(t, row, rows)
	sum := func(planes [][]int64, outerOnly bool) [][]int64 {
		sums := make([][]int64, len(planes))
		for i, p := range planes {
			sums[i] = make([]int64, rows)
			for n, r := range row {
				if r >= 0 && (!outerOnly || outer[n]) {
					sums[i][r] += p[n]
				}
			}
		}
		return sums
	}
	out.calls = &xsums{of: v.calls.of, base: sum(v.calls.base, false)}
	for _, w := range v.weights {
		out.weights = append(out.weights, &xsums{w.of, sum(w.base, false), sum(w.cum, true)})
	}
	return out
}

// outermost reports for each node whether it is not inside
// another node of the same row.
func outermost(t *calltree.Tree, row []int32, rows int) []bool {
	outer := make([]bool, len(row))
	until := make([]int32, rows)
	for n, end := range t.Ends() {
		if r := row[n]; r >= 0 && int32(n) >= until[r] {
			outer[n] = true
			until[r] = end
		}
	}
	return outer
}

func (v *xvalues) row(name string, row int32) XRow {
	var r XRow
	v.fill(&r, name, row, make([]XWeight, len(v.weights)))
	return r
}

// fill sets a row. It uses the caller's slice for the weights.
func (v *xvalues) fill(r *XRow, name string, row int32, weights []XWeight) {
	r.Name, r.Calls, r.Weights = name, amount(v.calls.of, v.calls.base, row), weights
	for i, w := range v.weights {
		weights[i] = w.weight(row)
	}
}

// compare compares the cums of two rows, then their bases.
func (s *xsums) compare(a, b int32) int {
	x, y := s.weight(a), s.weight(b)
	if c := x.Cum.Cmp(y.Cum); c != 0 {
		return c
	}
	return x.Base.Cmp(y.Base)
}

// reaches reports whether a row has the least cum in one of its metrics.
func (o XOptions) reaches(r XRow) bool {
	if o.MinCum == nil || o.MinCum.Sign() <= 0 {
		return true
	}
	return slices.ContainsFunc(r.Weights,
		func(w XWeight) bool { return w.Cum.Cost().Cmp(o.MinCum) >= 0 })
}

func (o XOptions) keeps(name string) bool { return o.Keep == nil || o.Keep(name) }
