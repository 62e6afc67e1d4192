package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// XProf returns the root and then the functions, by falling cum,
// then by base and name (arcflow paper, "The xprof report",
// figure 6). A row and the function's stanza in XArc have the
// same index, given the same options.
func XProf(t *calltree.Tree, o XOptions) []XRow {
	p := newXProfile(t, o)
	return lists.Each(p.order, func(f calltree.Func) XRow { return p.rows[f] })
}

// An xprofile has the numbers of a tree's functions, by Func.
type xprofile struct {
	values *xvalues
	rows   []XRow
	order  []calltree.Func // the functions that are shown
}

func newXProfile(t *calltree.Tree, o XOptions) *xprofile {
	syms := t.Symbols()
	row := make([]int32, t.Len())
	for n, f := range t.Funcs() {
		row[n] = int32(f)
	}
	p := &xprofile{values: nodeValues(t, o).byRow(t, row, syms.Len()),
		rows: make([]XRow, syms.Len())}
	for f, level := range shallowest(t) {
		p.rows[f] = p.values.row(syms.Name(calltree.Func(f)), int32(f))
		if level >= 0 && (o.Depth == 0 || level <= o.Depth) && o.keeps(p.rows[f].Name) &&
			o.reaches(p.rows[f]) {
			p.order = append(p.order, calltree.Func(f))
		}
	}
	root := t.Funcs()[0]
	slices.SortFunc(p.order, func(a, b calltree.Func) int {
		x, y := p.rows[a], p.rows[b]
		switch c := y.Weights[0].Cum.Cmp(x.Weights[0].Cum); {
		case c != 0 || a == b:
			return c
		case a == root:
			return -1
		case b == root:
			return 1
		}
		if c := y.Weights[0].Base.Cmp(x.Weights[0].Base); c != 0 {
			return c
		}
		return strings.Compare(x.Name, y.Name)
	})
	return p
}

// shallowest returns for each function the least level at which
// it occurs, or
// -1 if it does not occur.
func shallowest(t *calltree.Tree) []int {
	least := slices.Repeat([]int{-1}, t.Symbols().Len())
	level := make([]int32, t.Len())
	for n, p := range t.Parents() {
		if n > 0 {
			level[n] = level[p] + 1
		}
		if f := t.Funcs()[n]; least[f] < 0 || int(level[n]) < least[f] {
			least[f] = int(level[n])
		}
	}
	return least
}

// WriteXProf writes the xprof report: calls, percentages of base
// and cum, the index of the function in the xarc report, and
// below them the sum of the calls.
func WriteXProf(w io.Writer, t *calltree.Tree, o XOptions) {
	out := bufio.NewWriter(w)
	p := newXProfile(t, o)
	line := func(cells, index, name string) {
		out.Write(append(o.appendName(fmt.Appendf(nil, "%s %5s  ", cells, index), name), '\n'))
	}
	write := p.values.cells()
	termtext.Fprintln(out, termtext.Text(p.values.heading("xprof")))
	line(p.values.columns(), "Ind", "Name")
	line(p.values.ruler(), "===", "====")
	sum := p.values.calls.of.Weight(make([]int64, len(p.values.calls.base))...)
	for i, f := range p.order {
		r := p.rows[f]
		line(string(write(nil, r)), strconv.Itoa(i), r.Name)
		sum.Add(sum, r.Calls.Exact())
	}
	termtext.Fprintf(out, "%9s\n", exactOrRounded(sum, 2))
	out.Flush()
}

// ruler underlines the columns.
func (v *xvalues) ruler() string {
	out := "      ==="
	for _, w := range v.weights {
		base, cum := v.titles(w)
		out += fmt.Sprintf(" %*s %*s", max(8, len(base)), "=====", max(8, len(cum)), "====")
	}
	return out
}
