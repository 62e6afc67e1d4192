package views

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A profiled makes views of a recording that has a profile in
// place of samples. It has no typed time: the Server View is the
// whole profile, and a Thread View has the stacks of one class.
// The class of a stack is its label, if classes are by label, or
// its outermost function, with which its goroutine began.
type profiled struct {
	*sampledata.Profile
	r       *sampledata.Recording
	o       Options
	classes *classes
	starts  []sampledata.FunctionID // by node
	byStart map[sampledata.FunctionID]classID
}

func newProfiled(r *sampledata.Recording, o Options) *profiled {
	p := &profiled{Profile: r.Profile, r: r, o: o, classes: newClasses(r, o),
		byStart: make(map[sampledata.FunctionID]classID)}
	p.starts = make([]sampledata.FunctionID, len(r.Nodes))
	for i := range r.Nodes {
		n := &r.Nodes[i]
		p.starts[i] = n.Function
		if n.Parent != sampledata.NoStack && r.Functions[p.starts[n.Parent]].Name != bootstrap {
			p.starts[i] = p.starts[n.Parent]
		}
	}
	return p
}

// class returns the class of a row.
func (p *profiled) class(row int) classID {
	if byLabels := p.classes.byLabels; byLabels != nil {
		if id := byLabels[p.Labels[row]]; id != noMember {
			return p.classes.members[id].class
		}
	}
	start := sampledata.FunctionID(-1)
	if n := p.Stacks[row]; n != sampledata.NoStack {
		start = p.starts[n]
	}
	return lists.Made(p.byStart, start, func() classID {
		return p.classes.members[p.classes.member(p.className(start))].class
	})
}

// className returns the class of a stack without a label. A
// profile of a view has classes of its own.
func (p *profiled) className(start sampledata.FunctionID) string {
	if start < 0 {
		return unknownClass
	}
	if name := p.r.Functions[start].Name; p.FromView && calltree.KindOf(name) == calltree.Class {
		return name
	}
	return p.classes.name(sampledata.Goroutine{Start: start}, start)
}

// profileView makes the view of a class of a profile, or of all
// of it. Errors of the options say what the view is.
func profileView(r *sampledata.Recording, o Options, what, class string) (*View, error) {
	if _, _, err := o.samples(r); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return newProfiled(r, o).view(class)
}

// view makes the view of a class, or of the whole profile if class is "".
func (p *profiled) view(class string) (*View, error) {
	if err := p.noSpan(); err != nil {
		return nil, err
	}
	root := cmp.Or(class, p.Root, calltree.RootName)
	main := p.Main()
	b := calltree.NewBuilder(new(calltree.Symbols), root, main.Name, main.Unit)
	for _, k := range p.Shown[1:] {
		b.AddMetric(p.Quantities[k].Name, p.Quantities[k].Unit)
	}
	s := newStacks(p.r, p.o, b)
	if p.FromView {
		s.root = class
	}
	// deep stacks of a profile share their frames: cut ones
	// would have frames of their own
	s.cut = math.MaxInt32
	of := p.classes.names.Number(class)
	rows := 0
	for i, stack := range p.Stacks {
		if class != "" && p.class(i) != of {
			continue
		}
		rows++
		node := s.node(0, stack)
		if b.Len() > s.max {
			return nil, &sizeError{s.max, -1}
		}
		for metric, k := range p.Shown {
			p.add(b, metric, &p.Quantities[k], node, p.Row(i))
		}
	}
	if class != "" && rows == 0 {
		return nil, p.unknownClass(class)
	}
	if class == "" {
		p.denominators(b)
	}
	t, err := b.Tree()
	if err != nil {
		return nil, err
	}
	return &View{Tree: t}, nil
}

// add adds the weight of a row to a metric.
func (p *profiled) add(b *calltree.Builder, metric int, q *sampledata.Quantity, node int32,
	values []int64) {
	k := p.Shown[metric]
	switch {
	case q.Hits > 0:
		b.AddTotal(metric, node,
			calltree.Total{Weight: p.weight(k, values), Hits: p.weight(q.Hits, values)})
	case q.Rest > 0:
		b.AddRat(metric, node, p.weight(k, values))
	default:
		b.Add(metric, node, values[k], q.Parts)
	}
}

// weight returns a row's weight of quantity k.
func (p *profiled) weight(k int, values []int64) *big.Rat {
	q := &p.Quantities[k]
	return q.Weight(big.NewInt(values[k]), big.NewInt(values[q.Rest]))
}

// denominators sets the denominators that the profile has of its own.
func (p *profiled) denominators(b *calltree.Builder) {
	for metric, k := range p.Shown {
		q := &p.Quantities[k]
		if q.Whole != nil {
			b.SetDenominator(metric, q.Whole)
		}
		if q.Hits > 0 && p.Quantities[q.Hits].Whole != nil {
			b.CountHits(metric, p.Quantities[q.Hits].Whole)
		}
	}
}

// noSpan returns an error if the options choose a span: a
// profile has no times.
func (p *profiled) noSpan() error {
	if p.o.Span != (Span{}) {
		return fmt.Errorf("a profile has no times: it has no part %v", p.o.Span)
	}
	return nil
}

func (p *profiled) unknownClass(class string) error {
	names := lists.Each(p.sums(), func(c ClassSummary) string { return c.Class })
	return &UnknownClassError{Class: class, Closest: edit.Similar(class, names),
		Named: parts(names, class)}
}

// A rowSum adds up rows of a class.
type rowSum struct {
	rows        int64
	value, rest big.Int
}

// sums returns the classes with the weights of their stacks;
// their hits are the number of stacks. They have no typed time.
func (p *profiled) sums() []ClassSummary {
	k := p.Shown[0]
	q := &p.Quantities[k]
	totals := make(map[classID]*rowSum)
	number := new(big.Int)
	for i := range p.Stacks {
		sum := lists.Made(totals, p.class(i), func() *rowSum { return new(rowSum) })
		sum.rows++
		sum.value.Add(&sum.value, number.SetInt64(p.Row(i)[k]))
		if q.Rest > 0 {
			sum.rest.Add(&sum.rest, number.SetInt64(p.Row(i)[q.Rest]))
		}
	}
	var all []ClassSummary
	for id, sum := range totals {
		s := ClassSummary{Class: p.classes.names.All[id], Hits: sum.rows, MeanAlive: new(big.Rat),
			Time: q.Weight(&sum.value, &sum.rest)}
		s.Idle, s.Attributed = calltree.TotalOf(new(exact.Sum)), calltree.TotalOf(new(exact.Sum))
		s.Parts, s.HitParts = noParts(), noParts()
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ClassSummary) int {
		return cmp.Or(b.Time.Cmp(a.Time), cmp.Compare(a.Class, b.Class))
	})
	return all
}

func noParts() (p Parts) {
	for t := range p {
		p[t] = new(big.Rat)
	}
	return p
}
