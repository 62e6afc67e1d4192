package export

import (
	"encoding/csv"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
)

// The tables that are written as comma-separated values, each a format.
var (
	csvView      = Format{Name: "csv", Help: "a table; also csv-functions, csv-classes, csv-locks, csv-samples", File: "view.csv", write: table(viewTable)}
	csvFunctions = Format{Name: "csv-functions", Help: "the same of the functions: own and cumulative time", File: "functions.csv", oneOnly: oneTable, write: table(functionTable)}
	csvClasses   = Format{Name: "csv-classes", Help: "the same of the thread classes", File: "classes.csv", OfRecording: true, oneOnly: oneTable, write: table(classTable)}
	csvLocks     = Format{Name: "csv-locks", Help: "the same of the locks, their waiters and holders", File: "locks.csv", OfRecording: true, oneOnly: oneTable, write: table(lockTable)}
	csvSamples   = Format{Name: "csv-samples", Help: "the same of the samples, and what was measured beside them", File: "samples.csv", OfRecording: true, oneOnly: oneTable, write: table(sampleTable)}
)

// A tableWriter writes the rows of a table; texts that a spreadsheet would take for a formula are quoted.
type tableWriter struct{ *csv.Writer }

// table returns a function that writes a table.
func table(rows func(*tableWriter, *Subject) error) func(io.Writer, *Subject) error {
	return func(w io.Writer, s *Subject) error {
		t := &tableWriter{csv.NewWriter(w)}
		if err := rows(t, s); err != nil {
			return err
		}
		t.Flush()
		return t.Error()
	}
}

// row writes texts and numbers.
func (t *tableWriter) row(cells ...any) {
	record := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			record[i] = cellText(cell)
		case int:
			record[i] = strconv.Itoa(cell)
		case int64:
			record[i] = strconv.FormatInt(cell, 10)
		case float64:
			record[i] = strconv.FormatFloat(cell, 'g', -1, 64)
		case *big.Rat:
			record[i] = decimal(cell)
		}
	}
	_ = t.Write(record) // Error returns it
}

// cellText makes a text safe for terminals and spreadsheets.
func cellText(text string) string {
	text = termtext.Printable(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// decimal returns a number with six digits after the point, none if it is whole. nil is empty.
func decimal(x *big.Rat) string {
	switch {
	case x == nil:
		return ""
	case x.IsInt():
		return x.Num().String()
	}
	return x.FloatString(6)
}

func viewTable(w *tableWriter, s *Subject) error {
	if s.Refined {
		return entryTable(w, s)
	}
	t := s.Session.Tree()
	if s.Compared() {
		return comparedTable(w, t)
	}
	m := t.Main()
	w.row("level", "frame", "path", "own "+m.Unit, "total "+m.Unit, "own cost", "cost", "hits")
	l := place{tree: t}
	for n := range int32(t.Len()) {
		level, frame, path := l.at(n)
		own, through := m.Own(n), m.Through(n)
		w.row(level, frame, path, own, through.Weight, m.Cost(own), m.Cost(through.Weight), through.Hits)
	}
	return nil
}

// A place is where a walk over a tree is. The tree can have very many nodes, so that it keeps only the paths above the node.
type place struct {
	tree  *calltree.Tree
	nodes []int32  // from the root to the node
	paths []string // of them, with " > " between frames
}

// at goes to the next node, and returns its level, frame and path.
func (l *place) at(n int32) (level int, frame, path string) {
	if n == 0 {
		l.nodes, l.paths = []int32{0}, []string{l.tree.Root()}
		return 0, l.tree.Root(), l.tree.Root()
	}
	for l.nodes[len(l.nodes)-1] != l.tree.Parents()[n] {
		l.nodes, l.paths = l.nodes[:len(l.nodes)-1], l.paths[:len(l.paths)-1]
	}
	frame = l.tree.Symbols().Name(l.tree.Funcs()[n])
	path = l.paths[len(l.paths)-1] + " > " + frame
	l.nodes, l.paths = append(l.nodes, n), append(l.paths, path)
	return len(l.nodes) - 1, frame, path
}

func comparedTable(w *tableWriter, t *calltree.Tree) error {
	a, b := t.Metrics()[1], t.Metrics()[2]
	w.row("level", "frame", "path", "total "+a.Unit+" in A", "in B", "cost in A", "in B", "A - B")
	l := place{tree: t}
	for n := range int32(t.Len()) {
		level, frame, path := l.at(n)
		inA, inB := a.Cum(n), b.Cum(n)
		costA, costB := a.Cost(inA), b.Cost(inB)
		w.row(level, frame, path, inA, inB, costA, costB, new(big.Rat).Sub(costA, costB))
	}
	return nil
}

// entryTable has the entries of a refinement.
func entryTable(w *tableWriter, s *Subject) error {
	if s.Compared() {
		w.row("level", "call path", "cost in A", "in B", "A - B", "hits in A", "in B")
	} else {
		w.row("level", "call path", "nanoseconds", "cost", "hits")
	}
	s.Session.Walk(func(e *refine.Entry, depth int) {
		if !s.Compared() {
			w.row(depth, e.Path.String(), e.Weight, s.Session.Cost(e), e.Hits)
			return
		}
		both := report.CostsOfBoth(s.Session.Tree(), s.Session.Membership(), pathsOf(e))[0]
		w.row(depth, e.Path.String(), both.A, both.B, both.Difference(), both.InA.Hits, both.InB.Hits)
	})
	return nil
}

func functionTable(w *tableWriter, s *Subject) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	unit := t.Main().Unit
	w.row("function", "calls or hits", "own "+unit, "total "+unit)
	for _, r := range report.XProf(t, report.XOptions{Metrics: []int{0}}) {
		w.row(r.Name, r.Calls.Exact(), r.Weights[0].Base.Exact(), r.Weights[0].Cum.Exact())
	}
	return nil
}

func classTable(w *tableWriter, s *Subject) error {
	classes, err := views.Classes(s.Recording, s.Options)
	if err != nil {
		return err
	}
	head := []any{"class", "goroutines", "instances", "alive", "nanoseconds", "idle"}
	for t := range views.NumTypedTimes {
		head = append(head, t.Name())
	}
	w.row(head...)
	for _, c := range classes {
		cells := []any{c.Class, c.Goroutines, c.Hits, c.MeanAlive, c.Time, c.Idle.Weight}
		for t := range views.NumTypedTimes {
			cells = append(cells, c.Parts[t])
		}
		w.row(cells...)
	}
	return nil
}

func lockTable(w *tableWriter, s *Subject) error {
	if err := s.needSamples("locks"); err != nil {
		return err
	}
	a, err := locks.Analyse(s.Recording, s.Options, locks.ByField)
	if err != nil {
		return err
	}
	w.row("lock", "kind", "role", "class", "in", "nanoseconds", "hits")
	for _, l := range append(a.Locks, a.Shared...) {
		w.row(l.String(), l.Kind, "all", "", "", l.Total.Weight, l.Total.Hits)
		for _, waiter := range l.Waiters {
			w.row(l.String(), l.Kind, "waiter", waiter.Class, waiter.In, waiter.Weight, waiter.Hits)
		}
		for _, holder := range l.Holders {
			w.row(l.String(), l.Kind, "holder", holder.Class, "", holder.Weight, holder.Hits)
		}
	}
	return nil
}

// sampleTable has a row for each sample, with what was measured last in each series.
func sampleTable(w *tableWriter, s *Subject) error {
	if err := s.needSamples("samples"); err != nil {
		return err
	}
	r := s.Recording
	from, to, err := s.Options.Span.Samples(r)
	if err != nil {
		return err
	}
	head := []any{"sample", "time ns", "weight ns", "halt ns", "threads"}
	columns := make([]map[int]string, len(r.Series))
	for i := range r.Series {
		head = append(head, r.Series[i].Name)
		columns[i] = make(map[int]string)
		for at, v := range r.Series[i].All() {
			columns[i][at] = v.String()
		}
	}
	w.row(head...)
	weights := r.Weights()
	last := make([]string, len(columns))
	for i, sample := range r.Samples.All() {
		for k, c := range columns {
			if v, changed := c[i]; changed {
				last[k] = v
			}
		}
		if int32(i) < from || int32(i) >= to {
			continue
		}
		cells := []any{i, int64(sample.Time), weights.Of(i, i+1), int64(sample.Halt), int64(sample.Threads)}
		for _, v := range last {
			cells = append(cells, v)
		}
		w.row(cells...)
	}
	return nil
}
