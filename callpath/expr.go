package callpath

import (
	"fmt"
	"strings"
)

// An Op is the kind of an Expr.
type Op uint8

const (
	OpPath Op = iota
	OpNot
	OpAnd
	OpOr
)

// An Expr is a boolean expression over call paths. For a given stack, it is
// true or false.
type Expr struct {
	Op   Op
	Path Path   // of OpPath
	Args []Expr // one of OpNot, two or more of OpAnd and OpOr
}

// ParseExpr reads paths joined by "and", "or", "not" and parentheses; "not"
// binds tightest, then "and". A "(" groups at the start of a word. A ")" groups
// if no "(" in the name before it is open. The name of a function called "and"
// must be in quotes. Errors are *SyntaxError.
func ParseExpr(s string) (Expr, error) {
	l, err := newLexer("prune expression", s)
	if err != nil {
		return Expr{}, err
	}
	p := exprParser{lexer: l}
	if err := p.advance(); err != nil {
		return Expr{}, err
	}
	e, err := p.operands(OpOr)
	if err != nil {
		return Expr{}, err
	}
	if p.tok.kind == tokEnd {
		return e, nil
	}
	return Expr{}, p.stray("nothing opens this parenthesis")
}

type exprParser struct {
	*lexer
	tok token // not yet used
}

func (p *exprParser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// operands reads the operands of "or" or of "and".
func (p *exprParser) operands(op Op) (Expr, error) {
	operand, joint := p.operand, tokAnd
	if op == OpOr {
		operand, joint = func() (Expr, error) { return p.operands(OpAnd) }, tokOr
	}
	first, err := operand()
	if err != nil || p.tok.kind != joint {
		return first, err
	}
	e := Expr{Op: op, Args: []Expr{first}}
	for p.tok.kind == joint {
		if err := p.advance(); err != nil {
			return Expr{}, err
		}
		arg, err := operand()
		if err != nil {
			return Expr{}, err
		}
		e.Args = append(e.Args, arg)
	}
	return e, nil
}

// operand reads a path, a group, or the negation of one.
func (p *exprParser) operand() (Expr, error) {
	var nots int
	for p.tok.kind == tokNot {
		nots++
		if err := p.advance(); err != nil {
			return Expr{}, err
		}
	}
	e, err := p.group()
	for ; nots > 0 && err == nil; nots-- {
		e = Expr{Op: OpNot, Args: []Expr{e}}
	}
	return e, err
}

func (p *exprParser) group() (e Expr, err error) {
	if p.tok.kind == tokElement {
		e.Path, p.tok, err = p.path(p.tok)
		return e, err
	}
	if p.tok.kind != tokOpen {
		return e, p.stray("want a call path before this parenthesis")
	}
	opened := p.tok.offset
	if err := p.advance(); err != nil {
		return e, err
	}
	if e, err = p.operands(OpOr); err != nil {
		return e, err
	}
	if p.tok.kind == tokEnd {
		return e, p.fail(opened, "the parenthesis is not closed")
	}
	if p.tok.kind != tokClose {
		return e, p.stray("")
	}
	return e, p.advance()
}

// stray returns the error for the current token, which is not allowed at its
// position; unopened is the message for a ")".
func (p *exprParser) stray(unopened string) error {
	switch p.tok.kind {
	case tokClose:
		return p.fail(p.tok.offset, "%s", unopened)
	case tokAnd, tokOr:
		word := p.input[p.tok.offset:p.at]
		return p.fail(p.tok.offset,
			"want a call path before %s; a function of this name is written %q", word, word)
	case tokBar:
		return p.fail(p.tok.offset,
			`a bar is for splits: write or, or "|" for a function of this name`)
	case tokEnd:
		return p.fail(p.tok.offset, "want a call path, but nothing is left")
	}
	return p.fail(p.tok.offset, "want and, or, or the end here")
}

// String prints the expression so that ParseExpr can read it.
func (e Expr) String() string {
	var b strings.Builder
	e.print(&b)
	return b.String()
}

func (e Expr) print(b *strings.Builder) {
	if e.Op == OpPath {
		b.WriteString(e.Path.String())
		return
	}
	for i, a := range e.Args {
		switch {
		case e.Op == OpNot:
			b.WriteString("not ")
		case i > 0:
			fmt.Fprintf(b, " %s ", map[Op]string{OpAnd: "and", OpOr: "or"}[e.Op])
		}
		if a.Op < e.Op || a.Op == OpNot && e.Op == OpNot {
			a.print(b)
			continue
		}
		b.WriteByte('(')
		a.print(b)
		b.WriteByte(')')
	}
}

// Paths returns the paths of the expression, in order.
func (e Expr) Paths() []Path { return e.appendPaths(nil) }

func (e Expr) appendPaths(ps []Path) []Path {
	if e.Op == OpPath {
		return append(ps, e.Path)
	}
	for _, a := range e.Args {
		ps = a.appendPaths(ps)
	}
	return ps
}

// Eval evaluates the expression; satisfied says which of its Paths a stack
// satisfies.
func (e Expr) Eval(satisfied []bool) bool {
	value, _ := e.eval(satisfied)
	return value
}

// eval uses the satisfied flags of its own paths, and returns the rest.
func (e Expr) eval(satisfied []bool) (bool, []bool) {
	if e.Op == OpPath {
		return satisfied[0], satisfied[1:]
	}
	result := e.Op == OpAnd
	for i := range e.Args {
		var h bool
		h, satisfied = e.Args[i].eval(satisfied)
		switch e.Op {
		case OpNot:
			result = !h
		case OpAnd:
			result = result && h
		case OpOr:
			result = result || h
		}
	}
	return result, satisfied
}
