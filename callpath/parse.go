package callpath

// Parse reads a call path: elements with blanks between them. ".." stands right
// before an element that is called at some distance, and ">" right before one
// that is called in place. A name with blanks must be in double quotes; a name
// in quotes is never an aspect. Errors are *SyntaxError.
func Parse(s string) (Path, error) {
	l, err := newLexer("call path", s)
	if err != nil {
		return Path{}, err
	}
	tok, err := l.next()
	if err != nil {
		return Path{}, err
	}
	p, tok, err := l.path(tok)
	if err != nil {
		return Path{}, err
	}
	if tok.kind != tokEnd {
		return Path{}, l.unexpected(tok, "a path ends here")
	}
	return p, nil
}

// MarshalText returns the path as String prints it.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a path as Parse does.
func (p *Path) UnmarshalText(text []byte) (err error) {
	*p, err = Parse(string(text))
	return err
}

// ParseSplit reads "P1 | P2": the two parts of a path P1 ..P2 that is to be
// split.
func ParseSplit(s string) (p1, p2 Path, err error) {
	l, err := newLexer("split", s)
	if err != nil {
		return Path{}, Path{}, err
	}
	tok, err := l.next()
	if err != nil {
		return Path{}, Path{}, err
	}
	if p1, tok, err = l.path(tok); err != nil {
		return Path{}, Path{}, err
	}
	if tok.kind != tokBar {
		return Path{}, Path{}, l.unexpected(tok, "want a bar with blanks around it, as in P1 | P2")
	}
	if tok, err = l.next(); err != nil {
		return Path{}, Path{}, err
	}
	if p2, tok, err = l.path(tok); err != nil {
		return Path{}, Path{}, err
	}
	if tok.kind != tokEnd {
		return Path{}, Path{}, l.unexpected(tok, "the second part ends here")
	}
	return p1, p2, nil
}

// path reads a path whose first token is tok, and returns the token after it.
func (l *lexer) path(tok token) (Path, token, error) {
	var p Path
	for tok.kind == tokElement {
		if len(p.Elements) > 0 {
			p.Specs = append(p.Specs, tok.spec)
		} else if tok.spec != Immediate {
			return p, tok, l.fail(tok.offset,
				"a path begins with an element: nothing is before this %s", tok.spec)
		}
		p.Elements = append(p.Elements, tok.element)
		var err error
		if tok, err = l.next(); err != nil {
			return p, tok, err
		}
	}
	if len(p.Elements) == 0 {
		return p, tok, l.unexpected(tok, "want a call path")
	}
	return p, tok, nil
}

// unexpected returns the error for a tok that is not allowed at its position.
func (l *lexer) unexpected(tok token, want string) error {
	switch tok.kind {
	case tokEnd:
		return l.fail(tok.offset, "%s, but nothing is left", want)
	case tokOpen, tokClose:
		return l.fail(tok.offset, "%s: put a name with such a parenthesis in quotes", want)
	case tokBar:
		return l.fail(tok.offset, `%s: a function of this name is written "|"`, want)
	case tokElement:
		return l.fail(tok.offset, "%s", want)
	}
	word := l.input[tok.offset:l.at]
	return l.fail(tok.offset,
		"%s: %s is for prune expressions; a function of this name is written %q", want, word, word)
}
