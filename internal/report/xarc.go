package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// An XStanza lists the callers and callees of one function
// (arcflow paper, "The xarc report", figure 4). The base and cum
// of a parent are the function's own in the calls by that
// parent. For a child, they are the child's in the calls by the
// function. Parents are sorted by rising cum, children by
// falling cum, so that the largest ones are next to the
// function.
type XStanza struct {
	Index    int    `json:"index"` // in the order of the report
	Self     XRow   `json:"self"`
	Parents  []XRow `json:"parents"`
	Children []XRow `json:"children"`
}

// XArc returns the stanzas of all functions, in the order of XProf.
func XArc(t *calltree.Tree, o XOptions) iter.Seq[XStanza] {
	return func(yield func(XStanza) bool) {
		p := newXProfile(t, o)
		a := newXArcs(t, o)
		for i, f := range p.order {
			s := XStanza{Index: i, Self: p.rows[f]}
			s.Parents = a.rows(a.parents.Of(f), a.caller, 1)
			s.Children = a.rows(a.children.Of(f), a.callee, -1)
			if !yield(s) {
				return
			}
		}
	}
}

// xarcs numbers the pairs of caller and callee.
type xarcs struct {
	options           XOptions
	syms              *calltree.Symbols
	caller, callee    []calltree.Func
	values            *xvalues
	parents, children lists.Groups[calltree.Func]
	rank              []int32 // of functions, by name
	keys              []xkey  // scratch
}

func newXArcs(t *calltree.Tree, o XOptions) *xarcs {
	a := &xarcs{options: o, syms: t.Symbols(), rank: ranks(t.Symbols())}
	row := a.number(t)
	a.values = nodeValues(t, o).byRow(t, row, len(a.caller))
	a.parents = lists.GroupBy(a.callee, a.syms.Len())
	a.children = lists.GroupBy(a.caller, a.syms.Len())
	return a
}

// number returns the number of each node's pair; the root has
// -1. It visits the nodes grouped by callee, so that an array
// indexed by caller is enough to find a pair.
func (a *xarcs) number(t *calltree.Tree) []int32 {
	funcs, parents := t.Funcs(), t.Parents()
	row := make([]int32, t.Len())
	row[0] = -1
	nodes := lists.GroupBy(funcs, a.syms.Len())
	known := make([]int32, a.syms.Len())
	for f := range calltree.Func(a.syms.Len()) {
		first := int32(len(a.caller))
		for _, n := range nodes.Of(f) {
			if n == 0 {
				continue
			}
			up := funcs[parents[n]]
			id := known[up]
			if id < first || int(id) >= len(a.caller) || a.caller[id] != up {
				id = int32(len(a.caller))
				known[up] = id
				a.caller = append(a.caller, up)
				a.callee = append(a.callee, f)
			}
			row[n] = id
		}
	}
	return row
}

// rows returns the sorted rows of pairs, without the rows that
// have too little cum.
func (a *xarcs) rows(ids []int32, named []calltree.Func, sign int) []XRow {
	a.sort(ids, named, sign)
	rows := make([]XRow, len(ids))
	n := len(a.values.weights)
	weights := make([]XWeight, len(ids)*n)
	kept := 0
	for _, id := range ids {
		a.values.fill(&rows[kept], a.syms.Name(named[id]), id,
			weights[kept*n:(kept+1)*n:(kept+1)*n])
		if a.options.reaches(rows[kept]) {
			kept++
		}
	}
	return rows[:kept]
}

// An xkey is the sort key of a pair: the cum and base of the
// first metric shown, if one plane is enough for them.
type xkey struct {
	cum, base  int64
	rank, pair int32
}

// sort sorts pairs by the first metric shown, and then by name.
// It first copies the keys into one slice: otherwise the sort of
// a large report would fetch its numbers from all over the
// memory, and mostly wait for it.
func (a *xarcs) sort(ids []int32, named []calltree.Func, sign int) {
	w := a.values.weights[0]
	planes := len(w.cum)
	a.keys = a.keys[:0]
	for _, id := range ids {
		k := xkey{rank: a.rank[named[id]], pair: id}
		if planes == 1 {
			k.cum, k.base = w.cum[0][id], w.base[0][id]
		}
		a.keys = append(a.keys, k)
	}
	slices.SortFunc(a.keys, func(x, y xkey) int {
		c := cmp.Compare(x.cum, y.cum)
		if c == 0 {
			c = cmp.Compare(x.base, y.base)
		}
		if planes > 1 {
			c = w.compare(x.pair, y.pair)
		}
		if c == 0 {
			return cmp.Compare(x.rank, y.rank)
		}
		return sign * c
	})
	for i, k := range a.keys {
		ids[i] = k.pair
	}
}

// ranks returns each function's place among all names.
func ranks(syms *calltree.Symbols) []int32 {
	order := make([]calltree.Func, syms.Len())
	for i := range order {
		order[i] = calltree.Func(i)
	}
	slices.SortFunc(order,
		func(a, b calltree.Func) int { return strings.Compare(syms.Name(a), syms.Name(b)) })
	rank := make([]int32, len(order))
	for i, f := range order {
		rank[f] = int32(i)
	}
	return rank
}

// WriteXArc writes the xarc report: a stanza of parents, self
// and children for each function.
func WriteXArc(w io.Writer, t *calltree.Tree, o XOptions) {
	out := bufio.NewWriter(w)
	v := nodeValues(t, o)
	termtext.Fprintln(out, termtext.Text(v.heading("xarc")))
	termtext.Fprintf(out, "%-6s %s  Function\n", "Source", v.columns())
	ruler := fmt.Sprintf("%-6s %s  ========\n", "======", v.ruler())
	write := v.cells()
	var line []byte
	for s := range XArc(t, o) {
		out.WriteString(ruler)
		for _, r := range s.Parents {
			line = append(write(append(line[:0], "Parent "...), r), "  "...)
			out.Write(append(o.appendName(line, r.Name), '\n'))
		}
		line = fmt.Appendf(write(append(line[:0], "Self   "...), s.Self), "  [%d] ", s.Index)
		out.Write(append(o.appendName(line, s.Self.Name), '\n'))
		for _, r := range s.Children {
			line = append(write(append(line[:0], "Child  "...), r), "  "...)
			out.Write(append(o.appendName(line, r.Name), '\n'))
		}
	}
	out.Flush()
}
