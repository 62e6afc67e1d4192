package interchange

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// Profile returns a call tree as the recording of a profile: a
// row for each stack that has a weight, and a quantity for each
// metric. Weights are exact, unless their common denominator
// does not fit 64 bits. Then they are rounded, and the quantity
// says so. It fails if weights are too large for 64 bits.
func Profile(t *calltree.Tree) (*sampledata.Recording, error) {
	return DetailedProfile(t, Details{
		Call: func(f calltree.Func) Call { return Call{Function: sampledata.Function{Name: t.Symbols().Name(f)}} },
	})
}

// Details say of a tree what the names of its frames don't.
type Details struct {
	Call func(calltree.Func) Call
	// of the stack that ends at a node; nil: stacks have no labels
	Labels func(node int32) []sampledata.Label
}

// A Call is what a frame stands for.
type Call struct {
	Function sampledata.Function
	Line     int32 // 0 if not known
	Inlined  bool
}

// DetailedProfile is Profile for a tree with known details.
func DetailedProfile(t *calltree.Tree, d Details) (*sampledata.Recording, error) {
	m := profileMaker{weighing: newWeighing(nil), tree: t, details: d,
		placed: make([]int32, t.Symbols().Len())}
	m.rec.Profile.FromView = true
	if root := t.Root(); root != calltree.RootName {
		m.rec.Profile.Root = root
	}
	for _, metric := range t.Metrics() {
		m.metric(metric)
	}
	if err := m.rows(); err != nil {
		return nil, err
	}
	return m.recording(t.Main().Name, "")
}

type profileMaker struct {
	*weighing
	tree    *calltree.Tree
	details Details
	placed  []int32  // by frame: 1 + its place; 0 if it is not known yet
	columns []column // by quantity
}

// A column has the values of a quantity: whole numbers of a
// metric, or the rest of each, in parts.
type column struct {
	metric *calltree.Metric
	parts  *big.Int // of a whole number
	rest   bool
}

// metric adds a metric, and its hits if they are counted separately.
func (m *profileMaker) metric(metric *calltree.Metric) {
	k := m.quantity(metric)
	if metric.Hits() == metric {
		return
	}
	hits := m.quantity(metric.Hits())
	q := m.rec.Profile.Quantities
	q[hits].Part, q[k].Hits = true, hits
}

// quantity adds a metric, and returns the number of its
// quantity. If its weights are not whole numbers, another
// quantity has the rest of each: so other tools show weights
// that are right but for that rest.
func (m *profileMaker) quantity(metric *calltree.Metric) int {
	parts := big.NewInt(1)
	for n := range int32(m.tree.Len()) {
		if !metric.Integral() {
			parts = exact.Multiple(parts, metric.Own(n).Denom())
		}
	}
	round := !parts.IsInt64()
	if round {
		parts = big.NewInt(roundedParts)
	}
	p := m.rec.Profile
	number := len(p.Quantities)
	q := sampledata.Quantity{Name: metric.Name, Unit: metric.Unit, Parts: parts.Int64(),
		Whole: metric.Denominator, Rounded: round}
	m.columns = append(m.columns, column{metric, parts, false})
	if q.Parts == 1 {
		p.Quantities = append(p.Quantities, q)
		return number
	}
	q.Rest = number + 1
	m.columns = append(m.columns, column{metric, parts, true})
	p.Quantities = append(p.Quantities, q, sampledata.Quantity{Name: metric.Name + "_rest",
		Unit: fmt.Sprintf("1/%s %s", parts, metric.Unit), Parts: 1, Part: true})
	return number
}

// rows adds the stacks that have a weight.
func (m *profileMaker) rows() error {
	contexts := make([]int32, m.tree.Len())
	for n := range int32(m.tree.Len()) {
		if n > 0 {
			contexts[n] = m.under(contexts[m.tree.Parents()[n]],
				m.placeOf(m.tree.Funcs()[n]))
		}
		values, any, err := m.values(n)
		if err != nil {
			return err
		}
		if any {
			var labels []sampledata.Label
			if m.details.Labels != nil {
				labels = m.details.Labels(n)
			}
			m.add(contexts[n], m.labels.LabelSet(labels), values...)
		}
	}
	return nil
}

// placeOf returns the place that a frame stands for.
func (m *profileMaker) placeOf(f calltree.Func) int32 {
	if m.placed[f] == 0 {
		c := m.details.Call(f)
		m.placed[f] = 1 + m.places.Number(frame{m.function(c.Function), c.Line, c.Inlined})
	}
	return m.placed[f] - 1
}

// roundedParts are the parts of a whole number to which weights
// are rounded.
const roundedParts = 1 << 20

// values returns a stack's own weights, and reports whether it has any.
func (m *profileMaker) values(n int32) (values []int64, any bool, err error) {
	for _, c := range m.columns {
		own := c.metric.Own(n)
		own.Mul(own, new(big.Rat).SetInt(c.parts))
		whole, rest := new(big.Int).DivMod(exact.Nearest(own), c.parts, new(big.Int))
		value := whole
		if c.rest {
			value = rest
		}
		if !value.IsInt64() {
			return nil, false, fmt.Errorf("%s %s of %q do not fit 64 bits", value,
				c.metric.Name, strings.Join(m.tree.Frames(n), " "))
		}
		values = append(values, value.Int64())
		any = any || own.Sign() != 0
	}
	return values, any, nil
}
