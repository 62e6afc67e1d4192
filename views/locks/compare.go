package locks

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Comparison has the locks of two recordings, matched by name.
type Comparison struct {
	New, Old *Analysis // by field
	Pairs    []Pair    // the one whose waiting changed most, up or down, comes first
}

// A Pair is the locks of one name in two recordings. New or Old
// is nil if nobody waited for them in that recording.
type Pair struct {
	Name             string
	New, Old         *Lock
	MeanNew, MeanOld *big.Rat // goroutines that waited, on average
}

// Compare analyses the locks of two recordings, with the same
// options; see views.Compare.
func Compare(a, b views.Named, o views.Options) (*Comparison, error) {
	c := new(Comparison)
	var err error
	c.New, c.Old, err = views.OfBoth(a, b, o,
		func(r *sampledata.Recording, o views.Options) (*Analysis, error) {
			return Analyse(r, o, ByField)
		})
	if err != nil {
		return nil, fmt.Errorf("comparing locks: %w", err)
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

// A ComparedPart is a part of the waiting for the locks of a
// pair: the waiting of a user, or the waiting for one.
type ComparedPart struct {
	User
	MeanNew, MeanOld *big.Rat // goroutines that waited, on average
}

// Waiters returns who waited for the locks of a pair, the
// greatest number in either recording first.
func (c *Comparison) Waiters(p *Pair) []ComparedPart {
	return c.users(p, func(l *Lock) []UserTotal { return l.Waiters })
}

// Candidates returns who may have what is shared, likewise.
func (c *Comparison) Candidates(p *Pair) []ComparedPart {
	return c.users(p, func(l *Lock) []UserTotal { return l.Candidates })
}

// Holders returns for which holders of the locks of a pair
// goroutines waited, the greatest number in either recording
// first.
func (c *Comparison) Holders(p *Pair) []ComparedPart {
	return c.users(p, func(l *Lock) []UserTotal { return l.Holders })
}

func (c *Comparison) users(p *Pair, of func(*Lock) []UserTotal) []ComparedPart {
	var parts parts
	for side, l := range p.sides() {
		for _, u := range of(l) {
			parts.add(u.User, side, c.mean(side, u.Total))
		}
	}
	return parts.sorted()
}

// sides returns New and Old. A side that a pair lacks is a lock
// that nobody waited for.
func (p *Pair) sides() [2]*Lock {
	sides := [2]*Lock{p.New, p.Old}
	for i := range sides {
		if sides[i] == nil {
			sides[i] = new(Lock)
		}
	}
	return sides
}

// mean returns how many goroutines a part of the waiting in New
// (side 0) or Old is on average.
func (c *Comparison) mean(side int, part calltree.Total) *big.Rat {
	return [2]*Analysis{c.New, c.Old}[side].Mean(&Evidence{Total: part})
}

// parts are the parts of a pair's waiting.
type parts []ComparedPart

// add adds goroutines of New (side 0) or Old to the part of a user.
func (l *parts) add(u User, side int, mean *big.Rat) {
	i := slices.IndexFunc(*l, func(p ComparedPart) bool { return p.User == u })
	if i < 0 {
		i = len(*l)
		*l = append(*l, ComparedPart{u, new(big.Rat), new(big.Rat)})
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
