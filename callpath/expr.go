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

// An Expr is a boolean expression over call paths. For a given
// stack, it is true or false.
type Expr struct {
	Op   Op
	Path Path   // of OpPath
	Args []Expr // one of OpNot, two or more of OpAnd and OpOr
}

// ParseExpr reads paths joined by "and", "or", "not" and
// parentheses; "not" binds tightest, then "and". A "(" groups at
// the start of a word. A ")" groups if no "(" in the name before
// it is open. The name of a function called "and" must be in
// quotes. Errors are *SyntaxError.
func ParseExpr(s string) (Expr, error) {
	l := newLexer("prune expression", s)
	e := l.operands(OpOr)
	if l.tok.kind != tokEnd {
		l.stray("nothing opens this parenthesis")
	}
	return e, l.err
}

// operands reads the operands of "or" or of "and".
func (l *lexer) operands(op Op) Expr {
	operand, joint := l.operand, tokAnd
	if op == OpOr {
		operand, joint = func() Expr { return l.operands(OpAnd) }, tokOr
	}
	e := Expr{Op: op, Args: []Expr{operand()}}
	for l.tok.kind == joint {
		l.next()
		e.Args = append(e.Args, operand())
	}
	if len(e.Args) == 1 {
		return e.Args[0]
	}
	return e
}

// operand reads a path, a group, or the negation of one.
func (l *lexer) operand() Expr {
	opened := l.tok.offset
	switch l.tok.kind {
	case tokElement:
		return Expr{Path: l.path()}
	case tokNot:
		l.next()
		return Expr{Op: OpNot, Args: []Expr{l.operand()}}
	case tokOpen:
		l.next()
	default:
		l.stray("want a call path before this parenthesis")
		return Expr{}
	}
	e := l.operands(OpOr)
	switch l.tok.kind {
	case tokClose:
		l.next()
	case tokEnd:
		l.fail(opened, "the parenthesis is not closed")
	default:
		l.stray("")
	}
	return e
}

// stray notes that the current token is not allowed at its
// position; unopened is the message for a ")".
func (l *lexer) stray(unopened string) {
	switch l.tok.kind {
	case tokClose:
		l.fail(l.tok.offset, "%s", unopened)
	case tokAnd, tokOr:
		word := l.input[l.tok.offset:l.at]
		l.fail(l.tok.offset,
			"want a call path before %s; a function of this name is written %q", word, word)
	case tokBar:
		l.fail(l.tok.offset, `a bar is for splits: write or, or "|" for a function of this name`)
	case tokEnd:
		l.fail(l.tok.offset, "want a call path, but nothing is left")
	default:
		l.fail(l.tok.offset, "want and, or, or the end here")
	}
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

// Eval evaluates the expression; satisfied says which of its
// Paths a stack satisfies.
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
