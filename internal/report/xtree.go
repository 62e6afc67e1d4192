package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// An XTreeRow is a node of the call tree.
type XTreeRow struct {
	Level     int  `json:"level"`     // 0 for the root
	Recursion int  `json:"recursion"` // how often the function is on the stack, including this node
	Node      XRow `json:"node"`
}

// XTree returns the call tree in preorder (arcflow paper, "The
// xtree report", figure 5). If it leaves out a node, it also
// leaves out all nodes below it.
func XTree(t *calltree.Tree, o XOptions) iter.Seq[XTreeRow] {
	return func(yield func(XTreeRow) bool) {
		v := nodeValues(t, o)
		kept := keptByName(t, o)
		syms, funcs, ends := t.Symbols(), t.Funcs(), t.Ends()
		active := make([]int, syms.Len())
		var open []int32
		for n := int32(0); n < int32(t.Len()); {
			for len(open) > 0 && ends[open[len(open)-1]] <= n {
				active[funcs[open[len(open)-1]]]--
				open = open[:len(open)-1]
			}
			r := XTreeRow{Level: len(open), Recursion: active[funcs[n]] + 1}
			if (o.Depth > 0 && r.Level > o.Depth) || (kept != nil && !kept[n]) {
				n = ends[n]
				continue
			}
			if r.Node = v.row(syms.Name(funcs[n]), n); !o.reaches(r.Node) {
				n = ends[n]
				continue
			}
			if !yield(r) {
				return
			}
			active[funcs[n]]++
			open = append(open, n)
			n++
		}
	}
}

// keptByName reports for each node whether it is above, at or
// below a node whose name is kept. It returns nil if all are.
func keptByName(t *calltree.Tree, o XOptions) []bool {
	if o.Keep == nil {
		return nil
	}
	named := make([]bool, t.Symbols().Len())
	for f := range named {
		named[f] = o.Keep(t.Symbols().Name(calltree.Func(f)))
	}
	kept := make([]bool, t.Len())
	funcs, parents := t.Funcs(), t.Parents()
	for n := range kept {
		kept[n] = named[funcs[n]] || n > 0 && kept[parents[n]]
	}
	for n := len(kept) - 1; n > 0; n-- {
		if kept[n] {
			kept[parents[n]] = true
		}
	}
	return kept
}

// WriteXTree writes the xtree report: level, level of recursion, calls, and
// percentages of base and cum.
func WriteXTree(w io.Writer, t *calltree.Tree, o XOptions) {
	out := bufio.NewWriter(w)
	v := nodeValues(t, o)
	termtext.Fprintln(out, v.heading("xtree"))
	termtext.Fprintf(out, "%4s %4s %s  Indent Name\n", "Lv", "RL", v.columns())
	write := v.cells()
	var line []byte
	for r := range XTree(t, o) {
		line = appendPadded(line[:0], 4, strconv.AppendInt(nil, int64(r.Level), 10))
		line = appendPadded(append(line, ' '), 4, strconv.AppendInt(nil, int64(r.Recursion), 10))
		line = append(write(append(line, ' '), r.Node), "  "...)
		line = append(line, indent(r.Level)...)
		out.Write(append(o.appendName(line, r.Node.Name), '\n'))
	}
	out.Flush()
}

const deepestIndent = 100

// indent returns a dash for each level, with every fifth a plus,
// as in figure 5. Below deepestIndent it does not grow.
func indent(level int) string {
	if level == 0 {
		return ""
	}
	shown := min(level, deepestIndent)
	dashes := strings.Repeat("----+", shown/5) + "----"[:shown%5]
	if level > shown {
		dashes += "..."
	}
	return dashes + " "
}

// heading returns the name of a report, and the total of each
// metric shown.
func (v *xvalues) heading(name string) string {
	var units []string
	for _, w := range v.weights {
		unit := w.of.Name
		if w.of.Unit != "" && w.of.Unit != unit {
			unit += ", " + w.of.Unit
		}
		units = append(units,
			fmt.Sprintf("Units :: %s; Total :: %s", termtext.Printable(unit),
				exactOrRounded(w.of.Denominator, 2)))
	}
	return fmt.Sprintf("%s report (%s)", name, strings.Join(units, " | "))
}

// columns returns the titles of the numbers of a row.
func (v *xvalues) columns() string {
	out := fmt.Sprintf("%9s", v.title)
	for _, w := range v.weights {
		base, cum := v.titles(w)
		out += fmt.Sprintf(" %8s %8s", base, cum)
	}
	return out
}

func (v *xvalues) titles(w *xsums) (base, cum string) {
	if len(v.weights) == 1 {
		return "%Base", "%Cum"
	}
	return "%Base " + termtext.Printable(w.of.Name), "%Cum " + termtext.Printable(w.of.Name)
}

// cells returns a function that appends the numbers of a row to
// a line. It must be fast: reports can have a million rows.
func (v *xvalues) cells() func(line []byte, r XRow) []byte {
	var widths []int
	for _, w := range v.weights {
		base, cum := v.titles(w)
		widths = append(widths, max(8, len(base)), max(8, len(cum)))
	}
	var cell []byte
	return func(line []byte, r XRow) []byte {
		cell = r.Calls.appendHits(cell[:0])
		line = appendPadded(line, 9, cell)
		for i, w := range r.Weights {
			cell = w.Base.appendPercent(cell[:0])
			line = appendPadded(append(line, ' '), widths[2*i], cell)
			cell = w.Cum.appendPercent(cell[:0])
			line = appendPadded(append(line, ' '), widths[2*i+1], cell)
		}
		return line
	}
}

func appendPadded(line []byte, width int, cell []byte) []byte {
	for range width - len(cell) {
		line = append(line, ' ')
	}
	return append(line, cell...)
}

// appendName appends a name as Printable shows it. The line has
// only ASCII characters.
func (o *XOptions) appendName(line []byte, name string) []byte {
	if o.Width > 0 && len(line)+len(name) > o.Width {
		return append(line, termtext.ShortenPath(termtext.Printable(name), o.Width-len(line))...)
	}
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return append(line, termtext.Printable(name)...)
		}
	}
	return append(line, name...)
}

// WriteXTreeJSON writes the rows of XTree as JSON.
func WriteXTreeJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "rows", XTree(t, o), basis)
}

// WriteXProfJSON writes the rows of XProf as JSON.
func WriteXProfJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "rows", slices.Values(XProf(t, o)), basis)
}

// WriteXArcJSON writes the stanzas of XArc as JSON.
func WriteXArcJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "stanzas", XArc(t, o), basis)
}

// writeList writes a document with a list of this name, one
// element per line. It writes each element as soon as it has it:
// there can be millions.
func writeList[E any](w io.Writer, name string, list iter.Seq[E], basis Basis) error {
	head, err := marshal(basis)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(head, []byte("}")))
	out.WriteString(`,"` + name + `":`)
	separator := "[\n"
	for element := range list {
		text, err := marshal(element)
		if err != nil {
			return err
		}
		out.WriteString(separator)
		out.Write(text)
		separator = ",\n"
	}
	if separator == "[\n" {
		out.WriteString("[")
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}
