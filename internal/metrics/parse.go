package metrics

import (
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
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

	// Set for a counter, and for a sum or multiple of counters:
	// delta(x), which is undefined where a counter began anew.
	differences func(p *parser, even bool) node

	difference  node // of delta(x) and rate(x): delta(x)
	over, under node // of a quotient of two such: their differences
}

// A parser compiles one expression.
type parser struct {
	t        *Table
	s        *scanned
	counters []Column        // that the expression has the differences of
	restarts int             // in metrics that the expression refers to
	uses     map[string]bool // the monitors that it refers to, also by metrics
}

// countRestarts returns how often the counters of the expression
// began anew. Each counts once.
func (p *parser) countRestarts() int {
	n := p.restarts
	counted := make(map[*float64]bool)
	for _, c := range p.counters {
		if len(c) == 0 || counted[&c[0]] {
			continue
		}
		counted[&c[0]] = true
		for i, x := range c[1:] {
			if x < c[i] {
				n++
			}
		}
	}
	return n
}

// parse compiles the whole expression.
func (p *parser) parse() (operand, error) {
	tree, err := goparser.ParseExprFrom(token.NewFileSet(), "", p.s.masked, 0)
	if err != nil {
		if all, ok := errors.AsType[scanner.ErrorList](err); ok {
			at := all[0].Pos.Offset
			return operand{}, p.errorAt(at, "%s", p.original(at, all[0].Msg))
		}
		return operand{}, p.errorAt(0, "%v", err)
	}
	return p.operand(tree)
}

// original returns the message of an error, with the texts that
// were replaced before parsing. An expression has one line.
func (p *parser) original(at int, msg string) string {
	if msg == "missing ',' before newline in argument list" {
		return "a ) is missing"
	}
	if ref, ok := p.s.refs[at]; ok {
		msg = strings.ReplaceAll(msg, "x"+strings.Repeat("_", len(ref.text)-1), ref.text)
	}
	return msg
}

// errorAt returns an error that points at a byte of the masked expression.
func (p *parser) errorAt(at int, format string, args ...any) error {
	return &callpath.SyntaxError{Input: p.s.input,
		Offset: p.s.origin[min(max(at, 0), len(p.s.origin)-1)], Msg: fmt.Sprintf(format, args...)}
}

// position returns the byte of the masked expression at which a
// node begins.
func position(n ast.Node) int { return int(n.Pos()) - 1 }

func (p *parser) fail(n ast.Node, format string, args ...any) error {
	return p.errorAt(position(n), format, args...)
}

func (p *parser) operand(n ast.Expr) (operand, error) {
	switch n := n.(type) {
	case *ast.BasicLit:
		return p.literal(n)
	case *ast.Ident:
		return p.identifier(n)
	case *ast.ParenExpr:
		return p.operand(n.X)
	case *ast.UnaryExpr:
		return p.unary(n)
	case *ast.BinaryExpr:
		return p.binary(n)
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && !n.Ellipsis.IsValid() {
			return p.call(n, f.Name, n.Args)
		}
	}
	if name, at, ok := nameOf(n); ok {
		return operand{}, p.fail(at, "%s", p.t.unknown("monitor or metric", name, p.t.Names()))
	}
	return operand{}, p.fail(n,
		"this is not possible in a metric: there are + - * /, comparisons, && || !, parentheses, and functions")
}

func (p *parser) literal(n *ast.BasicLit) (operand, error) {
	switch n.Kind {
	case token.STRING:
		word, err := strconv.Unquote(n.Value)
		return operand{node: constant(0), kind: isWord, words: []string{word},
			constant: true}, err
	case token.INT:
		if x, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return number(float64(x)), nil
		}
		fallthrough
	case token.FLOAT:
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return number(x), nil
		}
	}
	return operand{}, p.fail(n, "%s is not a number", n.Value)
}

func number(x float64) operand { return operand{node: constant(x), constant: true, value: x} }

// nameOf returns the name that a chain of fields looks like:
// main.queue.size. It has no monitor: the scanner would have
// found it.
func nameOf(n ast.Expr) (name string, at ast.Node, ok bool) {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name, n, true
	case *ast.SelectorExpr:
		name, at, ok = nameOf(n.X)
		return name + "." + n.Sel.Name, at, ok
	case *ast.IndexExpr:
		if index, isLiteral := n.Index.(*ast.BasicLit); isLiteral {
			name, at, ok = nameOf(n.X)
			return name + "[" + index.Value + "]", at, ok
		}
	}
	return "", nil, false
}

func (p *parser) identifier(n *ast.Ident) (operand, error) {
	ref, ok := p.s.refs[position(n)]
	if !ok {
		if n.Name == "true" || n.Name == "false" {
			return operand{node: constant(truth(n.Name == "true")), kind: isTruth}, nil
		}
		return operand{}, p.fail(n, "%s", p.t.unknown("monitor or metric", n.Name, p.t.Names()))
	}
	if ref.function != "" {
		return p.rawCall(n, ref)
	}
	m := p.t.byName[ref.text]
	if m == nil {
		l, err := p.t.list(ref.text)
		return operand{node: l.column().at, kind: isTruth}, err
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
	o := operand{node: m.column().at, unit: NewUnit(m.Unit)}
	switch {
	case m.Kind == sampledata.Nominal && !m.truth:
		o.kind, o.words = isWord, m.words
	case m.truth:
		o.kind = isTruth
	case m.Kind == sampledata.Counter:
		o.differences = func(p *parser, even bool) node {
			if even {
				return p.counted(m.even())
			}
			return p.counted(m.growth())
		}
	default:
		o.level = m
	}
	return o, nil
}

// operand returns the operand that refers to a computed metric.
func (m *Metric) operand() operand {
	o := operand{node: m.Column.at, unit: m.Unit, words: m.Words}
	switch {
	case m.Counts:
		o.differences = m.grows
	case m.Truth:
		o.kind = isTruth
	case m.Words != nil:
		o.kind = isWord
	}
	if m.Over != nil {
		o.over, o.under = m.Over.at, m.Under.at
	}
	return o
}
