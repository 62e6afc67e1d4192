package metrics

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
)

// valueKind is the kind of an operand's values.
type valueKind uint8

const (
	isNumber valueKind = iota
	isTruth
	isWord // the values are indexes of words
)

var kindNames = [...]string{"a number", "true or false", "a word"}

// An operand is a compiled part of an expression.
type operand struct {
	node     node
	kind     valueKind
	unit     Unit
	words    []string
	constant bool    // a number or word in the text
	value    float64 // of a constant number

	level *Monitor // if it is nothing but a level

	// Set for a counter, and for a sum or multiple of counters: delta(x), which
	// is undefined where a counter began anew.
	differences func(p *parser, even bool) node

	difference  node // of delta(x) and rate(x): delta(x)
	over, under node // of a quotient of two such: their differences
}

// A parser compiles one expression.
type parser struct {
	t        *Table
	s        *scanned
	deltas   []*delta
	restarts int             // in metrics that the expression refers to
	uses     map[string]bool // the monitors that it refers to, also by metrics
}

// countRestarts returns how often the counters of the expression began anew,
// once the expression is evaluated.
func (p *parser) countRestarts() int {
	byColumn := make(map[*float64]int)
	for _, d := range p.deltas {
		if restarts := int(d.restarts.Load()); restarts > 0 {
			byColumn[&d.column[0]] = restarts
		}
	}
	n := p.restarts
	for _, restarts := range byColumn {
		n += restarts
	}
	return n
}

// parse compiles the whole expression.
func (p *parser) parse() (operand, error) {
	tree, err := exprparser.Parse(p.s.masked)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return operand{}, p.errorAt(at.From, "%s", p.original(at))
		}
		return operand{}, p.errorAt(0, "%v", err)
	}
	return p.operand(tree.Node)
}

// original returns the message of an error, with the texts that were replaced
// before parsing.
func (p *parser) original(e *file.Error) string {
	msg, _, _ := strings.Cut(e.Message, "\n")
	if ref, ok := p.s.refs[e.From]; ok {
		mask := "x" + strings.Repeat("_", utf8.RuneCountInString(ref.text)-1)
		msg = strings.ReplaceAll(msg, fmt.Sprintf("%q", mask), fmt.Sprintf("%q", ref.text))
	}
	return msg
}

// errorAt returns an error that points at a character of the masked expression.
func (p *parser) errorAt(character int, format string, args ...any) error {
	offset := 0
	character = p.s.origin[min(max(character, 0), len(p.s.origin)-1)]
	for i := range p.s.input {
		if character == 0 {
			break
		}
		character--
		offset = i + 1
	}
	for offset < len(p.s.input) && !utf8.RuneStart(p.s.input[offset]) {
		offset++
	}
	return &callpath.SyntaxError{Input: p.s.input, Offset: min(offset, len(p.s.input)),
		Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) fail(n ast.Node, format string, args ...any) error {
	return p.errorAt(n.Location().From, format, args...)
}

func (p *parser) operand(n ast.Node) (operand, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return number(float64(n.Value)), nil
	case *ast.FloatNode:
		return number(n.Value), nil
	case *ast.BoolNode:
		return operand{node: newConstant(truth(n.Value)), kind: isTruth}, nil
	case *ast.StringNode:
		return operand{node: newConstant(0), kind: isWord, words: []string{n.Value},
			constant: true}, nil
	case *ast.IdentifierNode:
		return p.identifier(n)
	case *ast.UnaryNode:
		return p.unary(n)
	case *ast.BinaryNode:
		return p.binary(n)
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return p.call(n, f.Value, n.Arguments)
		}
	case *ast.BuiltinNode:
		return p.call(n, n.Name, n.Arguments)
	}
	if name, at, ok := nameOf(n); ok {
		return operand{}, p.fail(at, "%s", p.t.unknown("monitor or metric", name, p.t.Names()))
	}
	return operand{}, p.fail(n,
		"this is not possible in a metric: there are + - * /, comparisons, && || !, parentheses, and functions")
}

func number(x float64) operand { return operand{node: newConstant(x), constant: true, value: x} }

// nameOf returns the name that a chain of fields looks like: main.queue.size.
// It has no monitor: the scanner would have found it.
func nameOf(n ast.Node) (name string, at ast.Node, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value, n, true
	case *ast.ChainNode:
		return nameOf(n.Node)
	case *ast.MemberNode:
		name, at, ok = nameOf(n.Node)
		switch field := n.Property.(type) {
		case *ast.StringNode:
			return name + "." + field.Value, at, ok
		case *ast.IntegerNode:
			return fmt.Sprintf("%s[%d]", name, field.Value), at, ok
		}
	}
	return "", nil, false
}

func (p *parser) identifier(n *ast.IdentifierNode) (operand, error) {
	ref, ok := p.s.refs[n.Location().From]
	if !ok {
		return operand{}, p.fail(n, "%s", p.t.unknown("monitor or metric", n.Value, p.t.Names()))
	}
	if ref.function != "" {
		return p.rawCall(n, ref)
	}
	m := p.t.byName[ref.text]
	if m == nil {
		l, err := p.t.list(ref.text)
		return operand{node: whole{l.column()}, kind: isTruth}, err
	}
	if m.Expr != "" {
		metric, err := p.t.named(m)
		if err != nil {
			return operand{}, err
		}
		p.restarts += metric.Restarts
		maps.Copy(p.uses, metric.uses)
		return metric.operand(), nil
	}
	p.uses[m.Name] = true
	o := operand{node: whole{p.t.columnOf(m)}, unit: NewUnit(m.Unit)}
	switch {
	case m.Kind == sampledata.Nominal && !m.truth:
		o.kind, o.words = isWord, m.words
	case m.truth:
		o.kind = isTruth
	case m.Kind == sampledata.Counter:
		o.differences = func(p *parser, even bool) node {
			if even {
				return p.counted(p.t.evenOf(m))
			}
			return p.counted(p.t.growthOf(m))
		}
	default:
		o.level = m
	}
	return o, nil
}

// operand returns the operand that refers to a computed metric.
func (m *Metric) operand() operand {
	o := operand{node: whole{m.Column}, unit: m.Unit, words: m.Words}
	switch {
	case m.Counts:
		o.differences = m.grows
	case m.Truth:
		o.kind = isTruth
	case m.Words != nil:
		o.kind = isWord
	}
	if m.Over != nil {
		o.over, o.under = whole{m.Over}, whole{m.Under}
	}
	return o
}
