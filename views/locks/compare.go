package locks

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Comparison has the locks of two recordings, matched by name.
type Comparison struct {
	New, Old *Analysis // by field
	Pairs    []Pair    // the one whose waiting changed most, up or down, comes first
}

// A Pair is the locks of one name in two recordings. New or Old is nil if nobody
// waited for them in that recording.
type Pair struct {
	Name             string
	New, Old         *Lock
	MeanNew, MeanOld *big.Rat // goroutines that waited, on average
}

// Compare analyses the locks of two recordings, with the same options; see
// views.Compare.
func Compare(a, b views.Named, o views.Options) (*Comparison, error) {
	c := new(Comparison)
	for _, side := range []struct {
		of views.Named
		to **Analysis
	}{{a, &c.New}, {b, &c.Old}} {
		err := o.Span.CheckBoth(side.of)
		if err == nil {
			*side.to, err = Analyse(side.of.Recording, o, ByField)
		}
		if err != nil {
			return nil, fmt.Errorf("comparing locks: %w", err)
		}
	}
	c.pair()
	return c, nil
}

// pair matches the locks, and orders the pairs.
func (c *Comparison) pair() {
	at := make(map[string]int)
	for _, l := range slices.Concat(c.New.Locks, c.New.Shared) {
		at[l.String()] = len(c.Pairs)
		c.Pairs = append(c.Pairs, Pair{l.String(), l, nil, c.New.Mean(&l.Evidence), new(big.Rat)})
	}
	for _, l := range slices.Concat(c.Old.Locks, c.Old.Shared) {
		i, both := at[l.String()]
		if !both {
			i = len(c.Pairs)
			c.Pairs = append(c.Pairs, Pair{Name: l.String(), MeanNew: new(big.Rat)})
		}
		c.Pairs[i].Old, c.Pairs[i].MeanOld = l, c.Old.Mean(&l.Evidence)
	}
	slices.SortStableFunc(c.Pairs, func(p, q Pair) int {
		return cmp.Or(q.change().Cmp(p.change()), cmp.Compare(p.Name, q.Name))
	})
}

// change returns by how much the waiting differs, up or down.
func (p *Pair) change() *big.Rat {
	d := new(big.Rat).Sub(p.MeanNew, p.MeanOld)
	return d.Abs(d)
}

// A ComparedPart is a part of the waiting for the locks of a pair. It has
// either the goroutines of one class that waited in one function for one
// reason, or the goroutines that waited for holders of one class.
type ComparedPart struct {
	Class, In, Reason string   // of waiters; a holder of a lock has only a class
	MeanNew, MeanOld  *big.Rat // goroutines that waited, on average
}

// Waiters returns who waited for the locks of a pair, the greatest number in
// either recording first.
func (c *Comparison) Waiters(p *Pair) []ComparedPart {
	var parts parts
	for side, l := range p.sides() {
		for _, w := range l.Waiters {
			parts.add(ComparedPart{Class: w.Class, In: w.In, Reason: w.Reason},
				side, c.mean(side, w.Total))
		}
	}
	return parts.sorted()
}

// Candidates returns who may have what is shared, likewise.
func (c *Comparison) Candidates(p *Pair) []ComparedPart {
	return c.holders(p, func(l *Lock) []Holder { return l.Candidates })
}

// Holders returns for which holders of the locks of a pair goroutines waited,
// the greatest number in either recording first.
func (c *Comparison) Holders(p *Pair) []ComparedPart {
	return c.holders(p, func(l *Lock) []Holder { return l.Holders })
}

func (c *Comparison) holders(p *Pair, of func(*Lock) []Holder) []ComparedPart {
	var parts parts
	for side, l := range p.sides() {
		for _, h := range of(l) {
			parts.add(ComparedPart{Class: h.Class, In: h.In}, side, c.mean(side, h.Total))
		}
	}
	return parts.sorted()
}

// sides returns New and Old. A side that a pair lacks is a lock that nobody
// waited for.
func (p *Pair) sides() [2]*Lock {
	sides := [2]*Lock{p.New, p.Old}
	for i := range sides {
		if sides[i] == nil {
			sides[i] = new(Lock)
		}
	}
	return sides
}

// mean returns how many goroutines a part of the waiting in New (side 0) or
// Old is on average.
func (c *Comparison) mean(side int, part calltree.Total) *big.Rat {
	return [2]*Analysis{c.New, c.Old}[side].Mean(&Evidence{Total: part})
}

// parts are the parts of a pair's waiting.
type parts []ComparedPart

// add adds goroutines of New (side 0) or Old to the part of the same class,
// function and reason.
func (l *parts) add(part ComparedPart, side int, mean *big.Rat) {
	i := slices.IndexFunc(*l, func(p ComparedPart) bool {
		return p.Class == part.Class && p.In == part.In && p.Reason == part.Reason
	})
	if i < 0 {
		i = len(*l)
		part.MeanNew, part.MeanOld = new(big.Rat), new(big.Rat)
		*l = append(*l, part)
	}
	sum := [2]*big.Rat{(*l)[i].MeanNew, (*l)[i].MeanOld}[side]
	sum.Add(sum, mean)
}

func (l parts) sorted() []ComparedPart {
	most := func(p ComparedPart) *big.Rat {
		if p.MeanNew.Cmp(p.MeanOld) < 0 {
			return p.MeanOld
		}
		return p.MeanNew
	}
	slices.SortStableFunc(l, func(x, y ComparedPart) int { return most(y).Cmp(most(x)) })
	return l
}
