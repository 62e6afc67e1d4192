package sampledata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// A textLine is a line that is being read: its first word, and
// the tokens that have not been read yet.
type textLine struct {
	keyword token
	rest    []token
	column  int   // after the last token
	err     error // the first mistake; what is read after it does not matter
}

// keep keeps an error, unless there was one before it, and
// returns the first.
func (l *textLine) keep(err error) error {
	l.err = cmp.Or(l.err, err)
	return l.err
}

// word reads the next token, which must be a word, into a value.
// The error says that what (such as "a code") is missing.
func (l *textLine) word(what string, to textValue) {
	if len(l.rest) == 0 {
		l.keep(&textError{column: l.column, msg: what + " is missing"})
		return
	}
	t := l.rest[0]
	if l.rest = l.rest[1:]; t.hasKey {
		l.keep(t.errorf("%s is missing before %s=", what, t.key))
	} else {
		l.keep(to.set(t))
	}
}

// words reads the rest of the line, which must be words.
func (l *textLine) words(to *[]string) {
	for len(l.rest) > 0 {
		l.word("a word", (*plain)(added(to)))
	}
}

// end returns an error if there are unread tokens.
func (l *textLine) end() error {
	if len(l.rest) > 0 {
		l.keep(l.rest[0].errorf("nothing is expected here"))
	}
	return l.err
}

// read reads the words at their places, then keys and flags in any order.
func (l *textLine) read(fields []field) {
	for len(fields) > 0 && fields[0].form == placed {
		l.word(fields[0].name, fields[0].value)
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return
	}
	var seen []string
	for _, t := range l.rest {
		name, form := t.word, flagged
		if t.hasKey {
			name, form = t.key, keyed
		}
		if slices.Contains(seen, name) {
			l.keep(t.errorf("a second %q", name))
		}
		seen = append(seen, name)
		i := slices.IndexFunc(fields,
			func(f field) bool { return f.name == name && f.form == form })
		if i < 0 {
			l.keep(t.errorf("unexpected %q: want %s", name, expected(fields)))
			return
		}
		l.keep(fields[i].value.set(t))
	}
	l.rest = nil
}

// expected lists the keys and flags.
func expected(fields []field) string {
	var names []string
	for _, f := range fields {
		if f.form == keyed {
			f.name += "="
		}
		names = append(names, f.name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
