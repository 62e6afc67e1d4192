// Package termtext makes text from outside, such as names in a
// recording, names of files and messages of errors, safe for a
// terminal. What a command writes goes through its Fprintf,
// which escapes every argument: a name can't start a line of its
// own, nor change colours, titles or the direction of writing.
package termtext

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is text that a program has laid out for a terminal: it
// may have several lines, and colours. Fprintf writes it as it
// is.
type Text string

// Printable escapes control characters, characters that change
// the direction of writing, and what is not UTF-8. Text that is
// safe already stays as it is.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !isSafe(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case isSafe(r):
			b.WriteRune(r)
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isSafe(r rune) bool { return r != utf8.RuneError && isSeen(r) }

// isSeen reports whether a reader sees a character. Graphic ones
// that have no picture of their own can carry text that only an
// assistant reads.
func isSeen(r rune) bool {
	return unicode.IsGraphic(r) &&
		!unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// IsPrintable reports whether text is safe as it is.
func IsPrintable(s string) bool { return Printable(s) == s }

// JSON escapes in JSON text what a terminal would interpret and
// JSON does not escape, such as DEL and U+009B. Line ends
// between values stay.
func JSON(text []byte) []byte {
	isSpecial := func(r rune) bool { return r != '\n' && !isSeen(r) }
	if bytes.IndexFunc(text, isSpecial) < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !isSpecial(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// Fprintf is fmt.Fprintf with every argument made printable,
// unless it is a Text.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return fmt.Fprintf(w, format, escaped(args)...)
}

// Sprintf is fmt.Sprintf in the same way. What it returns is one
// line if its format is.
func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, escaped(args)...) }

// Fprintln is fmt.Fprintln in the same way.
func Fprintln(w io.Writer, args ...any) (int, error) { return fmt.Fprintln(w, escaped(args)...) }

func escaped(args []any) []any {
	list := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Text:
			list[i] = string(arg)
		case bool, int, int32, int64, uint8, uint32, uint64, float64:
			list[i] = arg
		default:
			list[i] = printed{arg}
		}
	}
	return list
}

// printed formats a value so that it is printable.
type printed struct{ value any }

func (p printed) Format(s fmt.State, verb rune) {
	format := fmt.FormatString(s, verb)
	if verb != 's' && verb != 'v' || s.Flag('#') {
		_, _ = io.WriteString(s, Printable(fmt.Sprintf(format, p.value)))
		return
	}
	var text string
	switch v := p.value.(type) {
	case error:
		text = Error(v)
	default:
		text = Printable(fmt.Sprint(v))
	}
	fmt.Fprintf(s, format, text) // the width counts what is seen
}

// Error returns the message of an error. An error of several
// lines is one that lays its message out itself (it has a method
// TerminalText, which returns printable text), or several joined
// errors.
func Error(err error) string {
	if e, ok := err.(interface{ TerminalText() string }); ok {
		return e.TerminalText()
	}
	var parts []error
	joined := false
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		parts = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		parts, joined = e.Unwrap(), true
	}
	var b strings.Builder
	rest := err.Error()
	for _, part := range parts {
		if part == nil {
			continue
		}
		before, after, ok := strings.Cut(rest, part.Error())
		if !ok {
			continue
		}
		if joined && before == "\n" {
			b.WriteString(before)
		} else {
			b.WriteString(Printable(before))
		}
		b.WriteString(Error(part))
		rest = after
	}
	return b.String() + Printable(rest)
}
