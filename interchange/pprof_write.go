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
	parts   []*big.Int
}

// metrics adds the metrics, each with the fraction of a hit that is the unit of its values.
func (e *encoder) metrics() error {
	x := exactly{Root: e.tree.Root()}
	for _, m := range e.tree.Metrics() {
		parts := big.NewInt(1)
		for n := range int32(e.tree.Len()) {
			if !m.Integral() {
				parts = commonMultiple(parts, m.Own(n).Denom())
			}
		}
		if !parts.IsInt64() {
			return fmt.Errorf("the hits of %s are multiples of 1/%s: too fine for the format's 64 bits", m.Name, parts)
		}
		e.parts = append(e.parts, parts)
		x.Metrics = append(x.Metrics, exactMetric{parts.Int64(), m.Denominator.RatString()})
		e.profile.SampleType = append(e.profile.SampleType, &profile.ValueType{Type: m.Name, Unit: m.Unit})
	}
	e.profile.DefaultSampleType = e.tree.Main().Name
	text, err := json.Marshal(x)
	e.profile.Comments = []string{exactlyPrefix + string(text)}
	return err
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

// values returns a stack's own hits, and reports whether it has any.
func (e *encoder) values(n int32) (values []int64, any bool, err error) {
	for i, m := range e.tree.Metrics() {
		hits := m.Own(n)
		hits.Mul(hits, new(big.Rat).SetInt(e.parts[i]))
		if !hits.Num().IsInt64() {
			return nil, false, fmt.Errorf("%s %s of %q do not fit the format's 64 bits",
				hits.Num(), m.Name, strings.Join(e.tree.Frames(n), " "))
		}
		values = append(values, hits.Num().Int64())
		any = any || hits.Sign() != 0
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
