package calltree

import "github.com/cpprof/cpprof/internal/lists"

// Whole returns the same stacks with other denominators: costs
// are fractions of what all its stacks weigh together.
func (t *Tree) Whole() *Tree {
	whole := *t
	whole.metrics = lists.Each(t.metrics, (*Metric).whole)
	return &whole
}

func (m *Metric) whole() *Metric {
	w := *m
	w.Denominator = m.Cum(0)
	w.Denominator.Abs(w.Denominator)
	if m.hits != nil {
		w.hits = m.hits.whole()
	}
	return &w
}
