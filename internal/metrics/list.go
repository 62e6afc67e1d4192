package metrics

import "math/bits"

// A List is a set of samples of one recording.
type List struct {
	words   []uint64
	samples int // of the recording
}

// NewList returns an empty list for a recording with a number of samples.
func NewList(samples int) List { return List{make([]uint64, (samples+63)/64), samples} }

// All returns the list of all samples.
func All(samples int) List { return NewList(samples).Not() }

// Add adds a sample to the list.
func (l List) Add(i int) { l.words[i/64] |= 1 << (i % 64) }

// Has reports whether the list has a sample.
func (l List) Has(i int) bool { return l.words[i/64]>>(i%64)&1 == 1 }

// Samples returns the number of samples of the recording.
func (l List) Samples() int { return l.samples }

// Len returns the number of samples in the list.
func (l List) Len() (n int) {
	for _, w := range l.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Members returns the numbers of the samples in the list, in ascending order.
func (l List) Members() []int {
	list := make([]int, 0, l.Len())
	for i := range l.samples {
		if l.Has(i) {
			list = append(list, i)
		}
	}
	return list
}

// Not returns the samples that l does not have.
func (l List) Not() List {
	n := NewList(l.samples)
	for i := range n.words {
		n.words[i] = ^l.words[i]
	}
	if rest := l.samples % 64; rest > 0 {
		n.words[len(n.words)-1] &= 1<<rest - 1
	}
	return n
}

// And returns the samples that both lists have.
func (l List) And(m List) List { return l.with(m, func(a, b uint64) uint64 { return a & b }) }

func (l List) with(m List, of func(a, b uint64) uint64) List {
	n := NewList(l.samples)
	for i := range n.words {
		n.words[i] = of(l.words[i], m.words[i])
	}
	return n
}

// Spans returns the samples as spans without gaps: each has the samples from
// the first number up to, but not including, the second.
func (l List) Spans() [][2]int {
	var spans [][2]int
	for i := range l.samples {
		switch {
		case !l.Has(i):
		case len(spans) > 0 && spans[len(spans)-1][1] == i:
			spans[len(spans)-1][1]++
		default:
			spans = append(spans, [2]int{i, i + 1})
		}
	}
	return spans
}

// listOf returns the samples in which a predicate is true.
func listOf(c Column) List {
	l := NewList(len(c))
	for i, x := range c {
		if x == 1 {
			l.Add(i)
		}
	}
	return l
}

// column returns 1 for the samples in the list, and 0 for the others.
func (l List) column() Column {
	c := make(Column, l.samples)
	for i := range c {
		c[i] = truth(l.Has(i))
	}
	return c
}
