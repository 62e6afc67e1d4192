package views

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// Moments say when the portions of a history got their hits: in which slices of the recording, each of which is Each samples that
// follow one another. With slices of one sample, all moments are spells. If that would be too many, slices are longer, and what a
// portion got in a part of a slice is summed up. For example, with slices of 10 samples, a goroutine that waits in the samples 8 to
// 31 has a spell in the slices 1 and 2, and two sums: of the samples 8 and 9 in slice 0, and of the samples 30 and 31 in slice 3.
type Moments struct {
	Each   int32 // samples of a slice; the last one may have fewer
	Spells []Spell
	Sums   []Sum

	samples int32
	room    int // for so many spells, and a quarter more sums: a spell may become two of them; see grown
	weights sampledata.Weights
	newest  []int32 // by portion: the sum that the next one probably adds to; -1 if there is none
}

// A Spell is Num/Parts hits of a portion in each of the samples of the slices First to Last, both included. Spells of one portion
// may overlap, and then add up.
type Spell struct {
	Portion     int32
	First, Last int32
	Num         int64
}

// A Sum is what a portion got in a part of one slice: Hits/Parts hits that weigh Weight/Parts.
type Sum struct {
	Portion, Slice int32
	Hits           int64
	Weight         Wide
}

// A Wide is Hi*2^26 + Lo: sums of weights may be larger than 64 bits hold.
type Wide struct{ Hi, Lo int64 }

const wideBits = 26

// Add adds num times n.
func (w *Wide) Add(num, n int64) {
	w.Lo += num * (n & (1<<wideBits - 1))
	w.Hi += num*(n>>wideBits) + w.Lo>>wideBits
	w.Lo &= 1<<wideBits - 1
}

// AddWide adds another number.
func (w *Wide) AddWide(x Wide) {
	w.Hi += x.Hi
	w.Add(1, x.Lo)
}

// AddBig adds a number that is not negative, and has at most 89 bits.
func (w *Wide) AddBig(x *big.Int) {
	hi := new(big.Int).Rsh(x, wideBits)
	w.AddWide(Wide{Hi: hi.Int64(), Lo: new(big.Int).Sub(x, hi.Lsh(hi, wideBits)).Int64()})
}

func newMoments(r *sampledata.Recording, room int) Moments {
	return Moments{Each: 1, samples: int32(r.Samples.Len()), room: room, weights: r.Weights()}
}

// Len returns the number of spells and sums.
func (m *Moments) Len() int { return len(m.Spells) + len(m.Sums) }

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
	m.Spells = append(grown(m.Spells, m.room), Spell{portion, first, end - 1, num})
	if rest < to {
		m.addSum(portion, rest, to, num)
	}
}

// addSum adds what a portion got in the samples [from, to) of a slice.
func (m *Moments) addSum(portion, from, to int32, num int64) {
	s := m.sum(portion, from/m.Each)
	s.Hits += num * int64(to-from)
	s.Weight.Add(num, m.weights.Of(int(from), int(to)))
}

// sum returns a sum of a portion in a slice, to which more can be added. Mostly that is the portion's newest sum. The pointer is
// valid until the next call.
func (m *Moments) sum(portion, slice int32) *Sum {
	for int(portion) >= len(m.newest) {
		m.newest = append(m.newest, -1)
	}
	i := m.newest[portion]
	if i < 0 || m.Sums[i].Slice != slice {
		i = int32(len(m.Sums))
		m.Sums = append(grown(m.Sums, m.room+m.room/4), Sum{Portion: portion, Slice: slice})
		m.newest[portion] = i
	}
	return &m.Sums[i]
}

// grown returns a list that has room for another element. Once it is long, it gets room for as many as there can be: when a list
// is copied to a longer one, both are in memory.
func grown[E any](list []E, room int) []E {
	if len(list) < cap(list) || len(list) < room/4 || len(list) >= room {
		return list
	}
	return slices.Grow(list, room-len(list))
}

// trimmed returns a list without memory that it does not need.
func trimmed[E any](list []E) []E {
	if len(list) < cap(list)/2 {
		return slices.Clone(list)
	}
	return list
}

// Coarsen doubles the number of samples of a slice.
func (m *Moments) Coarsen() { m.coarsen(2) }

// coarsen multiplies the number of samples of a slice.
func (m *Moments) coarsen(factor int32) {
	old, each := m.Spells, m.Each
	m.Each *= factor
	for i := range m.Sums {
		m.Sums[i].Slice /= factor
	}
	m.Spells = m.Spells[:0]
	for _, sp := range old { // each becomes at most one spell, so that none is overwritten before it is read
		m.add(sp.Portion, sp.First*each, min((sp.Last+1)*each, m.samples), sp.Num)
	}
	m.merge()
}

// merge adds up the sums of the same portion in the same slice, and orders them by portion, then by slice.
func (m *Moments) merge() {
	slices.SortFunc(m.Sums, func(a, b Sum) int { return cmp.Or(cmp.Compare(a.Portion, b.Portion), cmp.Compare(a.Slice, b.Slice)) })
	kept := m.Sums[:0]
	for _, s := range m.Sums {
		if n := len(kept); n > 0 && kept[n-1].Portion == s.Portion && kept[n-1].Slice == s.Slice {
			kept[n-1].Hits += s.Hits
			kept[n-1].Weight.AddWide(s.Weight)
			continue
		}
		kept = append(kept, s)
	}
	m.Sums = kept
	for p := range m.newest {
		m.newest[p] = -1
	}
}

// limit makes slices longer until there are at most so many moments, or one slice.
func (m *Moments) limit(most int) {
	if m.Len() <= most {
		return
	}
	m.merge()
	slices.SortFunc(m.Spells, func(a, b Spell) int { return cmp.Or(cmp.Compare(a.Portion, b.Portion), cmp.Compare(a.First, b.First)) })
	for m.Len() > most && m.Slices() > 1 {
		factor := int32(2)
		for m.Each*factor < m.samples && m.atLeast(factor) > most {
			factor *= 2
		}
		m.coarsen(factor)
	}
	m.Spells = trimmed(m.Spells) // most of them have become sums
}

// atLeast returns a number of moments that there are at least if slices are made longer by a factor. So slices that are too short
// are never made: of spells, they would have twice as many sums. All spells of a portion that begin in different slices remain a
// spell or a sum each. Spells and sums are in the order of their portions, then of their slices.
func (m *Moments) atLeast(factor int32) int {
	spells, sums := 0, 0
	for i, sp := range m.Spells {
		if i == 0 || sp.Portion != m.Spells[i-1].Portion || sp.First/factor != m.Spells[i-1].First/factor {
			spells++
		}
	}
	for i, s := range m.Sums {
		if i == 0 || s.Portion != m.Sums[i-1].Portion || s.Slice/factor != m.Sums[i-1].Slice/factor {
			sums++
		}
	}
	return max(spells, sums)
}
