package hotspots

import "math/big"

// FindOptions limit the search of Find. Nil or 0 is the default.
type FindOptions struct {
	Coverage *big.Rat // of the cost by the bottlenecks together; 80 %
	Max      int      // number of bottlenecks; no limit
}

// Found are the bottlenecks of a profile, in the order in which
// they were found.
type Found struct {
	Bottlenecks []Bottleneck
	Coverage    *big.Rat // part of the cost that they cover together
	MeanLength  *big.Rat // of their call sequences
	Comparison  bool
	Noise       bool // the search ended at an increase whose 95 % interval has 0
}

// A Bottleneck is a call sequence with its cost.
type Bottleneck struct {
	Summary    *Summary
	Own        *big.Rat  // share of the whole: its cum
	Additional *big.Rat  // share of the whole that the bottlenecks before it do not cover
	Coverage   *big.Rat  // part of the cost covered by it and the bottlenecks before it
	Interval   *Estimate // of Own, if it is known in which samples the hits were; else nil
}

// Find works like the paper's expert (section 2.3), until the
// labelled summaries cover enough of the cost: it starts where
// most of the uncovered cost is spent, zooms up through the
// callers that concentrate it, labels the result, and continues
// with the rest.
//
// It starts at single functions, or at the typed time below
// them, by their base; residual.score describes how functions
// that mostly call others are deferred. In a comparison, the
// cost to be covered is the sum of the increases over all
// starts, so that an increase in one place and a decrease in
// another do not hide each other. It ends where the next
// increase may be chance.
func Find(p *Trees, o FindOptions) *Found {
	goal := o.Coverage
	if goal == nil {
		goal = big.NewRat(4, 5)
	}
	r := newResidual(p)
	all := r.left()
	f := &Found{Coverage: new(big.Rat), MeanLength: new(big.Rat), Comparison: len(p.sides) > 1}
	for all.Sign() > 0 && f.Coverage.Cmp(goal) < 0 && (o.Max <= 0 || len(f.Bottlenecks) < o.Max) {
		reached := r.next()
		if reached == nil {
			break
		}
		s := p.Summary(reached.Path()...)
		if f.Comparison {
			if i := p.interval(s); i != nil && i.Low <= 0 {
				f.Noise = true
				break
			}
		}
		part := r.left()
		part.Quo(part, all)
		f.Coverage = part.Sub(big.NewRat(1, 1), part)
		f.Bottlenecks = append(f.Bottlenecks, Bottleneck{Summary: s, Coverage: f.Coverage})
	}
	f.complete(p)
	return f
}

// next covers the next bottleneck and returns it, or nil if none is left.
func (r *residual) next() *Summary {
	id := r.ranking.best()
	if id < 0 {
		return nil
	}
	start := r.profile.Summary(r.path(id)...)
	reached, _ := zoomTo(start, DefaultCutoff(), (*Summary).Tops)
	if reached.Cum().Sign() <= 0 {
		reached = start // in a comparison, a caller may have got cheaper
	}
	r.cover(reached)
	return reached
}

// complete computes the remaining fields, once the bottlenecks are found.
func (f *Found) complete(p *Trees) {
	labels := make([]*Summary, len(f.Bottlenecks))
	length := 0
	for i := range f.Bottlenecks {
		b := &f.Bottlenecks[i]
		labels[i] = b.Summary
		b.Own, b.Interval = p.Share(b.Summary.Cum()), p.interval(b.Summary)
		length += len(b.Summary.Path())
	}
	if len(labels) > 0 {
		f.MeanLength.SetFrac64(int64(length), int64(len(labels)))
	}
	before := new(big.Rat)
	for i, total := range p.TotalCums(labels...) {
		f.Bottlenecks[i].Additional = p.Share(new(big.Rat).Sub(total, before))
		before = total
	}
}

// Above returns the bottlenecks that add more than a share of the whole.
func (f *Found) Above(share *big.Rat) []Bottleneck {
	var above []Bottleneck
	for _, b := range f.Bottlenecks {
		if b.Additional.Cmp(share) > 0 {
			above = append(above, b)
		}
	}
	return above
}
