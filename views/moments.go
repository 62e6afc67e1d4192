package views

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// Moments say when the portions of a history got their hits: in
// which slices of the recording. A slice has Each samples that
// follow one another. With slices of one sample, all moments are
// spells. If that would be too many, slices are longer, and what
// a portion got in a part of a slice is summed up. For example,
// with slices of 10 samples, a goroutine that waits in the
// samples 8 to 31 has a spell in the slices 1 and 2, and two
// sums: the samples 8 and 9 in slice 0, and the samples 30 and
// 31 in slice 3.
type Moments struct {
	Each         int32 // samples of a slice; the last one may have fewer
	Spells, Sums int   // how many there are

	samples int32
	weights sampledata.Weights
	lists   []momentLists // by portion
	pool    momentPool
	spells  []Spell // what Of returned
	sums    []Sum
}

// A Spell is Num/Parts hits of a portion in each of the samples
// of the slices First to Last, both included. Spells of one
// portion may overlap, and then add up.
type Spell struct {
	Portion     int32
	First, Last int32
	Num         int64
}

// A Sum is what a portion got in a part of one slice: Hits/Parts
// hits that weigh Weight/Parts.
type Sum struct {
	Portion, Slice int32
	Hits           int64
	Weight         LongSum
}

// A LongSum is Hi*2^26 + Lo: a sum of weights that 64 bits may not hold.
type LongSum struct{ Hi, Lo int64 }

const wideBits = 26

// Add adds num times n.
func (w *LongSum) Add(num, n int64) {
	w.Lo += num * (n & (1<<wideBits - 1))
	w.Hi += num*(n>>wideBits) + w.Lo>>wideBits
	w.Lo &= 1<<wideBits - 1
}

// AddWide adds another number.
func (w *LongSum) AddWide(x LongSum) {
	w.Hi += x.Hi
	w.Add(1, x.Lo)
}

// AddBig adds a number that is not negative, and has at most 89 bits.
func (w *LongSum) AddBig(x *big.Int) {
	hi := new(big.Int).Rsh(x, wideBits)
	w.AddWide(LongSum{Hi: hi.Int64(), Lo: new(big.Int).Sub(x, hi.Lsh(hi, wideBits)).Int64()})
}

func newMoments(r *sampledata.Recording) Moments {
	return Moments{Each: 1, samples: int32(r.Samples.Len()), weights: r.Weights()}
}

// Len returns the number of spells and sums.
func (m *Moments) Len() int { return m.Spells + m.Sums }

// Slices returns the number of slices.
func (m *Moments) Slices() int32 { return (m.samples + m.Each - 1) / m.Each }

// Span returns the samples [from, to) of the slices [first, end).
func (m *Moments) Span(first, end int32) (from, to int32) {
	return first * m.Each, min(end*m.Each, m.samples)
}

// add adds a spell in the samples [from, to).
func (m *Moments) add(portion, from, to int32, num int64) {
	first, end := (from+m.Each-1)/m.Each, to/m.Each // the whole slices are [first, end)
	if to == m.samples {
		end = m.Slices()
	}
	if first >= end {
		for from < to {
			next := min(to, (from/m.Each+1)*m.Each)
			m.addSum(portion, from, next, num)
			from = next
		}
		return
	}
	whole, rest := m.Span(first, end)
	if from < whole {
		m.addSum(portion, from, whole, num)
	}
	m.addSpell(Spell{portion, first, end - 1, num})
	if rest < to {
		m.addSum(portion, rest, to, num)
	}
}

// addSum adds what a portion got in the samples [from, to) of a slice.
func (m *Moments) addSum(portion, from, to int32, num int64) {
	var w LongSum
	w.Add(num, m.weights.Of(int(from), int(to)))
	m.addToSum(Sum{portion, from / m.Each, num * int64(to-from), w})
}

// Of returns the spells of a portion, in order of First, and its
// sums, in order of their slices. Both are valid until the next
// call.
func (m *Moments) Of(portion int32) ([]Spell, []Sum) {
	m.spells, m.sums = m.spells[:0], m.sums[:0]
	l := m.of(portion)
	for i := l.spells; i != 0; i = m.pool.at(i).next {
		m.spells = append(m.spells, m.pool.at(i).spell(portion))
	}
	for i := l.sums; i != 0; i = m.pool.at(i).next {
		m.sums = append(m.sums, m.pool.at(i).sum(portion))
	}
	slices.Reverse(m.spells) // most of them are in order then, which sorting makes use of
	slices.Reverse(m.sums)
	slices.SortFunc(m.spells, func(a, b Spell) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last),
			cmp.Compare(a.Num, b.Num))
	})
	slices.SortFunc(m.sums, func(a, b Sum) int { return cmp.Compare(a.Slice, b.Slice) })
	return m.spells, m.sums
}

// take removes the moments of a portion, and returns them as Of does.
func (m *Moments) take(portion int32) ([]Spell, []Sum) {
	spells, sums := m.Of(portion)
	m.Spells, m.Sums = m.Spells-len(spells), m.Sums-len(sums)
	l := m.of(portion)
	m.pool.release(l.spells)
	m.pool.release(l.sums)
	*l = momentLists{}
	return spells, sums
}

// Coarsen doubles the number of samples of a slice.
func (m *Moments) Coarsen() { m.coarsen(2) }

// coarsen multiplies the number of samples of a slice.
func (m *Moments) coarsen(factor int32) {
	each := m.Each
	m.Each *= factor
	for p := range int32(len(m.lists)) {
		spells, sums := m.take(p)
		for _, s := range sums {
			s.Slice /= factor
			m.addToSum(s)
		}
		for _, sp := range spells {
			m.add(p, sp.First*each, min((sp.Last+1)*each, m.samples), sp.Num)
		}
		m.merge(p)
	}
}

// merge orders the moments of a portion, and adds up its sums in
// the same slice.
func (m *Moments) merge(portion int32) {
	spells, sums := m.take(portion)
	for _, sp := range spells {
		m.addSpell(sp)
	}
	for _, s := range sums {
		m.addToSum(s)
	}
}

// mergeAll calls merge for each portion.
func (m *Moments) mergeAll() {
	for p := range int32(len(m.lists)) {
		m.merge(p)
	}
}

// limit makes slices longer until the moments are few enough, or
// one slice is left.
func (m *Moments) limit(most int) {
	if m.Len() <= most {
		return
	}
	m.mergeAll()
	for m.Len() > most && m.Slices() > 1 {
		m.coarsen(m.factor(most))
	}
}

// factor returns by how much longer slices have to be at least
// to limit the moments. Slices that are too short are never
// made: spells would become twice as many sums. All spells of a
// portion that begin in different slices remain a spell or a sum
// each. The moments of each portion are in order.
func (m *Moments) factor(most int) int32 {
	var spells, sums steps
	for _, l := range m.lists {
		spells.count(&m.pool, l.spells)
		sums.count(&m.pool, l.sums)
	}
	factor := int32(2)
	for bit := 1; m.Each*factor < m.samples && max(spells.from(bit), sums.from(bit)) > most; bit++ {
		factor *= 2
	}
	return factor
}

// steps are how many moments differ from the one before in their
// lists, by the highest bit in which their slices differ. With
// slices that are 2^n times as long, those differ whose step is
// from n up. The first moment of each list counts as 31.
type steps [32]int

func (s *steps) count(p *momentPool, list int32) {
	for later := int32(-1); list != 0; {
		at := p.at(list)
		if at.first != later {
			s[bits.Len32(uint32(at.first^later))-1]++
		}
		later, list = at.first, at.next
	}
}

// from returns the number of steps from a bit up.
func (s *steps) from(bit int) (n int) {
	for _, count := range s[bit:] {
		n += count
	}
	return n
}
