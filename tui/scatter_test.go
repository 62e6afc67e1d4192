package tui

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/gdamore/tcell/v2"
)

// scatterKeys has a test for every binding of a scatter window,
// by its first key.
var scatterKeys = map[string]keyTest{
	"Space": {unseen: true, check: func(t *testing.T, b *bench) { b.keys("l"); b.shows("in the rectangle") }},
	"Enter": {keys: []string{"Space", "G"}, check: shows("⊂ ", ": 8 of 11")},
	"n":     {keys: []string{"G"}, check: shows("no sample is in the rectangle")},
	"a":     {keys: []string{"Space", "G", "Enter"}, check: hides("⊂")},
	"Esc":   {keys: []string{"Space", "l"}, check: hides("in the rectangle")},
	"l":     {unseen: true, check: at(1, 0)},
	"h":     {unseen: true, keys: []string{"l", "l"}, check: at(1, 0)},
	"j":     {unseen: true, check: at(0, 1)},
	"k":     {unseen: true, keys: []string{"j", "j"}, check: at(0, 1)},
	"PgDn":  {unseen: true, check: at(10, 0)},
	"PgUp":  {unseen: true, keys: []string{"PgDn", "PgDn"}, check: at(10, 0)},
	"g":     {unseen: true, keys: []string{"l", "j"}, check: at(0, 0)},
	"G":     {unseen: true, check: func(t *testing.T, b *bench) { b.keys("Space", "g"); b.shows("8 samples in the rectangle") }},
	"f":     {check: shows("process.resident (up) with cpu.used (right)")},
}

// at checks the cell of the cursor.
func at(column, row int) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		var w *scatterWindow
		b.do(func() { w = b.window().(*scatterWindow) })
		if w.column != column || w.row != row {
			t.Errorf("the cursor is at column %d and row %d, want %d and %d", w.column, w.row, column, row)
		}
	}
}

// matrixKeys has a test for every binding of a matrix, by its first key.
var matrixKeys = map[string]keyTest{
	"Enter": {check: shows("cpu.used (up) with process.resident (right)")},
	"l":     {check: shows("time with process.resident")},
	"h":     {check: shows("a metric by itself")},
	"j":     {check: shows("a metric by itself")},
	"k":     {keys: []string{"j", "j"}, check: shows("a metric by itself")},
	"a":     {unseen: true, check: hides("⊂")},
	"J":     {unseen: true, check: shows("n 8, r")},
	"K":     {unseen: true, keys: []string{"J"}, check: shows("n 8, r")},
}

// A rectangle becomes a sample list: it counts in every window,
// and the title says so.
func TestRectangle(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.line(":scatter process.resident, cpu.used")
	b.shows("cpu.used (up) with process.resident (right)", "n 8, r 1.000", "0.01", "0.19", "2.0 MiB", "11.0 MiB")
	b.keys("G", "PgUp", "PgUp", "PgUp", "Space", "G", "g", "G", "Esc")
	b.keys("G", "PgUp", "PgUp", "PgUp", "Space", "PgDn", "PgDn", "PgDn")
	b.keys("k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k")
	b.shows("4 samples in the rectangle: x 8.0 MiB to 11.0 MiB, y 0.13 to 0.19")
	b.keys("n")
	b.shows(":list  = process.resident >= 8e+06")
	b.typed("big")
	b.keys("Enter")
	b.shows("The list big has 4 of 11 samples")
	b.keys("Enter")
	b.shows("⊂ ", ": 4 of 11", "n 4, r")
	b.keys("1")
	b.shows("4 of 11 samples")
	b.keys("2", "a")
	b.hides("⊂")
}

// A condition has few digits, and holds for exactly the samples
// of the rectangle.
func TestBounds(t *testing.T) {
	in := bounds{metric: &metrics.Metric{Expr: "x", Column: metrics.Column{1}}}
	for _, x := range []float64{1.23456, 2.5, 3.14159} {
		in.include(x)
	}
	in.exclude(1.1, true, false)
	in.exclude(0.2, true, false)
	in.exclude(3.2, false, true)
	if got := strings.Join(in.conditions(), " && "); got != "x >= 1.2 && x <= 3.15" && got != "x >= 1.2 && x <= 3.17" {
		t.Error(got)
	}
	truth := bounds{metric: &metrics.Metric{Expr: "a > b", Truth: true}}
	truth.include(1)
	truth.exclude(0, true, false)
	if got := truth.conditions(); len(got) != 1 || got[0] != "(a > b)" {
		t.Error(got)
	}
}

// The mouse drags a rectangle.
func TestRectangleByMouse(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.line(":scatter process.resident, cpu.used")
	x, y := b.find("│")
	b.mouse(x+1, y, tcell.ButtonPrimary)
	b.mouse(x+40, y+9, tcell.ButtonPrimary)
	b.mouse(x+40, y+9, tcell.ButtonNone)
	b.shows("1 sample in the rectangle: x 6.0 MiB, y 0.09")
	b.clickAt(x+8, y+9)
	b.hides("in the rectangle")
}
