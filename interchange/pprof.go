package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
)

// What a profile may have at most.
const (
	maxProfile = 1 << 30 // bytes, uncompressed
	maxDepth   = 1 << 16 // calls in a stack
	maxDigits  = 1 << 10 // of a denominator
)

// An exactly is what pprof's format has no place for: a comment of the profile, so that a tree that was written is read
// again as it was.
type exactly struct {
	Root    string // of the tree
	Metrics []exactMetric
}

// An exactMetric is what is to be known of a sample type.
type exactMetric struct {
	Parts int64  // the values are multiples of 1/Parts
	Whole string // the denominator, an integer or a fraction; "" is the sum of all values
}

const exactlyPrefix = "cpprof: "

// IsPprof tells whether a file that begins so can be a pprof profile: these are compressed by gzip.
func IsPprof(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// WritePprof writes a tree as a pprof profile: a sample a stack that has hits, a sample type a metric, of which the first is
// what pprof shows. It fails where hits are too large for the format.
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

// metrics lists the metrics, each with the part of a hit that its values are counted in.
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
			return fmt.Errorf("a hit of %s has %s parts: too many for the format's 64 bits", m.Name, parts)
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

// values gives a stack's own hits, and whether it has any.
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

// place gives the location that stands for a frame.
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

// ReadPprof reads a pprof profile as a tree. Its first metric is the profile's default sample type, the last where it names
// none, as go tool pprof has it. Lines and addresses are merged by function; labels are left out.
func ReadPprof(r io.Reader) (*calltree.Tree, error) {
	p, err := parsePprof(r)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	x, err := readExactly(p)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	t, err := treeOf(p, x)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	return t, nil
}

func parsePprof(r io.Reader) (*profile.Profile, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not compressed by gzip: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("it has more than %d bytes", maxProfile)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("it has no samples")
	}
	return p, nil
}

// readExactly gives what WritePprof noted, or what holds for the profiles of others.
func readExactly(p *profile.Profile) (*exactly, error) {
	x := &exactly{Root: calltree.RootName, Metrics: slices.Repeat([]exactMetric{{Parts: 1}}, len(p.SampleType))}
	for _, c := range p.Comments {
		text, ok := strings.CutPrefix(c, exactlyPrefix)
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), x); err != nil {
			return nil, fmt.Errorf("comment %q: %w", c, err)
		}
		if len(x.Metrics) != len(p.SampleType) {
			return nil, fmt.Errorf("comment %q: %d metrics for %d sample types", c, len(x.Metrics), len(p.SampleType))
		}
	}
	return x, nil
}

func treeOf(p *profile.Profile, x *exactly) (*calltree.Tree, error) {
	order := metricOrder(p)
	main := p.SampleType[order[0]]
	b := calltree.NewBuilder(new(calltree.Symbols), x.Root, main.Type, main.Unit)
	for i, k := range order {
		if i > 0 {
			b.AddMetric(p.SampleType[k].Type, p.SampleType[k].Unit)
		}
		if x.Metrics[k].Parts < 1 {
			return nil, fmt.Errorf("a hit of %d parts", x.Metrics[k].Parts)
		}
		if x.Metrics[k].Whole == "" {
			continue
		}
		whole, err := parseWhole(x.Metrics[k].Whole)
		if err != nil {
			return nil, err
		}
		b.SetDenominator(i, whole)
	}
	names := map[*profile.Location][]calltree.Func{}
	for _, s := range p.Sample {
		node, err := stackOf(b, x.Root, s.Location, names)
		if err != nil {
			return nil, err
		}
		for i, k := range order {
			b.Add(i, node, s.Value[k], x.Metrics[k].Parts)
		}
	}
	return b.Tree()
}

// parseWhole reads a denominator. Other ways to write a number, which big.Rat knows, are not ours: some take a lot of memory.
func parseWhole(s string) (*big.Rat, error) {
	if strings.Trim(s, "0123456789/") == "" && len(s) <= maxDigits {
		if whole, ok := new(big.Rat).SetString(s); ok {
			return whole, nil
		}
	}
	return nil, fmt.Errorf("a denominator of %q", s)
}

// metricOrder lists the sample types, that which is shown first.
func metricOrder(p *profile.Profile) []int {
	first := len(p.SampleType) - 1
	for i, t := range p.SampleType {
		if t.Type == p.DefaultSampleType {
			first = i
		}
	}
	order := []int{first}
	for i := range p.SampleType {
		if i != first {
			order = append(order, i)
		}
	}
	return order
}

// stackOf gives the node of a stack, which is listed from its leaf.
func stackOf(b *calltree.Builder, root string, stack []*profile.Location, names map[*profile.Location][]calltree.Func) (int32, error) {
	if len(stack) > maxDepth {
		return 0, fmt.Errorf("a stack of %d calls", len(stack))
	}
	node := int32(0)
	for i, l := range slices.Backward(stack) {
		frames, ok := names[l]
		if !ok {
			frames = framesOf(b.Symbols(), l)
			names[l] = frames
		}
		for j, f := range frames {
			if i == len(stack)-1 && j == 0 && root != calltree.RootName && b.Symbols().Name(f) == root {
				continue // the root itself
			}
			node = b.Child(node, f)
		}
	}
	return node, nil
}

// framesOf gives the frames of a location, the outermost first: with inlining there are several.
func framesOf(syms *calltree.Symbols, l *profile.Location) []calltree.Func {
	var frames []calltree.Func
	for _, line := range slices.Backward(l.Line) {
		if line.Function != nil && line.Function.Name != "" {
			frames = append(frames, syms.Intern(line.Function.Name))
		}
	}
	if len(frames) == 0 {
		frames = []calltree.Func{syms.Intern(fmt.Sprintf("%#x", l.Address))}
	}
	return frames
}
