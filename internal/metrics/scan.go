package metrics

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/callpath"
)

// A reference is a part of an expression that is not in the
// language of the parser.
type reference struct {
	text     string // all of it
	function string // one of rawFunctions; "" for a name
	argument string // of the function
	at       int    // of the argument in the input, in bytes
}

// A scanned is an expression in Go's syntax, without its
// references. An identifier of the same length replaces each
// reference, and && and || replace & and |. For example, if
// heap.live and a(b) are monitors:
//
//	heap.live > hits(* ..main.f) & a(b) > 1
//	x________ > x_______________ && x___ > 1
type scanned struct {
	input  string
	masked string
	refs   map[int]reference // by position in masked
	origin []int             // of each byte of masked, and of its end: the byte of input
}

// maxExpression limits the length of an expression in bytes: the
// parser's stack grows with the number of parentheses.
const maxExpression = 16 << 10

// scan finds the references in an expression: the raw functions,
// and the longest of the known names at each place.
func (t *Table) scan(input string) (*scanned, error) {
	if len(input) > maxExpression {
		return nil, fmt.Errorf("an expression of %d bytes: at most %d are possible",
			len(input), maxExpression)
	}
	if !utf8.ValidString(input) {
		return nil, fmt.Errorf("the expression %q is not valid UTF-8", input)
	}
	s := &scanned{input: input, refs: make(map[int]reference)}
	var masked strings.Builder
	for at := 0; at < len(input); {
		n, ref, err := t.next(input, at)
		if err != nil {
			return nil, err
		}
		text := input[at : at+n]
		switch {
		case ref.text != "":
			s.refs[len(s.origin)] = ref
			text = "x" + strings.Repeat("_", n-1)
		case text == "&" || text == "|":
			text += text
			s.origin = append(s.origin, at)
		case text == "\n": // it would end the expression
			text = " "
		case text[0] == '\'':
			text = strings.ReplaceAll(text, "'", "`")
		}
		masked.WriteString(text)
		for i := range n {
			s.origin = append(s.origin, at+i)
		}
		at += n
	}
	s.masked, s.origin = masked.String(), append(s.origin, len(input))
	return s, nil
}

// next returns the length of the reference at a place. If there is none, it
// returns the length of other text, up to the next place where a reference may
// begin.
func (t *Table) next(input string, at int) (int, reference, error) {
	rest := input[at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune("\"'`", r):
		if end := strings.IndexRune(rest[size:], r); end >= 0 {
			return size + end + size, reference{}, nil
		}
		return len(rest), reference{}, nil
	case r >= '0' && r <= '9': // also of numbers such as 1e9
		return len(rest) - len(strings.TrimLeftFunc(rest, inWord)), reference{}, nil
	case strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
		return 2, reference{}, nil
	case !beginsWord(r):
		return size, reference{}, nil
	}
	word := rest[:len(rest)-len(strings.TrimLeftFunc(rest, inWord))]
	if _, raw := rawFunctions[word]; raw && strings.HasPrefix(rest[len(word):], "(") {
		return rawFunction(input, at, word)
	}
	if n := t.longestName(rest); n > 0 {
		return n, reference{text: rest[:n]}, nil
	}
	return lengthOfUnknown(rest), reference{}, nil
}

// lengthOfUnknown returns the length of a name that is not
// known, with all its parts: in "proces.cpu", cpu is no name of
// its own.
func lengthOfUnknown(text string) int {
	rest := strings.TrimLeftFunc(text, inWord)
	for strings.HasPrefix(rest, ".") {
		r, _ := utf8.DecodeRuneInString(rest[1:])
		if !beginsWord(r) {
			break
		}
		rest = strings.TrimLeftFunc(rest[1:], inWord)
	}
	return len(text) - len(rest)
}

// rawFunction returns the call of a raw function, up to the
// parenthesis that ends it. Parentheses in quotes don't count.
func rawFunction(input string, at int, f string) (int, reference, error) {
	depth, quoted := 0, false
	begin := at + len(f)
	for i := begin; i < len(input); i++ {
		switch c := input[i]; {
		case c == '"':
			quoted = !quoted
		case c == '(' && !quoted:
			depth++
		case c == ')' && !quoted:
			if depth--; depth == 0 {
				n := i + 1 - at
				return n, reference{text: input[at : at+n], function: f,
					argument: input[begin+1 : i], at: begin + 1}, nil
			}
		}
	}
	return 0, reference{},
		&callpath.SyntaxError{Input: input, Offset: begin,
			Msg: f + ": the parenthesis is not closed"}
}

// longestName returns the length of the longest known name at
// the beginning of a text; 0 if there is none. A name ends where
// a word ends: if gc is a name, but gc.cycles is not, there is
// none in "gc.cycles".
func (t *Table) longestName(text string) int {
	longest := 0
	for name := range t.known {
		if len(name) <= longest || !strings.HasPrefix(text, name) {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(name); inWord(last) &&
			continues(text[len(name):]) {
			continue
		}
		longest = len(name)
	}
	return longest
}

// continues reports whether a text goes on with the word before
// it: it begins with a letter or digit, or with a dot and a
// letter, or with what would make the word a function.
func continues(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	if r == '.' {
		r, _ = utf8.DecodeRuneInString(text[size:])
		return beginsWord(r)
	}
	return size > 0 && (inWord(r) || r == '(')
}

func beginsWord(r rune) bool { return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError }

func inWord(r rune) bool { return beginsWord(r) || unicode.IsDigit(r) }
