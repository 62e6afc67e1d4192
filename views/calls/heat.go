package calls

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
)

// A HeatMap counts the whole calls of a function by when they
// begin and by how long they took. Its edges are short numbers,
// so that the condition of an area is a short text that chooses
// exactly the calls counted there.
type HeatMap struct {
	Start time.Duration `json:"start_ns"` // of the first column
	Step  time.Duration `json:"step_ns"`  // the width of a column
	// Edges are the bounds of the rows, ascending: row i has the
	// calls of at least Edges[i] that are shorter than
	// Edges[i+1].
	Edges []time.Duration `json:"edges_ns"`
	// Untimed says that how long the calls of row 0 took is not known.
	Untimed bool   `json:"untimed"`
	Columns int    `json:"columns"`
	Cells   []Cell `json:"cells"` // that have calls, by column and row
	Cut     int    `json:"cut"`   // calls that are not whole, and so left out
	// Whole says that the columns are all of the time.
	Whole bool `json:"whole"`
}

// A Cell is a number of calls. For some of them, a condition holds.
type Cell struct {
	Column int `json:"column"`
	Row    int `json:"row"`
	Calls  int `json:"calls"`
	Chosen int `json:"chosen"`
}

// columnSteps are widths of columns: short numbers.
var columnSteps = func() (list []time.Duration) {
	for unit := time.Microsecond; unit <= 1000*time.Second; unit *= 10 {
		list = append(list, unit, 2*unit, 5*unit)
	}
	return list
}()

// finest is the number of rows from a length to ten times as
// much, at most.
const finest = 40

// HeatMap returns the heat map. The numbers of columns and rows
// are limits, but each factor of ten has a row. The cells count
// the calls for which a condition holds. Only calls that begin
// in the span count; To 0 is the end.
func (t *Table) HeatMap(columns, rows int, chosen Condition, span views.Span) *HeatMap {
	columns, rows = max(columns, 1), max(rows, 3)
	h := &HeatMap{Cells: []Cell{}, Cut: len(t.Calls) - t.Whole()}
	var first, last time.Duration
	for i := range t.Calls {
		first, last = min(first, t.Calls[i].Begin), max(last, t.Calls[i].Begin)
	}
	last = max(last, t.Duration)
	if h.Whole = span.From <= first && (span.To == 0 || span.To >= last); !h.Whole {
		end := last
		if span.To > 0 {
			end = min(last, span.To-1)
		}
		first = min(max(first, span.From), end)
		last = end
	}
	h.Step = (last-first)/time.Duration(columns) + 1
	if i, _ := slices.BinarySearch(columnSteps, h.Step); i < len(columnSteps) {
		h.Step = columnSteps[i]
	}
	h.Start = first / h.Step * h.Step
	h.Columns = int((last-h.Start)/h.Step) + 1
	if h.Columns > columns { // the start is before the first call
		h.Step *= 2
		h.Start = first / h.Step * h.Step
		h.Columns = int((last-h.Start)/h.Step) + 1
	}
	h.divide(t, rows)
	h.count(t, chosen)
	return h
}

// divide makes the edges of the rows.
func (h *HeatMap) divide(t *Table, rows int) {
	h.Untimed = t.Short() > 0
	least, most := time.Nanosecond, time.Nanosecond
	if n := len(t.whole); n > 0 {
		least, most = max(t.whole[0].Length(), 1), max(t.whole[n-1].Length(), 1)
	}
	if h.Untimed {
		least = max(2*t.Interval, 1)
		h.Edges = append(h.Edges, 0)
	}
	for each := finest; ; each = max(1, each/2) {
		edges := edgesOf(least, max(most, least), each)
		if len(edges)+len(h.Edges) <= rows+1 || each == 1 {
			h.Edges = append(h.Edges, edges...)
			return
		}
	}
}

// edgesOf returns edges of rows, a number for each factor of
// ten, that include two lengths.
func edgesOf(least, most time.Duration, each int) (list []time.Duration) {
	for i := int(math.Floor(math.Log10(float64(least))*float64(each))) - 1; ; i++ {
		ns := math.Pow(10, float64(i)/float64(each))
		if ns > math.MaxInt64/2 {
			return append(list, math.MaxInt64)
		}
		edge := short(ns)
		if edge <= least {
			list = list[:0]
		}
		if len(list) == 0 || edge > list[len(list)-1] {
			list = append(list, edge)
		}
		if edge > most && len(list) > 1 {
			return list
		}
	}
}

// short rounds nanoseconds to three digits.
func short(ns float64) time.Duration {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(ns))-2))
	return time.Duration(math.Round(ns/unit) * unit)
}

// Rounded rounds a length to three digits.
func Rounded(length time.Duration) time.Duration { return short(float64(length)) }

// count fills the cells.
func (h *HeatMap) count(t *Table, condition Condition) {
	cells := make(map[[2]int]*Cell)
	chosen, rest := t.choose(condition)
	for i, list := range [][]*Call{chosen, rest} {
		for _, call := range list {
			if !call.Whole() || call.Begin < h.Start || call.Begin >= h.end() {
				continue
			}
			at := [2]int{int((call.Begin - h.Start) / h.Step), h.rowOf(call.Length())}
			cell := lists.Made(cells, at, func() *Cell { return &Cell{Column: at[0], Row: at[1]} })
			cell.Calls++
			cell.Chosen += 1 - i
		}
	}
	for _, c := range cells {
		h.Cells = append(h.Cells, *c)
	}
	slices.SortFunc(h.Cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Row, b.Row))
	})
}

// end is the end of the last column, or the last moment of all.
func (h *HeatMap) end() time.Duration {
	if end := h.Start + time.Duration(h.Columns)*h.Step; end > h.Start {
		return end
	}
	return math.MaxInt64
}

// Zoomed returns the span of num/den of the columns, around the
// middle of one of them; all of the time if there are no more.
func (h *HeatMap) Zoomed(column int, num, den time.Duration) views.Span {
	width := max((h.end()-h.Start)/den*num, 2*time.Microsecond)
	from := max(0, h.Start+time.Duration(column)*h.Step+h.Step/2-width/2)
	if h.Whole && num > den {
		return views.Span{}
	}
	return views.Span{From: from, To: from + width}
}

func (h *HeatMap) rowOf(length time.Duration) int {
	at, exact := slices.BinarySearch(h.Edges, length)
	if !exact {
		at--
	}
	return min(max(at, 0), len(h.Edges)-2)
}

// An Area is some cells of a heat map. Its corners belong to it.
type Area struct{ Left, Right, Bottom, Top int }

// Has reports whether a cell is in the area.
func (a Area) Has(column, row int) bool {
	return a.Left <= column && column <= a.Right && a.Bottom <= row && row <= a.Top
}

// Condition returns the text of a condition that holds for the
// calls of an area: ">= 5ms < 79.4ms @ 1.2s,3.4s". An end that
// no call exceeds is left out. The whole map has the condition
// ">= 0s".
func (h *HeatMap) Condition(a Area) string {
	var parts []string
	if a.Bottom > 0 {
		parts = append(parts, ">= "+h.Edges[a.Bottom].String())
	}
	if a.Top < len(h.Edges)-2 {
		parts = append(parts, "< "+h.Edges[a.Top+1].String())
	}
	if a.Left > 0 || a.Right < h.Columns-1 || !h.Whole {
		from, to := "", ""
		if a.Left > 0 || !h.Whole {
			from = (h.Start + time.Duration(a.Left)*h.Step).String()
		}
		if a.Right < h.Columns-1 || !h.Whole {
			to = (h.Start + time.Duration(a.Right+1)*h.Step).String()
		}
		parts = append(parts, fmt.Sprintf("@ %s,%s", from, to))
	}
	if len(parts) == 0 {
		return ">= 0s"
	}
	return strings.Join(parts, " ")
}
