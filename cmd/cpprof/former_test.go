package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// mostCommands bounds the commands at the top level. A person
// reads their list in one glance.
const mostCommands = 22

func TestFewCommands(t *testing.T) {
	root := newRootCommand(terminal{})
	n := 0
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			n++
		}
		if formerCommands[c.Name()] != nil {
			t.Errorf("%s is a command and the former name of one", c.Name())
		}
	}
	if n > mostCommands {
		t.Errorf("%d commands at the top level, more than %d", n, mostCommands)
	}
}

// A former command ends as a wrong call does, with the command
// line of now, which works.
func TestFormerCommands(t *testing.T) {
	folder := t.TempDir()
	calls := map[string]string{
		"dump testdata/bob.txt":                              "cpprof export --to text -o - testdata/bob.txt",
		"undump -o " + folder + "/a.cpprof testdata/bob.txt": "cpprof import -o " + folder + "/a.cpprof testdata/bob.txt",
		"suggest testdata/bob.txt goroutines":                "cpprof monitors suggest testdata/bob.txt goroutines",
		"correlate testdata/bob.txt goroutines time":         "cpprof monitors correlate testdata/bob.txt goroutines time",
		"plot testdata/bob.txt goroutines":                   "cpprof monitors plot testdata/bob.txt goroutines",
		"perturb --help":                                     "cpprof monitors perturb --help",
		"aspects --strict":                                   "cpprof report aspects --strict",
		"bottlenecks testdata/bob.txt --help":                "cpprof find --interactive testdata/bob.txt --help",
		"version":                                            "cpprof --version",
	}
	for line, now := range calls {
		if status, _, said := runLine(t, line); status != exitUsage || !strings.Contains(said, "new name: "+now+"\n") {
			t.Errorf("%s ends with %d: %s", line, status, said)
		}
		if status, out, said := runLine(t, strings.TrimPrefix(now, "cpprof ")); status != exitFine || out == "" {
			t.Errorf("%s ends with %d: %s", now, status, said)
		}
	}
	if len(calls) != len(formerCommands) {
		t.Errorf("%d of %d former commands are tried", len(calls), len(formerCommands))
	}
}

// A recording in place of a command is shown: as text, where no
// terminal is.
func TestRecordingInPlaceOfCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bob.cpprof")
	fixture.Check(t, undumpFile("testdata/bob.txt", path))
	_, want, _ := runLine(t, "report "+path+" --server")
	if status, got, said := runLine(t, path+" --server"); status != exitFine || got != want {
		t.Errorf("ends with %d: %s%s", status, got, said)
	}
	if status, _, said := runLine(t, path+".gone"); status != exitUsage || !strings.Contains(said, "no recording of this name") {
		t.Errorf("ends with %d: %s", status, said)
	}
}

// runLine executes a command line whose words have no blanks,
// without a terminal.
func runLine(t *testing.T, line string) (status int, out, said string) {
	t.Helper()
	var o, e strings.Builder
	status = run(t.Context(), strings.Fields(line), terminal{in: strings.NewReader(""), out: &o, err: &e})
	return status, o.String(), e.String()
}

// Former flags that stand for a setting or another flag work as ever.
func TestRespelledFlags(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.yaml")
	for _, line := range []string{
		"why testdata/bob.txt --threshold 20% --class-by site", "why testdata/bob.txt --threshold=20% --class-by=site",
		"report testdata/bob.txt --server --class-by function", "why testdata/bob.txt --without main.main --half",
	} {
		if status, out, said := runLine(t, line); status != exitFine || out == "" {
			t.Errorf("%s ends with %d: %s", line, status, said)
		}
	}
	for line, want := range map[string]string{
		"report testdata/bob.txt --config " + none: none, "why testdata/bob.txt --threshold much": "much", "report testdata/bob.txt --config": "config",
		"info testdata/bob.txt --no-heap": "no-heap", "record --no-heap=yes -- --no-heap": "max-halt",
	} {
		if status, _, said := runLine(t, line); status == exitFine || !strings.Contains(said, want) {
			t.Errorf("%s ends with %d: %s, want %q", line, status, said, want)
		}
	}
}
