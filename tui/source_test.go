package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The source of a function is shown from its declaration on,
// with the hits of each line.
func TestSourceHasHitsByLine(t *testing.T) {
	var text strings.Builder
	for n := range 60 {
		fmt.Fprintf(&text, "\tline%d()\n", n+1)
	}
	file := filepath.Join(t.TempDir(), "manager.go")
	fixture.Check(t, os.WriteFile(file, []byte(text.String()), 0o666))
	o := bob(t)
	for i := range o.Recording.Functions {
		if f := &o.Recording.Functions[i]; f.Name == "bob.(*manager).transact" {
			f.File = file
		}
	}
	b := newBench(t, o)
	b.resize(160, 60)
	b.keys("Enter", "e", "/", "t", "r", "a", "n", "s", "Enter", "v")
	b.shows("   31      line31()", "  150    33      line33()", "   36      line36()")
	b.hides("line30()", "line37()")
}

// In a low window, the pane begins where the hottest line is in
// sight; of a long function, the lines without hits are left
// out.
func TestSourceBeginsAtTheHottestLine(t *testing.T) {
	var text strings.Builder
	for n := range 300 {
		fmt.Fprintf(&text, "\tline%d()\n", n+1)
	}
	file := filepath.Join(t.TempDir(), "manager.go")
	fixture.Check(t, os.WriteFile(file, []byte(text.String()), 0o666))
	o := bob(t)
	for i := range o.Recording.Functions {
		if f := &o.Recording.Functions[i]; f.Name == "bob.(*manager).transact" {
			f.File, f.Line = file, 1
		}
	}
	b := newBench(t, o)
	b.resize(160, 22)
	b.keys("Enter", "e", "/", "t", "r", "a", "n", "s", "Enter", "v")
	b.shows("  150    33      line33()")
	b.hides("line12()")
	b.keys("K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K", "K")
	b.shows("    1      line1()", "      :")
}

// E opens the function at its hottest line, in the editor's own
// way of saying so. Names of files are not for a shell.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	file, ran := filepath.Join(dir, "a $(touch x);b.go"), filepath.Join(dir, "ran")
	fixture.Check(t, os.WriteFile(file, []byte(strings.Repeat("\tline()\n", 60)), 0o666))
	editor := filepath.Join(dir, "code")
	fixture.Check(t, os.WriteFile(editor, fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s|' \"$@\" > '%s'\n", ran), 0o777))
	o := bob(t)
	for i := range o.Recording.Functions {
		if f := &o.Recording.Functions[i]; f.Name == "bob.(*manager).transact" {
			f.File, f.Line = file, 31
		}
	}
	o.Editor = editor + " --wait"
	b := newBench(t, o)
	b.resize(160, 60)
	b.keys("Enter", "E")
	b.shows("is no function with a source")
	b.keys("e", "/", "t", "r", "a", "n", "s", "Enter")
	for _, want := range []int{31, 33} { // the details count the lines
		b.keys("E")
		got := fixture.Must(os.ReadFile(ran))(t)
		if want := fmt.Sprintf("--wait|--goto|%s:%d|", file, want); string(got) != want {
			t.Errorf("the editor got %q, want %q", got, want)
		}
		b.keys("v")
	}
	b.do(func() { b.app.editor = filepath.Join(dir, "no-editor") })
	b.keys("E")
	b.shows("no-editor")
	for editor, want := range map[string]string{"vim": "vim +7 /f.go", "hx": "hx /f.go:7", "/opt/goland": "/opt/goland --line 7 /f.go"} {
		c, err := editorCommand(editor, "/f.go", 7)
		if err != nil || strings.Join(c.Args, " ") != want {
			t.Errorf("%s: %v, %v", editor, c, err)
		}
	}
	if _, err := editorCommand("", "/f.go", 7); err != errNoEditor {
		t.Errorf("no editor: %v", err)
	}
}
