package metrics

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"

	"github.com/cpprof/cpprof/internal/lists"
)

var arithmetic = map[token.Token]func(x, y float64) float64{token.ADD: add, token.SUB: subtract,
	token.MUL: multiply, token.QUO: divide}

var comparisons = map[token.Token]func(x, y float64) float64{
	token.LSS: compared(func(x, y float64) bool { return x < y }),
	token.LEQ: compared(func(x, y float64) bool { return x <= y }),
	token.GTR: compared(func(x, y float64) bool { return x > y }),
	token.GEQ: compared(func(x, y float64) bool { return x >= y }),
	token.EQL: compared(func(x, y float64) bool { return x == y }),
	token.NEQ: compared(func(x, y float64) bool { return x != y }),
}

var logic = map[token.Token]func(x, y float64) float64{token.LAND: and, token.LOR: or}

// want returns an error if an operand is not of a kind.
func (p *parser) want(n ast.Node, o operand, kind valueKind, by string) error {
	switch {
	case o.kind == kind:
		return nil
	case o.kind == isWord:
		return p.fail(n, "%s takes no nominal monitor, whose values are words: numbers are %s",
			by, someOf(p.t.numeric()))
	case kind == isTruth:
		return p.fail(n, "%s takes what is true or false, and this is a number: compare it, such as with > 0", by)
	}
	return p.fail(n, "%s takes numbers, and this is %s", by, kindNames[o.kind])
}

func (p *parser) unary(n *ast.UnaryExpr) (operand, error) {
	x, err := p.operand(n.X)
	if err != nil {
		return operand{}, err
	}
	switch n.Op {
	case token.SUB:
		if x.constant && x.kind == isNumber {
			return number(-x.value), nil
		}
		return operand{node: each(x.node, func(x float64) float64 { return -x }),
			unit: x.unit}, p.want(n.X, x, isNumber, "-")
	case token.NOT:
		return operand{node: each(x.node, func(x float64) float64 { return 1 - x }),
			kind: isTruth}, p.want(n.X, x, isTruth, "!")
	case token.ADD:
		return x, p.want(n.X, x, isNumber, "+")
	}
	return operand{}, p.fail(n, "there is no operator %s in metrics", n.Op)
}

func (p *parser) binary(n *ast.BinaryExpr) (operand, error) {
	x, err := p.operand(n.X)
	if err != nil {
		return operand{}, err
	}
	y, err := p.operand(n.Y)
	if err != nil {
		return operand{}, err
	}
	both := func(kind valueKind) error {
		if err := p.want(n.X, x, kind, n.Op.String()); err != nil {
			return err
		}
		return p.want(n.Y, y, kind, n.Op.String())
	}
	if n.Op == token.SUB && x.kind == isTruth && y.kind == isTruth {
		return operand{node: pairwise(x.node, y.node, without), kind: isTruth}, nil
	}
	if compute := arithmetic[n.Op]; compute != nil {
		return calculated(n.Op, x, y, compute), both(isNumber)
	}
	if compute := logic[n.Op]; compute != nil {
		return operand{node: pairwise(x.node, y.node, compute), kind: isTruth}, both(isTruth)
	}
	compute := comparisons[n.Op]
	if compute == nil {
		return operand{}, p.fail(n,
			"there is no operator %s in metrics: there are + - * /, comparisons, && || and !",
			n.Op)
	}
	o := operand{node: pairwise(x.node, y.node, compute), kind: isTruth}
	switch {
	case n.Op != token.EQL && n.Op != token.NEQ:
		return o, both(isNumber)
	case x.kind == isWord || y.kind == isWord:
		x, y = x.asWords(), y.asWords()
		if x.kind != isWord || y.kind != isWord {
			return operand{}, p.fail(n,
				"%s compares a nominal monitor with a word, such as \"off\"", n.Op)
		}
		o.node = pairwise(x.node, y.translated(x.words), compute)
		return o, nil
	}
	return o, both(x.kind)
}

// calculated returns the result of an arithmetic operator.
func calculated(operator token.Token, x, y operand, compute func(x, y float64) float64) operand {
	o := operand{node: pairwise(x.node, y.node, compute),
		differences: differencesOf(operator, x, y, compute)}
	scaled := x.constant || y.constant // a factor may convert the unit to another one
	switch {
	case operator == token.MUL && !scaled:
		o.unit = x.unit.times(y.unit)
	case operator == token.QUO && !scaled:
		o.unit = x.unit.dividedBy(y.unit)
	case operator == token.ADD || operator == token.SUB:
		o.unit = common(x, y)
	}
	if operator == token.QUO && x.difference != nil && y.difference != nil {
		o.over, o.under = x.difference, y.difference
	}
	return o
}

// differencesOf returns the differences of a sum of counters, or
// of a counter multiplied or divided by a number above 0.
func differencesOf(operator token.Token, x, y operand,
	compute func(x, y float64) float64) func(*parser, bool) node {
	if operator == token.MUL && x.constant {
		x, y = y, x
	}
	switch {
	case x.differences == nil:
		return nil
	case operator == token.ADD && y.differences != nil:
		return func(p *parser, even bool) node {
			return pairwise(x.differences(p, even), y.differences(p, even), compute)
		}
	case (operator == token.MUL || operator == token.QUO) && y.constant && y.value > 0:
		return func(p *parser, even bool) node {
			return pairwise(x.differences(p, even), y.node, compute)
		}
	}
	return nil
}

// asWords returns a number in the text as the word that it looks
// like. A nominal monitor with the words 0 and 1 then compares
// with numbers.
func (o operand) asWords() operand {
	if o.kind == isNumber && o.constant {
		return operand{node: constant(0), kind: isWord, constant: true,
			words: []string{strconv.FormatFloat(o.value, 'g', -1, 64)}}
	}
	return o
}

// translated returns the operand's words as indexes of other
// words. A word without an index is -1.
func (o operand) translated(words []string) node {
	codes := lists.Each(o.words, func(w string) float64 { return float64(slices.Index(words, w)) })
	return each(o.node, func(x float64) float64 {
		if !Defined(x) {
			return x
		}
		return codes[int(x)]
	})
}
