package metrics

import (
	"go/ast"
	"maps"
	"math"
	"slices"
	"strings"
)

// A function computes a call. The arguments are numbers.
type function struct {
	least, most int // number of arguments
	usage       string
	call        func(p *parser, n ast.Node, x []operand) (operand, error)
}

var functions = map[string]function{
	"abs": {1, 1, "abs(x)", func(_ *parser, _ ast.Node, x []operand) (operand, error) {
		return apply(x[0], x[0].unit, math.Abs), nil
	}},
	"log2": {1, 1, "log2(x)", func(_ *parser, _ ast.Node, x []operand) (operand, error) {
		return apply(x[0], Unit{}, logarithm(math.Log2)), nil
	}},
	"ln": {1, 1, "ln(x)", func(_ *parser, _ ast.Node, x []operand) (operand, error) {
		return apply(x[0], Unit{}, logarithm(math.Log)), nil
	}},
	"min": {2, 100, "min(x, y)",
		func(_ *parser, _ ast.Node, x []operand) (operand, error) { return fold(x, smaller), nil }},
	"max": {2, 100, "max(x, y)",
		func(_ *parser, _ ast.Node, x []operand) (operand, error) { return fold(x, larger), nil }},
	"delta": {1, 1, "delta(x)",
		func(p *parser, _ ast.Node, x []operand) (operand, error) { return p.delta(x[0]), nil }},
	"rate": {1, 1, "rate(x)",
		func(p *parser, _ ast.Node, x []operand) (operand, error) { return p.rate(x[0]), nil }},
	"lag": {2, 2, "lag(x, k)", (*parser).lag},
}

// usages lists all functions, with their arguments.
func usages() string {
	var all []string
	for _, f := range functions {
		all = append(all, f.usage)
	}
	for _, f := range rawFunctions {
		all = append(all, f.usage)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (p *parser) call(n ast.Node, name string, arguments []ast.Expr) (operand, error) {
	f, ok := functions[name]
	if !ok {
		if len(arguments) == 1 {
			if inner, _, ok := nameOf(arguments[0]); ok && (name == "len" || name == "cap") {
				return operand{}, p.fail(n, "%s",
					p.t.unknown("monitor", name+"("+inner+")",
						slices.Collect(maps.Keys(p.t.byName))))
			}
		}
		return operand{}, p.fail(n, "there is no function %s: there are %s", name, usages())
	}
	if len(arguments) < f.least || len(arguments) > f.most {
		return operand{}, p.fail(n, "want %s", f.usage)
	}
	var x []operand
	for _, a := range arguments {
		o, err := p.operand(a)
		if err == nil {
			err = p.want(a, o, isNumber, name)
		}
		if err != nil {
			return operand{}, err
		}
		x = append(x, o)
	}
	return f.call(p, n, x)
}

func apply(x operand, u Unit, compute func(x float64) float64) operand {
	return operand{node: each(x.node, compute), unit: u}
}

func fold(x []operand, compute func(x, y float64) float64) operand {
	o := x[0]
	for _, y := range x[1:] {
		o = operand{node: pairwise(o.node, y.node, compute), unit: common(o, y)}
	}
	return o
}

// counted returns the differences of a counter's values.
func (p *parser) counted(c Column) node {
	p.counters = append(p.counters, c)
	return differences(c, true)
}

func (p *parser) delta(x operand) operand { return p.difference(x, false) }

// difference returns the differences of an operand. A monitor's differences are
// even if spread says so.
func (p *parser) difference(x operand, even bool) operand {
	var d node
	switch {
	case x.differences != nil:
		d = x.differences(p, even)
	case x.level != nil && even:
		d = differences(x.level.even(), false)
	default:
		d = differences(evaluate(x.node, p.t.samples), false)
	}
	return operand{node: d, unit: x.unit, difference: d}
}

func (p *parser) rate(x operand) operand {
	d := p.difference(x, true)
	return operand{node: pairwise(d.node, p.t.seconds.at, divide),
		unit: x.unit.dividedBy(NewUnit("s")), difference: d.node}
}

func (p *parser) lag(n ast.Node, x []operand) (operand, error) {
	k := x[1]
	if !k.constant || k.value < 0 || k.value != math.Trunc(k.value) {
		return operand{}, p.fail(n, "lag(x, k): want a whole number k of samples, from 0 up")
	}
	by := int(min(k.value, float64(p.t.samples)))
	o := operand{node: lagged(x[0].node, by), unit: x[0].unit}
	if differences := x[0].differences; differences != nil {
		o.differences = func(p *parser, even bool) node {
			return lagged(differences(p, even), by)
		}
	}
	return o, nil
}
