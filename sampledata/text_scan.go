package sampledata

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A token is a word of a line, or a key with its value.
type token struct {
	key    string
	hasKey bool
	word   string
	column int // of its first byte, from 1
}

// A textError is an error at a place in a line.
type textError struct {
	line   int // 0 for the current line
	column int
	msg    string
}

func (e *textError) Error() string { return e.msg }

func (t token) errorf(format string, args ...any) error {
	return &textError{column: t.column, msg: fmt.Sprintf(format, args...)}
}

// scanLine splits a line into tokens.
func scanLine(line string) ([]token, error) {
	var tokens []token
	rest := line
	for {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" || rest[0] == '#' {
			return tokens, nil
		}
		t := token{column: len(line) - len(rest) + 1}
		var err error
		if t.word, rest, err = scanWord(rest); err != nil {
			return nil, t.errorf("%v", err)
		}
		if strings.HasPrefix(rest, "=") {
			t.key, t.hasKey = t.word, true
			if t.word, rest, err = scanWord(rest[1:]); err != nil {
				return nil, t.errorf("%v", err)
			}
		}
		if rest != "" && rest[0] != '#' && !unicode.IsSpace(rune(rest[0])) {
			return nil, t.errorf("a blank is missing after this word")
		}
		tokens = append(tokens, t)
	}
}

func scanWord(s string) (word, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", errors.New("bad quoted string")
		}
		word, err := strconv.Unquote(quoted)
		return word, s[len(quoted):], err
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !isBare(r) })
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return "", "", errors.New("a word is missing, or must be quoted")
	}
	return s[:end], s[end:], nil
}

// isBare reports whether a word without quotes may contain a character.
func isBare(r rune) bool {
	return r != '"' && r != '=' && r != '#' && r != unicode.ReplacementChar &&
		unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

// quote returns s as a word, in quotes if it needs them.
func quote(s string) string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return !isBare(r) }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

// A textLine is a line that is being read: its first word, and the tokens that
// have not been read yet.
type textLine struct {
	keyword token
	rest    []token
	column  int // after the last token
}

// word reads the next token, which must be a word. The error says that what
// (such as "a code") is missing.
func (l *textLine) word(what string) (token, error) {
	if len(l.rest) == 0 {
		return token{}, &textError{column: l.column, msg: what + " is missing"}
	}
	t := l.rest[0]
	if t.hasKey {
		return t, t.errorf("%s is missing before %s=", what, t.key)
	}
	l.rest = l.rest[1:]
	return t, nil
}

// words reads the rest of the line, which must be words.
func (l *textLine) words(to *[]string) error {
	for len(l.rest) > 0 {
		t, err := l.word("a word")
		if err != nil {
			return err
		}
		*to = append(*to, t.word)
	}
	return nil
}

// end returns an error if there are unread tokens.
func (l *textLine) end() error {
	if len(l.rest) > 0 {
		return l.rest[0].errorf("nothing is expected here")
	}
	return nil
}

// settings are functions that store the values of keys.
type settings map[string]func(token) error

// attributes reads the rest of the line: keys with values, and flags, which
// have none. They may be in any order, each at most once.
func (l *textLine) attributes(values settings, flags map[string]*bool) error {
	var seen []string
	for _, t := range l.rest {
		name := t.key
		if !t.hasKey {
			name = t.word
		}
		if slices.Contains(seen, name) {
			return t.errorf("a second %q", name)
		}
		seen = append(seen, name)
		if set, ok := values[name]; ok && t.hasKey {
			if err := set(t); err != nil {
				return err
			}
		} else if flag, ok := flags[name]; ok && !t.hasKey {
			*flag = true
		} else {
			return t.errorf("unexpected %q: want %s", name, expected(values, flags))
		}
	}
	l.rest = nil
	return nil
}

func expected(values settings, flags map[string]*bool) string {
	var names []string
	for v := range values {
		names = append(names, v+"=")
	}
	for f := range flags {
		names = append(names, f)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func toText(to *string) func(token) error {
	return func(t token) error { *to = t.word; return nil }
}

func toInt32(to *int32) func(token) error {
	return func(t token) error {
		n, err := strconv.ParseInt(t.word, 10, 32)
		if err != nil {
			return t.errorf("%q is not a 32-bit number", t.word)
		}
		*to = int32(n)
		return nil
	}
}

func toInt64(to *int64) func(token) error {
	return func(t token) error {
		n, err := strconv.ParseInt(t.word, 10, 64)
		if err != nil {
			return t.errorf("%q is not a 64-bit number", t.word)
		}
		*to = n
		return nil
	}
}

func toAddress(to *uint64) func(token) error {
	return func(t token) error {
		n, err := strconv.ParseUint(t.word, 0, 64)
		if err != nil {
			return t.errorf("%q is not an address: want a number such as 0xc000012080", t.word)
		}
		*to = n
		return nil
	}
}

func toFloat(to *float64) func(token) error {
	return func(t token) error {
		f, err := strconv.ParseFloat(t.word, 64)
		if err != nil {
			return t.errorf("%q is not a number", t.word)
		}
		*to = f
		return nil
	}
}

func toDuration(to *time.Duration) func(token) error {
	return func(t token) error {
		d, err := time.ParseDuration(t.word)
		if err != nil {
			return t.errorf("%q is not a duration: want one such as 1.5ms", t.word)
		}
		*to = d
		return nil
	}
}

// toName stores the index of a name in names; E is an enumeration from 0 up.
func toName[E ~uint8](to *E, what string, names []string) func(token) error {
	return func(t token) error {
		i := slices.Index(names, t.word)
		if i < 0 {
			return t.errorf("unknown %s %q: want one of %s", what, t.word,
				strings.Join(names, ", "))
		}
		*to = E(i)
		return nil
	}
}

// toCode stores a code such as "n12". Its number must be below end. If none is
// true, "-" means -1.
func toCode[C ~int32](to *C, prefix string, end int, none bool) func(token) error {
	return func(t token) error {
		if none && t.word == "-" {
			*to = -1
			return nil
		}
		n, err := parseCode(t, prefix)
		if err != nil {
			return err
		}
		if n >= end {
			return t.errorf("%s%d has not been defined", prefix, n)
		}
		*to = C(n)
		return nil
	}
}

func parseCode(t token, prefix string) (int, error) {
	digits, ok := strings.CutPrefix(t.word, prefix)
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return 0, t.errorf("%q is not a code: want one such as %s0", t.word, prefix)
	}
	return int(n), nil
}
