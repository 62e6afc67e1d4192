package metrics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
)

// AllSamples is the name of the list of all samples.
const AllSamples = "all"

// maxParentheses limits the parentheses of a list: the parser looks at those
// within others again and again.
const maxParentheses = 100

// List computes an expression: a predicate such as rate(gc.cycles) > 0, or
// lists joined by set operators. The operators are ! (all other samples), which
// binds strongest, then & (in both), then - (not in the second) and | (in
// either), from left to right. In a set expression, a predicate stands in
// parentheses: slow & (rate(gc.cycles) > 0).
func (t *Table) List(expr string) (List, error) {
	if n := strings.Count(expr, "("); n > maxParentheses {
		return List{}, fmt.Errorf("an expression with %d parentheses: a sample list can have at most %d", n, maxParentheses)
	}
	p := &setParser{t: t, input: expr}
	if p.isSet() {
		l, err := p.union()
		if err == nil && p.skip() < len(expr) {
			err = p.fail("want an operator: !, &, - or |")
		}
		return l, err
	}
	m, err := t.Metric(expr)
	if err != nil {
		return List{}, err
	}
	if !m.Truth {
		return List{}, &callpath.SyntaxError{Input: expr,
			Msg: "a sample list is a predicate, and this is a number: compare it, such as with > 0"}
	}
	return listOf(m.Column), nil
}

// Choose computes a list for an analysis of its samples alone, which makes no
// sense if it has none.
func (t *Table) Choose(expr string) (List, error) {
	l, err := t.List(expr)
	if err == nil && l.Len() == 0 {
		err = fmt.Errorf("none of the %d samples of the recording is in the list %q",
			t.samples, expr)
	}
	return l, err
}

// Pick returns the recording with only the samples of a list. An empty list is
// an error.
func (t *Table) Pick(expr string) (*sampledata.Recording, error) {
	l, err := t.Choose(expr)
	if err != nil {
		return nil, err
	}
	return t.r.Pick(expr, l.Has)
}

// list returns the list of a name.
func (t *Table) list(name string) (List, error) {
	if name == AllSamples {
		return All(t.samples), nil
	}
	i := slices.IndexFunc(t.lists, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return List{}, fmt.Errorf("%s", t.unknown("sample list", name, t.listNames()))
	}
	key := "list " + name
	if t.busy[key] {
		return List{}, fmt.Errorf("list %s is defined by itself: %s", name, t.lists[i].Expr)
	}
	t.busy[key] = true
	defer delete(t.busy, key)
	l, err := t.List(t.lists[i].Expr)
	if err != nil {
		return List{}, fmt.Errorf("list %s: %w", name, err)
	}
	return l, nil
}

func (t *Table) listNames() []string {
	names := []string{AllSamples}
	for _, l := range t.lists {
		names = append(names, l.Name)
	}
	return names
}

// A setParser parses an expression over lists.
type setParser struct {
	t     *Table
	input string
	at    int
}

func (p *setParser) fail(format string, args ...any) error {
	return &callpath.SyntaxError{Input: p.input, Offset: p.at, Msg: fmt.Sprintf(format, args...)}
}

// skip skips blanks, and returns the place of what follows.
func (p *setParser) skip() int {
	for p.at < len(p.input) && strings.ContainsRune(" \t\n", rune(p.input[p.at])) {
		p.at++
	}
	return p.at
}

// next returns the next character that is no blank; 0 at the end.
func (p *setParser) next() byte {
	if p.skip() == len(p.input) {
		return 0
	}
	return p.input[p.at]
}

// isSet reports whether the expression is one over lists: outside of
// parentheses, it has only names of lists and set operators, and it has the
// name of a list. So "a - b" is one if a and b are lists; "a && b" and "!(x >
// 1)" are predicates.
func (p *setParser) isSet() bool {
	names := 0
	for i := 0; i < len(p.input); {
		c := p.input[i]
		word := p.word(i)
		switch {
		case c == '(':
			end := p.closing(i)
			if end < 0 {
				return false
			}
			if inner := (&setParser{t: p.t, input: p.input[i+1 : end]}); inner.isSet() {
				names++
			}
			i = end
		case word == "span" || word == "samples":
			i += len(word) - 1
		case slices.Contains(p.t.listNames(), word):
			names++
			i += len(word) - 1
		case strings.ContainsRune("!&|-", rune(c)):
			if i+1 < len(p.input) && strings.ContainsRune("&|=", rune(p.input[i+1])) {
				return false // &&, || or !=
			}
		case !strings.ContainsRune(" \t\n", rune(c)):
			return false
		}
		i++
	}
	return names > 0
}

// closing returns the place of the parenthesis that closes the one at a place;
// -1 if there is none.
func (p *setParser) closing(open int) int {
	depth := 0
	for i := open; i < len(p.input); i++ {
		switch p.input[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// word returns the name at a place; "" if there is none.
func (p *setParser) word(at int) string {
	rest := p.input[at:]
	return rest[:len(rest)-len(strings.TrimLeftFunc(rest,
		func(r rune) bool { return inWord(r) || r == '.' }))]
}

// union parses lists joined by - and |.
func (p *setParser) union() (List, error) {
	l, err := p.intersection()
	for err == nil && (p.next() == '-' || p.next() == '|') {
		operator := p.input[p.at]
		p.at++
		var m List
		if m, err = p.intersection(); err != nil {
			break
		}
		if operator == '-' {
			l = l.Minus(m)
		} else {
			l = l.Or(m)
		}
	}
	return l, err
}

// intersection parses lists joined by &.
func (p *setParser) intersection() (List, error) {
	l, err := p.one()
	for err == nil && p.next() == '&' {
		p.at++
		var m List
		if m, err = p.one(); err == nil {
			l = l.And(m)
		}
	}
	return l, err
}

// one parses a list: a name, !, or an expression in parentheses.
func (p *setParser) one() (List, error) {
	switch p.next() {
	case '!':
		p.at++
		l, err := p.one()
		if err != nil {
			return List{}, err
		}
		return l.Not(), nil
	case '(':
		return p.parentheses()
	}
	word := p.word(p.at)
	switch {
	case word == "":
		return List{}, p.fail("want the name of a list, or an expression in parentheses")
	case word == "span" || word == "samples":
		if !strings.HasPrefix(p.input[p.at+len(word):], "(") {
			return List{}, p.fail("want a parenthesis after %s", word)
		}
		return p.part(p.at, p.closing(p.at+len(word))+1)
	}
	l, err := p.t.list(word)
	if err != nil {
		return List{}, err
	}
	p.at += len(word)
	return l, nil
}

// parentheses parses what is in parentheses: an expression over lists, or a
// predicate.
func (p *setParser) parentheses() (List, error) {
	end := p.closing(p.at)
	l, err := p.part(p.at+1, end)
	p.at = end + 1
	return l, err
}

// part computes the expression from one place to another. isSet has found its
// parentheses.
func (p *setParser) part(from, to int) (List, error) {
	l, err := p.t.List(p.input[from:to])
	p.at = to
	return l, p.within(from, err)
}

// within places an error of a part of the expression.
func (p *setParser) within(begin int, err error) error {
	if syntax, ok := err.(*callpath.SyntaxError); ok {
		return &callpath.SyntaxError{Input: p.input, Offset: begin + syntax.Offset, Msg: syntax.Msg}
	}
	return err
}
