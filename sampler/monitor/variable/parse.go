package variable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/caret"
)

// An Expr is an expression that was read.
type Expr struct {
	Text string

	call  string // "len", "cap", or "" for the number itself
	name  string // up to the first index: the name of a variable, perhaps with fields
	at    int    // offset of the name in the text
	steps []step // what follows the name
}

// A step leads from a value to a part of it.
type step struct {
	field string // "" for an index
	index int64
	end   int // offset in the text after it
}

// maxText bounds the length of an expression.
const maxText = 1000

// Parse reads an expression.
func Parse(text string) (*Expr, error) {
	p := parser{text: text}
	if len(text) > maxText {
		return nil, fmt.Errorf("an expression of %d characters is too long", len(text))
	}
	e := &Expr{Text: text}
	p.blanks()
	for _, call := range []string{"len", "cap"} {
		if rest, ok := strings.CutPrefix(text[p.at:], call); ok &&
			strings.HasPrefix(strings.TrimLeft(rest, " "), "(") {
			e.call = call
			p.at = strings.IndexByte(text, '(') + 1
			p.blanks()
		}
	}
	e.at = p.at
	if e.name = p.word("/-%~"); e.name == "" {
		return nil, p.errorf("want the name of a package's variable, such as main.served, or len(main.queue)")
	}
	if err := p.steps(e); err != nil {
		return nil, err
	}
	if e.call != "" && !p.accept(')') {
		return nil, p.errorf("want ) after what %s( is of", e.call)
	}
	p.blanks()
	if p.at < len(text) {
		return nil, p.errorf("want a field (.name), an index ([0]) or the end here")
	}
	if !strings.Contains(e.name[strings.LastIndexByte(e.name, '/')+1:], ".") {
		p.at = e.at
		return nil, p.errorf("want a variable with its package, such as main.%s", e.name)
	}
	return e, nil
}

// A parser reads an expression from left to right.
type parser struct {
	text string
	at   int
}

// steps reads fields and indices.
func (p *parser) steps(e *Expr) error {
	for {
		switch {
		case p.accept('['):
			digits := p.at
			for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
				p.at++
			}
			n, err := strconv.ParseInt(p.text[digits:p.at], 10, 32)
			if err != nil {
				p.at = digits
				return p.errorf("want an index, such as [0]")
			}
			if !p.accept(']') {
				return p.errorf("want ] after the index")
			}
			e.steps = append(e.steps, step{index: n, end: p.at})
		case p.accept('.'):
			name := p.word("")
			if name == "" {
				return p.errorf("want the name of a field")
			}
			for _, f := range strings.Split(name, ".") {
				e.steps = append(e.steps, step{field: f, end: p.at})
			}
		default:
			return nil
		}
	}
}

func (p *parser) blanks() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// accept skips blanks and a character, and reports whether it was there.
func (p *parser) accept(c byte) bool {
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word reads letters, digits, dots and the other characters.
func (p *parser) word(others string) string {
	from := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' &&
			!strings.ContainsRune(others, r) {
			break
		}
		p.at += size
	}
	return p.text[from:p.at]
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Text: p.text, Offset: p.at}
}

// An Error says what is wrong with an expression, and at which position.
type Error = caret.Error
