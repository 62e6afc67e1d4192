package metrics

// A List is a set of samples of one recording. It is true at the
// numbers of its samples.
type List []bool

// NewList returns an empty list for a recording with a number of samples.
func NewList(samples int) List { return make(List, samples) }

// All returns the list of all samples.
func All(samples int) List { return NewList(samples).Not() }

// Add adds a sample to the list.
func (l List) Add(i int) { l[i] = true }

// Has reports whether the list has a sample.
func (l List) Has(i int) bool { return l[i] }

// Len returns the number of samples in the list.
func (l List) Len() int { return len(l.Members()) }

// Members returns the numbers of the samples in the list, in
// ascending order.
func (l List) Members() (list []int) {
	for i, in := range l {
		if in {
			list = append(list, i)
		}
	}
	return list
}

// Not returns the samples that l does not have.
func (l List) Not() List {
	n := NewList(len(l))
	for i := range l {
		n[i] = !l[i]
	}
	return n
}

// And returns the samples that both lists have.
func (l List) And(m List) List {
	n := NewList(len(l))
	for i := range l {
		n[i] = l[i] && m[i]
	}
	return n
}

// Spans returns the samples as spans without gaps: each has the
// samples from the first number up to, but not including, the
// second.
func (l List) Spans() [][2]int {
	var spans [][2]int
	for i := range l {
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
	c := make(Column, len(l))
	for i := range c {
		c[i] = truth(l.Has(i))
	}
	return c
}
