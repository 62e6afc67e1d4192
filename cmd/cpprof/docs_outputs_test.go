package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestDocsShowWhatCommandsPrint runs the command lines above the
// outputs in the documentation, on recordings in testdata, and
// compares the outputs. UPDATE_DOCS=1 writes the outputs of now
// into the documentation: read them, and what the text says of
// them, before you commit that. (The test of package tui does
// the same with screens and pictures.)
func TestDocsShowWhatCommandsPrint(t *testing.T) {
	docs := fixture.Must(filepath.Abs("../.."))(t)
	folder := t.TempDir()
	for _, name := range []string{"demo", "bob"} {
		fixture.Check(t, undumpFile(filepath.Join("testdata", name+".txt"), filepath.Join(folder, name+".cpprof")))
	}
	all := pages(t)
	t.Chdir(folder)
	count := 0
	for _, page := range slices.Sorted(maps.Keys(all)) {
		now := sampleOutput.ReplaceAllStringFunc(all[page], func(block string) string {
			line, want, _ := strings.Cut(block, "\n")
			count++
			got := printed(t, strings.TrimPrefix(line, "    $ cpprof "))
			if got != want {
				t.Errorf("%s: below %s is\n%swant (UPDATE_DOCS=1 writes it)\n%s", page, line, want, got)
			}
			return line + "\n" + got
		})
		if os.Getenv("UPDATE_DOCS") == "" || now == all[page] {
			continue
		}
		file := filepath.Join(docs, "docs", page)
		if page == "README.md" {
			file = filepath.Join(docs, page)
		}
		fixture.Check(t, os.WriteFile(file, []byte(now), 0o666))
	}
	if count < 8 {
		t.Errorf("the documentation has only %d outputs of commands", count)
	}
}

// sampleOutput matches a command line and its output: all lines
// below it that are indented, and empty lines between them.
var sampleOutput = regexp.MustCompile(`(?m)^    \$ cpprof .*\n(?:    .*\n|\n+    [^$\n].*\n)+`)

var (
	shellWord    = regexp.MustCompile(`'[^']*'|\S+`)
	recorded     = regexp.MustCompile(`\A\S+: \d+ samples of .*\n(?:warning: .*\n)*\n`)
	runtimeClass = regexp.MustCompile(`(?m)^[ \d.]+  go:runtime\.\S+\n`)
)

// printed returns what a command prints, as the documentation
// shows it: without the line that says what was recorded and at
// what cost, and without the classes of the Go runtime.
func printed(t *testing.T, line string) string {
	t.Helper()
	var args []string
	for _, word := range shellWord.FindAllString(line, -1) {
		args = append(args, strings.Trim(word, "'"))
	}
	var out, said bytes.Buffer
	if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &out, err: &said}); status != exitFine || said.Len() > 0 {
		t.Fatalf("cpprof %s ends with %d: %s", line, status, said.String())
	}
	text := runtimeClass.ReplaceAllString(recorded.ReplaceAllString(out.String(), ""), "")
	var indented strings.Builder
	for l := range strings.Lines(strings.TrimLeft(text, "\n")) {
		if l != "\n" {
			indented.WriteString("    ")
		}
		indented.WriteString(l)
	}
	return strings.TrimRight(indented.String(), "\n") + "\n"
}
