package aspects

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/caret"
)

const (
	// maxPattern limits a pattern's length in bytes.
	maxPattern = 1000
	// maxRegexp limits the size of a compiled regular expression, in
	// instructions and character ranges.
	maxRegexp = 20_000
	// maxMatched limits the names that regular expressions
	// match, in bytes. They take a hundred times as long as
	// other patterns.
	maxMatched = 1 << 16
)

// A Pattern describes a set of function names. If it begins with
// "re:", the rest is a regular expression (RE2). In any other
// pattern, "*" matches any run of characters and everything else
// matches itself. A "!" before either makes it an exclusion.
// Both forms match whole names: "net*" and "re:net.*" match the
// names that begin with net. No regular expression matches a
// name of more than 64 KiB.
type Pattern struct {
	text    string
	exclude bool
	glob    glob
	re      *regexp.Regexp // nil if glob is used
	needle  string         // what every name contains that re matches
	head    string         // what every matching name begins with
	size    int            // of the regular expression, see maxRegexp
}

// A PatternError says what is wrong with a pattern, and at which position.
type PatternError = caret.Error

// ParsePattern reads a pattern. Its errors are *PatternError.
func ParsePattern(s string) (Pattern, error) {
	p := Pattern{text: s}
	fail := func(offset int, format string, args ...any) (Pattern, error) {
		return Pattern{}, &PatternError{What: "pattern: ", Text: s, Offset: offset,
			Msg: fmt.Sprintf(format, args...)}
	}
	if len(s) > maxPattern {
		return Pattern{}, &PatternError{What: "pattern: ", Text: s[:20] + "...",
			Msg: fmt.Sprintf("longer than %d bytes", maxPattern)}
	}
	if i := firstOdd(s); i >= 0 {
		return fail(i, "a character that no function's name has")
	}
	rest, excluded := strings.CutPrefix(s, "!")
	p.exclude = excluded
	expr, isRegexp := strings.CutPrefix(rest, "re:")
	offset := len(s) - len(expr)
	switch {
	case expr == "":
		return fail(offset, "nothing to match")
	case strings.TrimSpace(expr) != expr:
		return fail(offset, "blanks around the pattern")
	case !isRegexp:
		p.glob = parseGlob(plain(expr))
		p.head = p.glob.head
		return p, nil
	}
	if err := p.compile(expr); err != nil {
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			return fail(offset+max(0, strings.LastIndex(expr, e.Expr)),
				"regular expression: %s", e.Code)
		}
		return fail(offset, "regular expression: %v", err)
	}
	return p, nil
}

// compile sets re and the fields that depend on it.
func (p *Pattern) compile(expr string) error {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return err
	}
	if p.size = regexpSize(tree); p.size > maxRegexp {
		return fmt.Errorf("too large: repeat less, or use several patterns")
	}
	free, err := regexp.Compile(expr)
	if err != nil {
		return err
	}
	p.head, _ = free.LiteralPrefix()
	p.needle = needleOf(tree)
	p.re, err = regexp.Compile(`\A(?:` + expr + `)\z`)
	return err
}

// needleOf returns the longest text that is a part of an
// expression by itself: whatever the expression matches contains
// it.
func needleOf(e *syntax.Regexp) string {
	parts := []*syntax.Regexp{e}
	if e.Op == syntax.OpConcat {
		parts = e.Sub
	}
	needle := ""
	for _, part := range parts {
		isText := part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0 &&
			!slices.Contains(part.Rune, utf8.RuneError)
		if text := string(part.Rune); isText && len(text) > len(needle) {
			needle = text
		}
	}
	return needle
}

// regexpSize estimates the size of a compiled expression before
// it is compiled. "((x{99}){10})" is rejected before it uses
// memory.
func regexpSize(e *syntax.Regexp) int {
	n := 1 + len(e.Rune)
	for _, sub := range e.Sub {
		n += regexpSize(sub)
	}
	if e.Op == syntax.OpRepeat {
		n *= max(1, e.Min, e.Max)
	}
	return n
}

// firstOdd returns the offset of the first character that occurs
// neither in names nor in regular expressions for names, or -1.
func firstOdd(s string) int {
	return strings.IndexFunc(s,
		func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Exclude reports whether the pattern begins with "!": it
// excludes the names that it matches.
func (p Pattern) Exclude() bool { return p.exclude }

// Size estimates the size of the pattern's compiled regular
// expression, in instructions and character ranges; it is 0 for
// other patterns.
func (p Pattern) Size() int { return p.size }

// MayBegin reports whether the pattern may match a name that
// begins with the prefix.
func (p Pattern) MayBegin(prefix string) bool {
	if p.re != nil {
		return true
	}
	return strings.HasPrefix(p.head, prefix) || !p.glob.exact && strings.HasPrefix(prefix, p.head)
}

// Match reports whether the pattern, apart from its "!", matches
// a name. A name may end in the line number that a view by line
// adds ("main.work:42"). A name may have the escapes of symbol
// tables: the name "gopkg.in/yaml%2ev3.Marshal" matches the
// pattern gopkg.in/yaml.v3.Marshal.
func (p Pattern) Match(name string) bool {
	name = plain(name)
	if p.matches(name) {
		return true
	}
	short := withoutLine(name)
	return short != name && p.matches(short)
}

// matches is Match for one form of a name.
func (p *Pattern) matches(name string) bool {
	if p.re != nil {
		return len(name) <= maxMatched && strings.Contains(name, p.needle) && p.re.MatchString(name)
	}
	return p.glob.matches(name)
}

// A glob is literal text with "*" between its pieces. Apart from
// the search for each piece, matching takes time linear in the
// name: the leftmost occurrence of a piece is always right, so
// no piece is searched for twice.
type glob struct {
	head   string
	middle []string
	tail   string
	exact  bool // no "*": head is the whole glob
}

func parseGlob(s string) glob {
	pieces := strings.Split(s, "*")
	last := len(pieces) - 1
	g := glob{head: pieces[0], exact: last == 0}
	if last == 0 {
		return g
	}
	g.tail = pieces[last]
	for _, p := range pieces[1:last] {
		if p != "" {
			g.middle = append(g.middle, p)
		}
	}
	return g
}

func (g *glob) matches(s string) bool {
	if g.exact {
		return s == g.head
	}
	s, ok := strings.CutPrefix(s, g.head)
	if !ok {
		return false
	}
	s, ok = strings.CutSuffix(s, g.tail)
	if !ok {
		return false
	}
	for _, m := range g.middle {
		i := strings.Index(s, m)
		if i < 0 {
			return false
		}
		s = s[i+len(m):]
	}
	return true
}
