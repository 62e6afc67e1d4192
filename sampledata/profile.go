package sampledata

import (
	"fmt"
	"math/big"
	"slices"
	"time"
)

// A Profile is what another tool has summed up: how much each
// stack weighs. It has no times and no goroutines.
type Profile struct {
	Title string // what was read, with an article: "a profile"; "" if it was not read
	Root  string // the frame above all stacks; "" in a Server View

	// FromView reports that the functions are the frames of a
	// view: typed time and thread classes, too.
	FromView bool

	Start    time.Time     // of what the profile counts; the zero Time if it is not known
	Duration time.Duration // 0 if it is not known
	Period   Period

	Quantities []Quantity
	// the numbers of the quantities to show, none of them a
	// part; costs are shares of the first
	Shown  []int
	Stacks []NodeID // by row
	Labels []LabelSetID
	Values []int64 // row by row, the quantities of each
}

// A Period is how much of something passes from one sample of a
// profile to the next. The zero Period is not known.
type Period struct {
	Name, Unit string
	Every      int64
}

// A Quantity is something that a profile counts for each stack,
// such as bytes. The weight of a stack is its value over Parts;
// if Rest is not 0, it is the value plus the value of the
// quantity Rest over Parts.
type Quantity struct {
	Name, Unit string
	Parts      int64
	Rest       int      // the number of the quantity that adds fractions; 0 if there is none
	Hits       int      // the number of the quantity that counts the hits; 0 if there is none
	Whole      *big.Rat // what costs are fractions of; nil is the sum of all weights
	// values are the nearest ones that fit, see Parts: their
	// exact fractions do not fit 64 bits
	Rounded bool
	Part    bool // it is the Rest or the Hits of another quantity
}

// Main returns the quantity that costs are shares of.
func (p *Profile) Main() *Quantity { return &p.Quantities[p.Shown[0]] }

// Show chooses what to show: all quantities that are not a part
// of another one. The quantity of the given name comes first. If
// there is none, the last one comes first, as in go tool pprof.
func (p *Profile) Show(first string) {
	p.Shown = nil
	begin := -1
	for i, q := range p.Quantities {
		if q.Part {
			continue
		}
		if q.Name == first || begin < 0 || p.Quantities[begin].Name != first {
			begin = i
		}
		p.Shown = append(p.Shown, i)
	}
	if at := slices.Index(p.Shown, begin); at > 0 {
		p.Shown = slices.Insert(slices.Delete(p.Shown, at, at+1), 0, begin)
	}
}

// Only shows one quantity. It reports whether the profile has a
// quantity of that name.
func (p *Profile) Only(name string) bool {
	for _, i := range p.Shown {
		if p.Quantities[i].Name == name {
			p.Shown = []int{i}
			return true
		}
	}
	return false
}

// ShownParts returns the numbers of the quantities to show and
// of their parts, which follow them.
func (p *Profile) ShownParts() (list []int) {
	for _, k := range p.Shown {
		q := &p.Quantities[k]
		list = append(list, k)
		if q.Rest > 0 {
			list = append(list, q.Rest)
		}
		if q.Hits > 0 {
			list = append(list, q.Hits)
			if rest := p.Quantities[q.Hits].Rest; rest > 0 {
				list = append(list, rest)
			}
		}
	}
	return list
}

// Row returns the values of a row, by quantity.
func (p *Profile) Row(i int) []int64 {
	n := len(p.Quantities)
	return p.Values[i*n : (i+1)*n]
}

// Total returns the exact weight of all rows, of quantity k.
func (p *Profile) Total(k int) *big.Rat {
	q := &p.Quantities[k]
	var values, rests, number big.Int
	for i := range p.Stacks {
		values.Add(&values, number.SetInt64(p.Row(i)[k]))
		if q.Rest > 0 {
			rests.Add(&rests, number.SetInt64(p.Row(i)[q.Rest]))
		}
	}
	return q.Weight(&values, &rests)
}

// Weight returns the weight of a value. If the quantity has a
// rest, it also returns the value of the rest.
func (q *Quantity) Weight(value, rest *big.Int) *big.Rat {
	parts := big.NewInt(q.Parts)
	if q.Rest == 0 {
		return new(big.Rat).SetFrac(value, parts)
	}
	w := new(big.Rat).SetFrac(rest, parts)
	return w.Add(w, new(big.Rat).SetInt(value))
}

func (r *Recording) checkProfile() error {
	if r.Profile == nil {
		return nil
	}
	if r.Samples.Len() > 0 || r.Runs.Len() > 0 {
		return fmt.Errorf("profile: the recording has samples, too")
	}
	if err := r.Profile.check(r.sizes()); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

func (p *Profile) check(z sizes) error {
	if len(p.Labels) != len(p.Stacks) || len(p.Values) != len(p.Stacks)*len(p.Quantities) {
		return fmt.Errorf("%d stacks of %d quantities have %d label sets and %d values",
			len(p.Stacks), len(p.Quantities), len(p.Labels), len(p.Values))
	}
	if err := p.CheckQuantities(); err != nil {
		return err
	}
	for i, n := range p.Stacks {
		if n < NoStack || int(n) >= z.nodes {
			return fmt.Errorf("row %d: stack %d is none of the %d nodes", i, n, z.nodes)
		}
		if l := p.Labels[i]; l < 0 || int(l) >= z.labelSets {
			return fmt.Errorf("row %d: label set %d is none of the %d label sets",
				i, l, z.labelSets)
		}
	}
	return nil
}

// CheckQuantities checks the quantities, and that some are shown.
func (p *Profile) CheckQuantities() error {
	for i, q := range p.Quantities {
		if err := p.checkQuantity(&q); err != nil {
			return fmt.Errorf("quantity %d: %w", i, err)
		}
	}
	if len(p.Shown) == 0 {
		return fmt.Errorf("every quantity is a part of another one")
	}
	for _, i := range p.Shown {
		if i < 0 || i >= len(p.Quantities) || p.Quantities[i].Part {
			return fmt.Errorf("quantity %d can't be shown", i)
		}
	}
	return nil
}

func (p *Profile) checkQuantity(q *Quantity) error {
	if q.Parts < 1 {
		return fmt.Errorf("weights of %d parts", q.Parts)
	}
	if q.Whole != nil && q.Whole.Sign() < 0 {
		return fmt.Errorf("a negative whole, %s", q.Whole.RatString())
	}
	for _, other := range []int{q.Rest, q.Hits} {
		if other < 0 || other >= len(p.Quantities) || other > 0 && !p.Quantities[other].Part {
			return fmt.Errorf("quantity %d can't belong to another one", other)
		}
	}
	return nil
}
