package metrics

import (
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
)

var arithmetic = map[string]func(out, x, y []float64){"+": add, "-": subtract,
	"*": multiply, "/": divide}

var comparisons = map[string]func(out, x, y []float64){
	"<": less, "<=": lessOrEqual, ">": greater, ">=": greaterOrEqual, "==": equal, "!=": notEqual,
}

var logic = map[string]func(out, x, y []float64){"&&": and, "and": and, "||": or, "or": or}

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

func (p *parser) unary(n *ast.UnaryNode) (operand, error) {
	x, err := p.operand(n.Node)
	if err != nil {
		return operand{}, err
	}
	switch n.Operator {
	case "-":
		if x.constant && x.kind == isNumber {
			return number(-x.value), nil
		}
		return operand{node: &unary{x.node, each(func(x float64) float64 { return -x })},
			unit: x.unit}, p.want(n.Node, x, isNumber, "-")
	case "!", "not":
		return operand{node: &unary{x.node, each(func(x float64) float64 { return 1 - x })},
			kind: isTruth}, p.want(n.Node, x, isTruth, "!")
	case "+":
		return x, p.want(n.Node, x, isNumber, "+")
	}
	return operand{}, p.fail(n, "there is no operator %s in metrics", n.Operator)
}

func (p *parser) binary(n *ast.BinaryNode) (operand, error) {
	x, err := p.operand(n.Left)
	if err != nil {
		return operand{}, err
	}
	y, err := p.operand(n.Right)
	if err != nil {
		return operand{}, err
	}
	both := func(kind valueKind) error {
		if err := p.want(n.Left, x, kind, n.Operator); err != nil {
			return err
		}
		return p.want(n.Right, y, kind, n.Operator)
	}
	if n.Operator == "-" && x.kind == isTruth && y.kind == isTruth {
		return operand{node: newBinary(x.node, y.node, without), kind: isTruth}, nil
	}
	if compute := arithmetic[n.Operator]; compute != nil {
		return calculated(n.Operator, x, y, compute), both(isNumber)
	}
	if compute := logic[n.Operator]; compute != nil {
		return operand{node: newBinary(x.node, y.node, compute), kind: isTruth}, both(isTruth)
	}
	compute := comparisons[n.Operator]
	if compute == nil {
		return operand{}, p.fail(n,
			"there is no operator %s in metrics: there are + - * /, comparisons, && || and !",
			n.Operator)
	}
	o := operand{node: newBinary(x.node, y.node, compute), kind: isTruth}
	switch {
	case n.Operator != "==" && n.Operator != "!=":
		return o, both(isNumber)
	case x.kind == isWord || y.kind == isWord:
		x, y = x.asWords(), y.asWords()
		if x.kind != isWord || y.kind != isWord {
			return operand{}, p.fail(n,
				"%s compares a nominal monitor with a word, such as \"off\"", n.Operator)
		}
		o.node = newBinary(x.node, y.translated(x.words), compute)
		return o, nil
	}
	return o, both(x.kind)
}

// calculated returns the result of an arithmetic operator.
func calculated(operator string, x, y operand, compute func(out, x, y []float64)) operand {
	o := operand{node: newBinary(x.node, y.node, compute),
		differences: differencesOf(operator, x, y, compute)}
	scaled := x.constant || y.constant // a factor may convert the unit to another one
	switch {
	case operator == "*" && !scaled:
		o.unit = x.unit.times(y.unit)
	case operator == "/" && !scaled:
		o.unit = x.unit.dividedBy(y.unit)
	case operator == "+" || operator == "-":
		o.unit = common(x, y)
	}
	if operator == "/" && x.difference != nil && y.difference != nil {
		o.over, o.under = x.difference, y.difference
	}
	return o
}

// differencesOf returns the differences of a sum of counters, or of a counter
// multiplied or divided by a number above 0.
func differencesOf(operator string, x, y operand,
	compute func(out, x, y []float64)) func(*parser, bool) node {
	if operator == "*" && x.constant {
		x, y = y, x
	}
	switch {
	case x.differences == nil:
		return nil
	case operator == "+" && y.differences != nil:
		return func(p *parser, even bool) node {
			return newBinary(x.differences(p, even), y.differences(p, even), compute)
		}
	case (operator == "*" || operator == "/") && y.constant && y.value > 0:
		return func(p *parser, even bool) node {
			return newBinary(x.differences(p, even), y.node, compute)
		}
	}
	return nil
}

// asWords returns a number in the text as the word that it looks like. A
// nominal monitor with the words 0 and 1 then compares with numbers.
func (o operand) asWords() operand {
	if o.kind == isNumber && o.constant {
		return operand{node: newConstant(0), kind: isWord, constant: true,
			words: []string{strconv.FormatFloat(o.value, 'g', -1, 64)}}
	}
	return o
}

// translated returns the operand's words as indexes of other words. A word
// without an index is -1.
func (o operand) translated(words []string) node {
	codes := make([]float64, len(o.words))
	for i, w := range o.words {
		codes[i] = float64(slices.Index(words, w))
	}
	return &unary{o.node, each(func(x float64) float64 {
		if !Defined(x) {
			return x
		}
		return codes[int(x)]
	})}
}
