// Command cpprof records the call paths of running Go programs
// and shows where their time goes.
package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == orderDeskArgument {
		orderDesk()
		return
	}
	ownProcess = true
	t := terminal{
		in:  os.Stdin,
		out: os.Stdout,
		err: os.Stderr,

		inIsTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outIsTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if t.outIsTerminal {
		t.out = asciiOr(os.Stdout, os.Getenv)
	}
	if t.errIsTerminal {
		t.err = asciiOr(os.Stderr, os.Getenv)
	}
	t.color = wantsColor(t.outIsTerminal, os.Getenv)
	os.Exit(run(context.Background(), os.Args[1:], t))
}

// wantsColor reports whether the output has colours: at a terminal, unless
// the environment decides.
func wantsColor(terminal bool, env func(string) string) bool {
	if force := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return terminal && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// An asciiWriter writes to a terminal that shows ASCII only.
type asciiWriter struct {
	file *os.File
	rest []byte // the beginning of a character; its end comes later
}

// asciiFor has what stands for the other characters that cpprof itself writes.
var asciiFor = map[rune]string{
	'±': "+-", '…': "...", '·': ".", '×': "x", 'µ': "u", 'Δ': "d", '⏎': "Enter", '◆': "*",
	'≥': ">=", '≤': "<=", '–': "-", '→': "->",
	'▲': "^", '▼': "v",
}

// Write writes text, with ? in place of characters that nothing
// stands for.
func (w *asciiWriter) Write(text []byte) (int, error) {
	all := append(w.rest, text...)
	var out strings.Builder
	for len(all) > 0 && utf8.FullRune(all) {
		r, size := utf8.DecodeRune(all)
		all = all[size:]
		switch stand, ok := asciiFor[r]; {
		case r < utf8.RuneSelf:
			out.WriteByte(byte(r))
		case ok:
			out.WriteString(stand)
		default:
			out.WriteByte('?')
		}
	}
	w.rest = append([]byte(nil), all...)
	if _, err := io.WriteString(w.file, out.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// asciiOr returns what writes to a terminal, whose characters the environment
// tells.
func asciiOr(file *os.File, env func(string) string) io.Writer {
	if runtime.GOOS == "windows" || isUTF8(env) {
		return file
	}
	return &asciiWriter{file: file}
}

// isUTF8 reports whether the locale has UTF-8. Without a locale, terminals
// show ASCII.
func isUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

// fileOf returns the file that a writer writes to, if it does,
// so that a program that cpprof starts has it, too.
func fileOf(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *output:
		return fileOf(w.to)
	case *asciiWriter:
		return w.file
	}
	return w
}
