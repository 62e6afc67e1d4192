package interchange

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/google/pprof/profile"
)

// WritePprof writes a tree as a pprof profile: a sample for each stack that has hits, and a sample type for each metric. The
// first metric is the one that pprof shows. WritePprof fails if hits are too large for the format.
func WritePprof(w io.Writer, t *calltree.Tree) error {
	e := encoder{tree: t, profile: &profile.Profile{}, places: map[calltree.Func]*profile.Location{}}
	if err := e.metrics(); err != nil {
		return fmt.Errorf("writing a pprof profile: %w", err)
	}
	if err := e.samples(); err != nil {
		return fmt.Errorf("writing a pprof profile: %w", err)
	}
	if err := e.profile.Write(w); err != nil {
		return fmt.Errorf("writing a pprof profile: %w", err)
	}
	return nil
}

type encoder struct {
	tree    *calltree.Tree
	profile *profile.Profile
	places  map[calltree.Func]*profile.Location
	exactly exactly
	columns []column // by sample type
}

// A column has the values of a sample type: whole numbers of a metric, or the rest of each, in parts.
type column struct {
	metric *calltree.Metric
	parts  *big.Int // of a whole number
	rest   bool
}

// metrics adds the metrics, each with its hits if they are counted separately.
func (e *encoder) metrics() error {
	e.exactly.Root = e.tree.Root()
	for _, m := range e.tree.Metrics() {
		k, err := e.add(m)
		if err != nil {
			return err
		}
		if m.Hits() == m {
			continue
		}
		hits, err := e.add(m.Hits())
		if err != nil {
			return err
		}
		e.exactly.Metrics[hits].Part = true
		e.exactly.Metrics[k].Hits, e.exactly.Metrics[k].Squares = hits, m.Squares()
	}
	e.profile.DefaultSampleType = e.tree.Main().Name
	text, err := json.Marshal(e.exactly)
	e.profile.Comments = []string{exactlyPrefix + string(text)}
	return err
}

// add adds a metric, and returns the number of its sample type. If its weights are not whole numbers, another sample type
// has the rest of each: so other tools show weights that are right but for that rest.
func (e *encoder) add(m *calltree.Metric) (number int, err error) {
	parts := big.NewInt(1)
	for n := range int32(e.tree.Len()) {
		if !m.Integral() {
			parts = commonMultiple(parts, m.Own(n).Denom())
		}
	}
	if !parts.IsInt64() {
		return 0, fmt.Errorf("the weights of %s are multiples of 1/%s: too fine for the format's 64 bits", m.Name, parts)
	}
	number = len(e.columns)
	x := exactMetric{Parts: parts.Int64(), Whole: m.Denominator.RatString()}
	if x.Parts > 1 {
		x.Rest = number + 1
	}
	e.column(column{m, parts, false}, m.Name, m.Unit, x)
	if x.Parts > 1 {
		e.column(column{m, parts, true}, m.Name+"_rest", fmt.Sprintf("1/%s %s", parts, m.Unit), exactMetric{Parts: 1, Part: true})
	}
	return number, nil
}

func (e *encoder) column(c column, name, unit string, x exactMetric) {
	e.columns = append(e.columns, c)
	e.exactly.Metrics = append(e.exactly.Metrics, x)
	e.profile.SampleType = append(e.profile.SampleType, &profile.ValueType{Type: name, Unit: unit})
}

func commonMultiple(a, b *big.Int) *big.Int {
	if b.IsInt64() && b.Int64() == 1 {
		return a
	}
	gcd := new(big.Int).GCD(nil, nil, a, b)
	return gcd.Mul(a, new(big.Int).Quo(b, gcd))
}

func (e *encoder) samples() error {
	for n := range int32(e.tree.Len()) {
		values, any, err := e.values(n)
		if err != nil {
			return err
		}
		if !any {
			continue
		}
		var stack []*profile.Location
		for m := n; m >= 0; m = e.tree.Parents()[m] {
			if m > 0 || e.tree.Root() != calltree.RootName {
				stack = append(stack, e.place(e.tree.Funcs()[m]))
			}
		}
		e.profile.Sample = append(e.profile.Sample, &profile.Sample{Location: stack, Value: values})
	}
	return nil
}

// values returns a stack's own weights, and reports whether it has any.
func (e *encoder) values(n int32) (values []int64, any bool, err error) {
	for _, c := range e.columns {
		own := c.metric.Own(n)
		own.Mul(own, new(big.Rat).SetInt(c.parts))
		whole, rest := new(big.Int).DivMod(own.Num(), c.parts, new(big.Int))
		value := whole
		if c.rest {
			value = rest
		}
		if !value.IsInt64() {
			return nil, false, fmt.Errorf("%s %s of %q do not fit the format's 64 bits", value, c.metric.Name, strings.Join(e.tree.Frames(n), " "))
		}
		values = append(values, value.Int64())
		any = any || own.Sign() != 0
	}
	return values, any, nil
}

// place returns the location of a frame.
func (e *encoder) place(f calltree.Func) *profile.Location {
	if l, ok := e.places[f]; ok {
		return l
	}
	id := uint64(len(e.places)) + 1
	name := e.tree.Symbols().Name(f)
	function := &profile.Function{ID: id, Name: name, SystemName: name}
	l := &profile.Location{ID: id, Line: []profile.Line{{Function: function}}}
	e.places[f] = l
	e.profile.Function = append(e.profile.Function, function)
	e.profile.Location = append(e.profile.Location, l)
	return l
}
