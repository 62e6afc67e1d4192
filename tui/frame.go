package tui

import "github.com/cpprof/cpprof/views/calls"

// A frame is a cursor on a drawing, and the rectangle that a
// person draws from an anchor to the cursor.
type frame struct {
	column, row             int // of the cursor
	anchorColumn, anchorRow int // the corner where the rectangle begins
	begun, dragged          bool
	moved                   bool   // the cursor is not where it began
	columns, rows           int    // of the drawing; 0 if there is none
	place                   canvas // of the drawing
}

// maxCells is greater than the number of columns or rows of any screen.
const maxCells = 2048

// limit sets how many columns and rows the drawing has.
func (f *frame) limit(columns, rows int) {
	f.columns, f.rows = columns, rows
	f.moveTo(f.column, f.row)
}

// moveTo moves the cursor to a cell, or to the nearest one.
func (f *frame) moveTo(column, row int) {
	f.column, f.row = min(max(column, 0), f.columns-1), min(max(row, 0), f.rows-1)
}

// by returns what moves the cursor, if something is drawn.
func (f *frame) by(columns, rows int) func() {
	return func() {
		if f.columns > 0 {
			f.moved = true
			f.moveTo(f.column+columns, f.row+rows)
		}
	}
}

// where says what is chosen.
func (f *frame) where() string {
	if f.begun {
		return "in the rectangle"
	}
	return "here"
}

// bindings draw the rectangle and move the cursor. down is the
// step from a row to the one below it: 1 or -1.
func (f *frame) bindings(down int) []binding {
	return []binding{
		on("Space", "Begin", "begin a rectangle here", func() {
			f.anchorColumn, f.anchorRow, f.begun = f.column, f.row, true
		}),
		on("Esc", "", "drop the rectangle", func() { f.begun, f.dragged = false, false }),
		on("l Right", "", "to the right", f.by(1, 0)),
		on("h Left", "", "to the left", f.by(-1, 0)),
		on("j Down", "", "down", f.by(0, down)),
		on("k Up", "", "up", f.by(0, -down)),
		on("PgDn Ctrl-F", "", "much further to the right", f.by(10, 0)),
		on("PgUp Ctrl-B", "", "much further to the left", f.by(-10, 0)),
		on("g Home", "", "the top left corner", f.by(-maxCells, -maxCells*down)),
		on("G End", "", "the bottom right corner", f.by(maxCells, maxCells*down)),
	}
}

// chosen returns the rectangle from the anchor to the cursor, or
// the cell of the cursor. If rows count from the top, its bottom
// is above its top.
func (f *frame) chosen() calls.Area {
	r := calls.Area{Left: f.column, Right: f.column, Bottom: f.row, Top: f.row}
	if f.begun {
		r.Left, r.Right = min(r.Left, f.anchorColumn), max(r.Right, f.anchorColumn)
		r.Bottom, r.Top = min(r.Bottom, f.anchorRow), max(r.Top, f.anchorRow)
	}
	return r
}

// mouse draws the rectangle. The cell lies under the pointer, or
// nearest to it.
func (f *frame) mouse(action mouseAction, column, row int, inside bool) {
	switch {
	case f.columns == 0:
	case action == mouseMove:
		f.dragged = false // released over another window
	case action == mouseDown && inside:
		f.moveTo(column, row)
		f.anchorColumn, f.anchorRow = f.column, f.row
		f.begun, f.dragged, f.moved = true, true, true
	case action == mouseDrag && f.dragged:
		f.moveTo(column, row)
	case action == mouseUp && f.dragged:
		f.dragged = false
		f.begun = f.column != f.anchorColumn || f.row != f.anchorRow
	}
}
