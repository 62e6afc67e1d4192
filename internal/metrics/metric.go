package metrics

import (
	"fmt"
	"strings"
)

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

	uses  map[string]bool          // the monitors that it is computed of
	grows func(*parser, bool) node // of a counter: its differences
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
	m := &Metric{Expr: expr, Column: evaluate(o.node, t.samples), Unit: o.unit,
		Truth: o.kind == isTruth, Counts: o.differences != nil, uses: p.uses, grows: o.differences}
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

// AllNumbers computes several expressions as Numbers does.
func (t *Table) AllNumbers(exprs ...string) ([]*Metric, error) {
	var list []*Metric
	for _, e := range exprs {
		m, err := t.Numbers(e)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// Numbers computes an expression. Its values are numbers, or true and false.
func (t *Table) Numbers(expr string) (*Metric, error) {
	m, err := t.Metric(expr)
	if err != nil {
		return nil, err
	}
	if m.Words != nil {
		return nil, fmt.Errorf("%s is nominal, and its values are words: %s; numbers are %s",
			expr, someOf(m.Words), someOf(t.numeric()))
	}
	return m, nil
}

// Split splits a list of expressions at the commas outside of
// parentheses, brackets and quotes.
func Split(s string) []string {
	var list []string
	depth, begin := 0, 0
	quote := rune(0)
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case strings.ContainsRune("\"'`", r):
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			list = append(list, strings.TrimSpace(s[begin:i]))
			begin = i + 1
		}
	}
	return append(list, strings.TrimSpace(s[begin:]))
}
