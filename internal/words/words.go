// Package words lists words, splits lines into words and quotes
// words, for texts, the commands of 'cpprof find --interactive'
// and a POSIX shell.
package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

// Split splits a line at blanks. A word in double quotes is a Go string.
func Split(line string) ([]string, error) {
	var words []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		if rest[0] != '"' {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			words, rest = append(words, rest[:end]), rest[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("unfinished or wrong quotes at %.40s", rest)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("wrong quotes at %.40s", rest)
		}
		words, rest = append(words, word), rest[len(quoted):]
	}
	return words, nil
}

// Quote quotes a word, if necessary, so that Split returns it unchanged.
func Quote(word string) string {
	plain := func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != unicode.ReplacementChar
	}
	special := strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) >= 0
	if word == "" || special || word[0] == '"' || word[0] == '#' {
		return strconv.Quote(word)
	}
	return word
}

// Join joins words into a line that Split splits into the same words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Shell quotes a word for a POSIX shell, if it needs that. What
// a terminal can't show is written as $'\033': the word can be
// printed, and shells such as bash, zsh and ksh read it as it
// was.
func Shell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if !termtext.IsPrintable(word) {
		return octal(word)
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// octal quotes a word with escapes for all bytes but the
// printable ones of ASCII.
func octal(word string) string {
	var b strings.Builder
	for _, c := range []byte(word) {
		if c >= ' ' && c < 0x7f && c != '\'' && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return "$'" + b.String() + "'"
}

// CommonPrefix returns the characters with which all texts begin.
func CommonPrefix(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	common := texts[0]
	for _, t := range texts[1:] {
		n := 0
		for n < len(common) && n < len(t) && common[n] == t[n] {
			n++
		}
		common = common[:n]
	}
	for !utf8.ValidString(common) {
		common = common[:len(common)-1]
	}
	return common
}

// HasPrefix reports whether a text begins with one of some prefixes.
func HasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes,
		func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// List joins the first values of a list with commas, and counts
// the others if they are at least two.
func List[T any](all []T, most int) string {
	var texts []string
	for i, value := range all {
		if more := len(all) - most; i == most && more > 1 {
			texts = append(texts, fmt.Sprintf("and %d more", more))
			break
		}
		texts = append(texts, fmt.Sprint(value))
	}
	return strings.Join(texts, ", ")
}
