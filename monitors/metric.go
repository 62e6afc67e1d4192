package monitors

import "fmt"

// A Metric is an expression with its values.
type Metric struct {
	Expr   string
	Column Column
	Unit   Unit
	Truth  bool     // a predicate: 1 for true, 0 for false
	Words  []string // of nominal values, which are indexes of Words; else nil
	Counts bool     // a counter: only its differences have a meaning

	Restarts int // how often a counter began anew: these differences are undefined

	// Of a quotient of two differences: both. Else they are nil.
	Over, Under Column

	uses map[string]bool // the monitors that it is computed of
}

// Metric computes an expression. An error in it is a *callpath.SyntaxError.
func (t *Table) Metric(expr string) (*Metric, error) {
	if m, ok := t.metrics[expr]; ok {
		return m, nil
	}
	s, err := t.scan(expr)
	if err != nil {
		return nil, err
	}
	p := &parser{t: t, s: s, uses: make(map[string]bool)}
	o, err := p.parse()
	if err != nil {
		return nil, err
	}
	m := &Metric{Expr: expr, Column: evaluate(o.node, t.samples), Unit: o.unit, Truth: o.kind == isTruth, Counts: o.differences != nil, uses: p.uses}
	if o.kind == isWord {
		m.Words = o.words
	}
	m.Restarts = p.countRestarts()
	if o.over != nil {
		m.Over, m.Under = evaluate(o.over, t.samples), evaluate(o.under, t.samples)
	}
	t.metrics[expr] = m
	return m, nil
}

// named computes the metric of a definition.
func (t *Table) named(m *Monitor) (*Metric, error) {
	if t.busy[m.Name] {
		return nil, fmt.Errorf("metric %s is defined by itself: %s", m.Name, m.Expr)
	}
	t.busy[m.Name] = true
	defer delete(t.busy, m.Name)
	metric, err := t.Metric(m.Expr)
	if err != nil {
		return nil, fmt.Errorf("metric %s: %w", m.Name, err)
	}
	return metric, nil
}

// Numbers computes an expression whose values are numbers, or true and false.
func (t *Table) Numbers(expr string) (*Metric, error) {
	m, err := t.Metric(expr)
	if err != nil {
		return nil, err
	}
	if m.Words != nil {
		return nil, fmt.Errorf("%s is nominal, and its values are words: %s; numbers are %s", expr, someOf(m.Words), someOf(t.numeric()))
	}
	return m, nil
}
