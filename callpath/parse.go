package callpath

// Parse reads a call path: elements with blanks between them.
// ".." stands right before an element that is called at some
// distance, and ">" right before one that is called in place. A
// name with blanks must be in double quotes; a name in quotes is
// never an aspect. Errors are *SyntaxError.
func Parse(s string) (Path, error) {
	l := newLexer("call path", s)
	p := l.path()
	l.expect(tokEnd, "a path ends here")
	return p, l.err
}

// MarshalText returns the path as String prints it.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a path as Parse does.
func (p *Path) UnmarshalText(text []byte) (err error) {
	*p, err = Parse(string(text))
	return err
}

// ParseSplit reads "P1 | P2": the two parts of a path P1 ..P2
// that is to be split.
func ParseSplit(s string) (p1, p2 Path, err error) {
	l := newLexer("split", s)
	p1 = l.path()
	l.expect(tokBar, "want a bar with blanks around it, as in P1 | P2")
	l.next()
	p2 = l.path()
	l.expect(tokEnd, "the second part ends here")
	return p1, p2, l.err
}

// path reads a path that begins with the current token.
func (l *lexer) path() (p Path) {
	for l.tok.kind == tokElement {
		if len(p.Elements) > 0 {
			p.Specs = append(p.Specs, l.tok.spec)
		} else if l.tok.spec != Immediate {
			l.fail(l.tok.offset,
				"a path begins with an element: nothing is before this %s", l.tok.spec)
		}
		p.Elements = append(p.Elements, l.tok.element)
		l.next()
	}
	if len(p.Elements) == 0 {
		l.unexpected("want a call path")
	}
	return p
}

// expect notes that the current token must be of a kind.
func (l *lexer) expect(kind tokenKind, want string) {
	if l.tok.kind != kind {
		l.unexpected(want)
	}
}

// unexpected notes that the current token is not allowed at its position.
func (l *lexer) unexpected(want string) {
	switch l.tok.kind {
	case tokEnd:
		l.fail(l.tok.offset, "%s, but nothing is left", want)
	case tokOpen, tokClose:
		l.fail(l.tok.offset, "%s: put a name with such a parenthesis in quotes", want)
	case tokBar:
		l.fail(l.tok.offset, `%s: a function of this name is written "|"`, want)
	case tokElement:
		l.fail(l.tok.offset, "%s", want)
	default:
		word := l.input[l.tok.offset:l.at]
		l.fail(l.tok.offset, "%s: %s is for prune expressions; a function of this name is written %q",
			want, word, word)
	}
}
