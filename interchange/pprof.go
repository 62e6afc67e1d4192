package interchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// pprof is the format of go tool pprof and runtime/pprof (profile.proto).
var pprof = Format{
	Name:      "pprof",
	Title:     "a profile",
	Help:      "a pprof profile",
	Sniff:     isPprof,
	ReadTree:  readPprof,
	WriteTree: WritePprof,
	About:     func(t *calltree.Tree) string { return t.Main().Name },
}

// The limits of a profile.
const (
	maxProfile = 1 << 30 // bytes, uncompressed
	maxDepth   = 1 << 16 // calls in a stack
	maxDigits  = 1 << 10 // of a denominator
)

// An exactly has the properties of a tree that pprof's format can't hold. WritePprof stores it as a comment of the profile,
// so that the tree is the same when it is read again.
type exactly struct {
	Root    string // of the tree
	Metrics []exactMetric
}

// An exactMetric has the properties of a sample type.
type exactMetric struct {
	Parts int64  // the values, or those of Rest, are multiples of 1/Parts
	Whole string // the denominator, an integer or a fraction; "" is the sum of all values

	Rest    int     `json:",omitempty"` // the sample type that adds fractions to the values; 0 if there is none
	Hits    int     `json:",omitempty"` // the sample type that counts the hits; 0 if there is none
	Squares float64 `json:",omitempty"` // see calltree.Metric
	Part    bool    `json:",omitempty"` // it belongs to another sample type
}

const exactlyPrefix = "cpprof: "

// isPprof reports whether a file may be a profile: it begins with well-formed fields of profile.proto, and one of them
// describes a sample type.
func isPprof(s Start) bool {
	rest, typed := s.Bytes, false
	for len(rest) > 0 {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return typed && s.cut()
		}
		if number > lastProfileField || kind != protowire.VarintType && kind != protowire.BytesType {
			return false
		}
		field := rest[n:]
		if n = protowire.ConsumeFieldValue(number, kind, field); n < 0 {
			return typed && s.cut()
		}
		if number == sampleTypeField {
			if typed = isValueType(kind, field); !typed {
				return false
			}
		}
		rest = field[n:]
	}
	return typed
}

// Fields of profile.proto, which numbers them from 1.
const (
	sampleTypeField  = 1
	stringField      = 6
	lastProfileField = 15
)

// isValueType reports whether a field is a message of the two fields, both varints, that a sample type has.
func isValueType(kind protowire.Type, field []byte) bool {
	message, n := protowire.ConsumeBytes(field)
	if kind != protowire.BytesType || n < 0 {
		return false
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 || number > 2 || kind != protowire.VarintType {
			return false
		}
		message = message[n:]
	}
	return true
}

// readPprof reads a profile, with all its sample types or only the one that the options choose.
func readPprof(in *Input, o Options) (*calltree.Tree, error) {
	tree, err := treeOfPprof(in, memory.NewBudget(o.MaxMemory))
	if err != nil || o.Meter == "" {
		return tree, err
	}
	var names []string
	for i, m := range tree.Metrics() {
		if m.Name == o.Meter {
			return tree.Only(i), nil
		}
		names = append(names, m.Name)
	}
	return nil, &MeterError{o.Meter, "the profile counts only " + strings.Join(names, ", ")}
}

// ReadPprof reads a pprof profile, compressed by gzip or not, as a tree. Its first metric is the profile's default sample
// type or, if it names none, the last, as in go tool pprof. Lines and addresses are merged by function; labels are left
// out.
func ReadPprof(r io.Reader) (*calltree.Tree, error) {
	in, err := newInput(r, "")
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	return treeOfPprof(in, memory.NewBudget(0))
}

func treeOfPprof(r io.Reader, budget *memory.Budget) (*calltree.Tree, error) {
	p, err := parsePprof(r, budget)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	x, err := readExactly(p)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	t, err := treeOf(p, x, budget)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	return t, nil
}

func parsePprof(r io.Reader, budget *memory.Budget) (*profile.Profile, error) {
	most := min(maxProfile, budget.Max()/2) // reading doubles its buffer
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("it has more than %d bytes", maxProfile)
	}
	if err := budget.Take(2 * int64(len(data))); err != nil {
		return nil, err
	}
	if err := budget.Take(profileMemory(data)); err != nil {
		return nil, err
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

// readExactly returns the properties that WritePprof stored, or the defaults for the profile of another tool.
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

func treeOf(p *profile.Profile, x *exactly, budget *memory.Budget) (*calltree.Tree, error) {
	order, err := x.order(p)
	if err != nil {
		return nil, err
	}
	main := p.SampleType[order[0]]
	b := calltree.NewBuilder(new(calltree.Symbols), x.Root, main.Type, main.Unit)
	for i, k := range order {
		if i > 0 {
			b.AddMetric(p.SampleType[k].Type, p.SampleType[k].Unit)
		}
		if err := x.denominators(b, i, k); err != nil {
			return nil, err
		}
	}
	names := map[*profile.Location][]calltree.Func{}
	counted := treeMemory{budget: budget, b: b}
	for _, s := range p.Sample {
		node, err := stackOf(b, x.Root, s.Location, names)
		if err != nil {
			return nil, err
		}
		for i, k := range order {
			x.add(b, i, k, node, s.Value)
		}
		if err := counted.charge(len(p.SampleType)*metricMemory, len(s.Location)); err != nil {
			return nil, err
		}
	}
	return b.Tree()
}

// order lists the sample types that are metrics; the one that pprof shows comes first.
func (x *exactly) order(p *profile.Profile) (order []int, err error) {
	for _, k := range metricOrder(p) {
		m := x.Metrics[k]
		if m.Parts < 1 || m.Squares < 0 {
			return nil, fmt.Errorf("weights of %d parts, the sum of their squares is %v", m.Parts, m.Squares)
		}
		for _, other := range []int{m.Rest, m.Hits} {
			if other < 0 || other >= len(x.Metrics) || other > 0 && !x.Metrics[other].Part {
				return nil, fmt.Errorf("sample type %d can't belong to another one", other)
			}
		}
		if !m.Part {
			order = append(order, k)
		}
	}
	if len(order) == 0 {
		return nil, errors.New("every sample type belongs to another one")
	}
	return order, nil
}

// denominators sets the denominators of a metric, which is that of sample type k.
func (x *exactly) denominators(b *calltree.Builder, metric, k int) error {
	m := x.Metrics[k]
	if m.Whole != "" {
		whole, err := parseWhole(m.Whole)
		if err != nil {
			return err
		}
		b.SetDenominator(metric, whole)
	}
	if m.Hits == 0 {
		return nil
	}
	hits, err := parseWhole(x.Metrics[m.Hits].Whole)
	if err != nil {
		return err
	}
	b.CountHits(metric, hits, m.Squares)
	return nil
}

// add adds a sample's values of sample type k to a metric.
func (x *exactly) add(b *calltree.Builder, metric, k int, node int32, values []int64) {
	switch m := x.Metrics[k]; {
	case m.Hits > 0:
		b.AddTotal(metric, node, calltree.Total{Weight: x.value(k, values), Hits: x.value(m.Hits, values)})
	case m.Rest > 0:
		b.AddRat(metric, node, x.value(k, values))
	default:
		b.Add(metric, node, values[k], m.Parts)
	}
}

// value returns a sample's value of sample type k.
func (x *exactly) value(k int, values []int64) *big.Rat {
	m := x.Metrics[k]
	if m.Rest == 0 {
		return big.NewRat(values[k], m.Parts)
	}
	v := big.NewRat(values[m.Rest], m.Parts)
	return v.Add(v, big.NewRat(values[k], 1))
}

// parseWhole reads a denominator. It refuses the other forms of numbers that big.Rat reads: some take a lot of memory.
func parseWhole(s string) (*big.Rat, error) {
	if strings.Trim(s, "0123456789/") == "" && len(s) <= maxDigits {
		if whole, ok := new(big.Rat).SetString(s); ok {
			return whole, nil
		}
	}
	return nil, fmt.Errorf("%q is not a denominator", s)
}

// metricOrder lists the sample types; the one that pprof shows comes first.
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

// stackOf returns the node of a stack. The stack begins with its leaf. A location has a frame for each call that was inlined
// there, and may be many times in a stack: a profile of a few kilobytes can have a stack of billions of frames.
func stackOf(b *calltree.Builder, root string, stack []*profile.Location, names map[*profile.Location][]calltree.Func) (int32, error) {
	node, depth := int32(0), 0
	for i, l := range slices.Backward(stack) {
		frames, ok := names[l]
		if !ok {
			frames = framesOf(b.Symbols(), l)
			names[l] = frames
		}
		if depth += len(frames); depth > maxDepth {
			return 0, fmt.Errorf("a stack of more than %d calls", maxDepth)
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

// framesOf returns the frames of a location, the outermost first. With inlining there are several.
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
