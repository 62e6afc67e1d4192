package callpath

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxInput limits the length of an input, in bytes.
const maxInput = 64 << 10

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokElement
	tokOpen
	tokClose
	tokBar
	tokAnd
	tokOr
	tokNot
)

var keywords = map[string]tokenKind{"|": tokBar, "and": tokAnd, "or": tokOr, "not": tokNot}

type token struct {
	kind    tokenKind
	offset  int
	spec    Spec // of an element
	element Element
}

// A lexer splits an input into tokens. After a mistake, it is at
// the end. what names the kind of input in errors.
type lexer struct {
	what, input string
	at          int   // after the token
	tok         token // the current one
	err         error // the first mistake
}

// newLexer returns a lexer with the first token of an input.
func newLexer(what, input string) *lexer {
	l := &lexer{what: what, input: input}
	if len(input) > maxInput {
		l.fail(maxInput, "longer than %d bytes", maxInput)
	}
	l.next()
	return l
}

// next goes to the next token.
func (l *lexer) next() {
	if l.tok = l.scan(); l.err != nil {
		l.tok = token{}
	}
}

// scan reads a token. A parenthesis is a token of its own at the
// start of a token. A ")" also is, if no "(" in the name before
// it is still open.
func (l *lexer) scan() token {
	l.skipSpace()
	tok := token{offset: l.at}
	rest := l.input[l.at:]
	switch {
	case rest == "":
		return tok
	case rest[0] == '(':
		l.at++
		tok.kind = tokOpen
		return tok
	case rest[0] == ')':
		l.at++
		tok.kind = tokClose
		return tok
	}
	tok.kind = tokElement
	for _, spec := range []Spec{Extended, InPlace} {
		if sign := spec.String(); strings.HasPrefix(rest, sign) {
			tok.spec = spec
			l.at += len(sign)
			if l.at == len(l.input) || l.spaceAt(l.at) > 0 {
				l.fail(tok.offset,
					"no name follows the %[1]s: write it right before a name, as in A %[1]sB", sign)
				return tok
			}
			break
		}
	}
	if l.input[l.at] == '"' {
		tok.element = Frame(l.quoted())
		return tok
	}
	name := l.bare()
	tok.element = Element{Name: name}
	if kind, ok := keywords[name]; ok && tok.spec == Immediate {
		tok.kind = kind
	}
	return tok
}

func (l *lexer) skipSpace() {
	for {
		n := l.spaceAt(l.at)
		if n == 0 {
			return
		}
		l.at += n
	}
}

// spaceAt returns the length of the blank at offset i, or 0.
func (l *lexer) spaceAt(i int) int {
	if i == len(l.input) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(l.input[i:])
	if unicode.IsSpace(r) {
		return n
	}
	return 0
}

// bare reads a name without quotes.
func (l *lexer) bare() string {
	start := l.at
	var open []int
scan:
	for l.at < len(l.input) && l.spaceAt(l.at) == 0 {
		switch l.input[l.at] {
		case '"':
			l.fail(l.at,
				`a quote inside a name: put the whole name in quotes, and write \" for a quote in it`)
			return ""
		case '(':
			open = append(open, l.at)
		case ')':
			if len(open) == 0 {
				break scan
			}
			open = open[:len(open)-1]
		}
		_, n := utf8.DecodeRuneInString(l.input[l.at:])
		l.at += n
	}
	name := l.input[start:l.at]
	switch {
	case len(open) > 0:
		l.fail(open[0], "a parenthesis of a name is not closed: put the name in quotes")
	case name == "" || name[0] == '(':
		l.fail(start,
			"a parenthesis after .. or >: put a name that begins with one in quotes")
	case name == "@":
		l.fail(start, "an aspect's name must follow the @")
	case name[0] == '@' && needsQuotes(name):
		l.fail(start, "an aspect's name has characters that do not print")
	}
	return name
}

// quoted reads a name in double quotes, with Go's backslash escapes.
func (l *lexer) quoted() string {
	start := l.at
	l.at++
	var b strings.Builder
	for l.at < len(l.input) {
		switch c := l.input[l.at]; c {
		case '"':
			l.at++
			if l.at < len(l.input) && l.spaceAt(l.at) == 0 && l.input[l.at] != ')' {
				l.fail(l.at, "a blank must follow a name in quotes")
			}
			return b.String()
		case '\\':
			r, multibyte, tail, err := strconv.UnquoteChar(l.input[l.at:], '"')
			if err != nil {
				l.fail(l.at, `unknown escape: \\ is a backslash, \" a quote`)
				return ""
			}
			if multibyte {
				b.WriteRune(r)
			} else {
				b.WriteByte(byte(r))
			}
			l.at = len(l.input) - len(tail)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	l.fail(start, "the quote is not closed")
	return ""
}
