package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The source of a function is shown from its declaration on, with the hits of each line.
func TestSourceHasHitsByLine(t *testing.T) {
	var text strings.Builder
	for n := range 60 {
		fmt.Fprintf(&text, "\tline%d()\n", n+1)
	}
	file := filepath.Join(t.TempDir(), "manager.go")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
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

// In a low window, the pane begins where the hottest line is in sight; of a long function, the lines without hits are left out.
func TestSourceBeginsAtTheHottestLine(t *testing.T) {
	var text strings.Builder
	for n := range 300 {
		fmt.Fprintf(&text, "\tline%d()\n", n+1)
	}
	file := filepath.Join(t.TempDir(), "manager.go")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
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
