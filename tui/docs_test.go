package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/demo"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// The documentation shows screens of the Analyzer with the
// recording of the demo in testdata of the command. These tests
// press the same keys, and compare. UPDATE_DOCS=1 writes the
// screens of now: look at them before you commit them.

// demoBench shows the recording of the demo with the demo's configuration.
func demoBench(t *testing.T, width, height int) *bench {
	t.Helper()
	c := fixture.Must(config.Parse("demo.yaml", demo.Config()))(t)
	b := newBench(t, Options{
		Path: "demo.cpprof", Recording: twin(t, "demo"), Config: c, Views: c.Configure(views.Options{LeaveOutIdle: true}), Levels: 2,
	})
	b.resize(width, height)
	return b
}

// documented compares a text with that of a file of the documentation.
func documented(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(fixture.Root(), "docs", name)
	if os.Getenv("UPDATE_DOCS") != "" {
		fixture.Check(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want := fixture.Must(os.ReadFile(file))(t)
	if got != string(want) {
		t.Errorf("docs/%s differs from the screen; UPDATE_DOCS=1 writes\n%s", name, got)
	}
}

func TestPicturesOfTheDocumentation(t *testing.T) {
	for _, p := range []struct {
		file, title string
		height      int
		keys        []string
	}{
		{
			"summary.svg", "The Summary of the Analyzer: the recording as a strip of time, and its thread classes", 24, nil,
		},
		{
			"thread-view.svg", "The Thread View of a class of workers: they wait for a lock that a flusher holds while it writes", 35,
			[]string{"Enter", "j", "j", "Enter"},
		},
	} {
		b := demoBench(t, 90, p.height)
		b.do(func() { *b.theme = *newTheme(1<<24, false) })
		b.keys(p.keys...)
		var svg strings.Builder
		fixture.Check(t, writeSVG(&svg, b.cells(), p.title))
		documented(t, p.file, svg.String())
	}
}

// cells returns the screen.
func (b *bench) cells() (lines [][]svgCell) {
	b.do(func() {})
	b.do(func() {
		cells, width, height := b.sim.GetContents()
		for y := range height {
			var line []svgCell
			for _, c := range cells[y*width:][:width] {
				fore, back, attributes := c.Style.Decompose()
				line = append(line, svgCell{Rune: c.Runes[0], svgStyle: svgStyle{
					Fore: hex(fore), Back: hex(back),
					Bold: attributes&tcell.AttrBold != 0, Dim: attributes&tcell.AttrDim != 0, Reverse: attributes&tcell.AttrReverse != 0,
				}})
			}
			lines = append(lines, line)
		}
	})
	return lines
}

// hex returns a colour as a picture has it.
func hex(c tcell.Color) string {
	if x := c.Hex(); x >= 0 {
		return fmt.Sprintf("#%06x", x)
	}
	return ""
}

var (
	// A walk is a line that ends with the keys, and the screen below it.
	walk = regexp.MustCompile("(?m)^[A-Z][^\n`]*: ((?:`[^`\n]+` ?)+)\\.\n\n((?:    .*\n)+)")
	keys = regexp.MustCompile("`([^`]+)`")
)

// Each problem of the demo is found with ten keys at most, and the Analyzer then shows what the worked example says. Some walks
// begin where the one before them has ended.
func TestWalksOfTheWorkedExample(t *testing.T) {
	const name = "worked-example.md"
	text := fixture.Must(os.ReadFile(filepath.Join(fixture.Root(), "docs", name)))(t)
	b := demoBench(t, 80, 30)
	walks := 0
	now := walk.ReplaceAllStringFunc(string(text), func(w string) string {
		walks++
		parts := walk.FindStringSubmatch(w)
		pressed := 0
		for _, k := range keys.FindAllStringSubmatch(parts[1], -1) {
			list := []string{k[1]}
			if strings.HasPrefix(k[1], "/") {
				list = strings.Split(k[1], "")
			}
			pressed += len(list)
			b.keys(list...)
		}
		if pressed > 10 {
			t.Errorf("%s takes %d keys", parts[1], pressed)
		}
		return strings.TrimSuffix(w, parts[2]) + b.entries()
	})
	if walks != len(demo.Truth()) {
		t.Errorf("%s has %d walks, want one for each of the %d problems", name, walks, len(demo.Truth()))
	}
	documented(t, name, now)
}

// entries returns the part of a view's screen from its title to its last entry, indented as the documentation has it.
func (b *bench) entries() string {
	b.t.Helper()
	var text strings.Builder
	began := false
	for line := range strings.Lines(b.text()) {
		began = began || strings.HasPrefix(line, " Thread View of") || strings.HasPrefix(line, " Server View")
		if began && line == "\n" || strings.HasPrefix(line, "─") {
			break
		}
		if began {
			text.WriteString("    " + line)
		}
	}
	return text.String()
}
