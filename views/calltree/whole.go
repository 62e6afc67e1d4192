package calltree

// Whole returns the same stacks with other denominators: costs
// are fractions of what all its stacks weigh together.
func (t *Tree) Whole() *Tree {
	whole := *t
	whole.metrics = make([]*Metric, len(t.metrics))
	for i, m := range t.metrics {
		whole.metrics[i] = m.whole()
	}
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
