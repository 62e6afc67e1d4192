package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/refine"
	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"
)

// Names from a file are shown, and never interpreted.
func TestHostileNames(t *testing.T) {
	o := bob(t)
	hostile := "[red::b]evil[-] [\"x\"]\x1b]0;owned\a\x1b[2J\x7f\u202e\n\xff"
	for i := range o.Recording.Functions {
		if f := &o.Recording.Functions[i]; f.Name == "bob.(*manager).transact" {
			f.Name = hostile
			f.File = "/src/\x1b[31m.go"
		}
	}
	b := newBench(t, o)
	b.keys("Enter", "Enter", "v", "t", "i", "?", "Esc", "p", "Esc")
	b.shows(`[red::b]evil[-]`)
	b.resize(200, 40)
	b.shows(`[red::b]evil[-] [\"x\"]\x1b]0;owned\a\x1b[2J\x7f`)
	b.keys(":")
	b.typed("..[r")
	b.keys("Tab", "Esc")
	for _, r := range b.text() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("the screen has the character %U", r)
		}
	}
}

func TestLongNamesAreCutInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"github.com/acme/shop/internal/db.(*Pool).Get", 50, "github.com/acme/shop/internal/db.(*Pool).Get"},
		{"github.com/acme/shop/internal/db.(*Pool).Get", 40, "github.com/acme/shop/…/db.(*Pool).Get"},
		{"github.com/acme/shop/internal/db.(*Pool).Get", 32, "github.com/acme/…/db.(*Pool).Get"},
		{"..github.com/acme/shop/internal/db.(*Pool).Get", 30, "..github.com/…/db.(*Pool).Get"},
		{"go:github.com/acme/shop/internal/db.run", 16, "go:…/db.run"},
		{"go:github.com/acme/shop/internal/db.run", 8, "go:…/db…"},
		{"db.Map[github.com/acme/shop.Key].Get", 20, "db.Map[github.com/a…"},
		{"main.go", 3, "ma…"},
		{"", 0, ""},
	} {
		if got := shorten(c.name, c.width); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

func TestCutNamesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		width := rapid.IntRange(1, 30).Draw(t, "width")
		if got := shorten(name, width); textWidth(got) > width {
			t.Fatalf("%q in %d columns is %q", name, width, got)
		}
		for _, line := range wrap(name, width+2) {
			if textWidth(line) > width+2 {
				t.Fatalf("%q is wrapped to %q", name, line)
			}
		}
	})
}

// The selection is an entry and not a row: it stays when rows
// appear or disappear, and when the screen is resized.
func TestSelectionIsAnEntry(t *testing.T) {
	b := bobThread(t)
	b.keys("G", "k") // bob.(*manager).store, 10 hits
	chooses("bob.(*manager).store")(t, b)
	for _, size := range [][2]int{{200, 50}, {30, 8}, {80, 24}, {1, 1}, {80, 12}} {
		b.resize(size[0], size[1])
		chooses("bob.(*manager).store")(t, b)
		if size[0] >= 30 {
			b.shows("›0.067")
		}
	}
	b.resize(80, 24)
	b.keys("]") // 15 hits: it is hidden, and the one above it is selected instead
	chooses("bob.(*manager).transact")(t, b)
	b.keys("[")
	chooses("bob.(*manager).store")(t, b)
	b.keys("k", "k", "k", "h") // transact is collapsed
	b.shows("▸ bob.(*manager).transact")
	b.keys("U", "U")
	b.keys("R", "R")
	chooses("bob.(*manager).transact")(t, b)
	b.line(":class by site")
	b.shows("no thread class", "go:bob.(*terminal).run@main.go:10")
	b.line(":class by function")
	chooses("bob.(*manager).transact")(t, b)
	b.shows("▸ bob.(*manager).transact")
}

// Without colours, shapes carry the same information.
func TestWithoutColour(t *testing.T) {
	o := bobThread(t).profileOptions(t)
	o.NoColor = true
	b := newBench(t, o)
	b.waitForJobs()
	b.keys("i", "t")
	b.do(func() {
		cells, _, _ := b.sim.GetContents()
		for _, c := range cells {
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				t.Fatalf("%q is drawn in %v on %v", string(c.Runes), fg, bg)
			}
		}
	})
	b.shows("█›1.000", "▒ 0.133", "▒ 0.067")
}

func TestThemes(t *testing.T) {
	for _, colors := range []int{0, 2, 8, 16, 256, 1 << 24} {
		theme := newTheme(colors, false)
		if theme.color != (colors >= 8) {
			t.Errorf("%d colours: colour is %v", colors, theme.color)
		}
		if !theme.color {
			continue
		}
		seen := make(map[tcell.Color]bool)
		for _, s := range slices.Concat(theme.typed[:], theme.heat[:1]) {
			fg, _, _ := s.Decompose()
			if colors < 256 && fg-tcell.ColorBlack >= 16 {
				t.Errorf("%d colours: %v is none of them", colors, fg)
			}
			seen[fg] = true
		}
		if len(seen) < len(theme.typed) {
			t.Errorf("%d colours: two typed times look alike", colors)
		}
	}
}

// Deep entries can be read on a narrow screen: the names move to
// the left with the selection.
func TestDeepEntriesCanBeRead(t *testing.T) {
	b := largeProfile(t, 20_000)
	b.do(func() { b.profile().session.SetThreshold(refine.Threshold{}) })
	for range 20 {
		b.keys("d", "l")
	}
	var label string
	var depth int
	b.do(func() { w := b.profile(); label, depth = w.entries.entry().Label(), w.entries.rows[w.entries.at].depth })
	if depth < 12 {
		t.Fatalf("the selected entry is only %d deep", depth)
	}
	b.resize(40, 24)
	b.shows("›", " "+label)
}

// Only one page of a long profile is drawn.
func TestLongProfilesScroll(t *testing.T) {
	b := largeProfile(t, 20_000)
	b.keys("e", "[", "[", "[", "[", "[", "[")
	var n int
	b.do(func() { n = len(b.profile().entries.rows) })
	if n < 1000 {
		t.Fatalf("only %d rows", n)
	}
	b.shows("▲0")
	b.keys("G")
	b.shows(fmt.Sprintf("▲%d ▼0", n-17))
	b.keys("g")
	for range 3 {
		b.wheel(20, 10, tcell.WheelDown)
	}
	b.shows(fmt.Sprintf("▲9 ▼%d", n-17-9))
	b.hides("›")
	b.keys("j")
	b.shows("▲1 ", "›")
	if !strings.Contains(b.text(), bigtree.Function(0)[:3]) {
		t.Error("no function of the tree is shown")
	}
}
