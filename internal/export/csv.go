package export

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// The tables that are written as comma-separated values, each a format.
var (
	csvView = Format{Name: "csv",
		Help: "a table; also csv-functions, csv-classes, csv-locks, csv-samples",
		File: "view.csv", write: table(viewTable)}
	csvFunctions = Format{Name: "csv-functions",
		Help: "the same of the functions: own and cumulative time", File: "functions.csv",
		write: table(functionTable)}
	csvClasses = Format{Name: "csv-classes", Help: "the same of the thread classes",
		File: "classes.csv", OfRecording: true, write: table(classTable)}
	csvLocks = Format{Name: "csv-locks",
		Help: "the same of the locks, their waiters and holders", File: "locks.csv",
		OfRecording: true, write: table(lockTable)}
	csvSamples = Format{Name: "csv-samples",
		Help: "the same of the samples, and what was measured beside them", File: "samples.csv",
		OfRecording: true, noComparison: "their samples are of different times",
		write: table(sampleTable)}
)

// table returns a function that writes a table.
func table(rows func(*report.CSV, *Subject) error) func(io.Writer, *Subject) error {
	return func(w io.Writer, s *Subject) error {
		t := report.NewCSV(w)
		if err := rows(t, s); err != nil {
			return err
		}
		return t.End()
	}
}

func viewTable(w *report.CSV, s *Subject) error {
	if s.Refined {
		return entryTable(w, s)
	}
	t := s.Session.Tree()
	if s.Compared() {
		return comparedTable(w, t)
	}
	m := t.Main()
	w.Row("level", "frame", "path", "own "+m.Unit, "total "+m.Unit, "own cost", "cost", "hits")
	l := place{tree: t}
	for n := range int32(t.Len()) {
		level, frame, path := l.at(n)
		own, through := m.Own(n), m.Through(n)
		w.Row(level, frame, path, own, through.Weight, m.Cost(own), m.Cost(through.Weight),
			through.Hits)
	}
	return nil
}

// A place is a position of a walk over a tree. The tree can have
// very many nodes, so a place keeps only the paths above the
// node.
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

func comparedTable(w *report.CSV, t *calltree.Tree) error {
	a, b := t.Metrics()[1], t.Metrics()[2]
	w.Row("level", "frame", "path", "total "+a.Unit+", old", "new", "cost, old", "new", "change")
	l := place{tree: t}
	for n := range int32(t.Len()) {
		level, frame, path := l.at(n)
		now, before := a.Cost(a.Cum(n)), b.Cost(b.Cum(n))
		w.Row(level, frame, path, b.Cum(n), a.Cum(n), before, now, new(big.Rat).Sub(now, before))
	}
	return nil
}

// entryTable has the entries of a refinement.
func entryTable(w *report.CSV, s *Subject) error {
	if s.Compared() {
		w.Row("level", "call path", "cost, old", "new", "change", "hits, old", "new")
	} else {
		w.Row("level", "call path", "nanoseconds", "cost", "hits")
	}
	s.Session.Walk(func(e *refine.Entry, depth int) {
		if !s.Compared() {
			w.Row(depth, e.Path.String(), e.Weight, s.Session.Cost(e), e.Hits)
			return
		}
		both := report.CostsOfBoth(s.Session.Tree(), s.Session.Membership(), []callpath.Path{e.Path})[0]
		w.Row(depth, e.Path.String(), both.Old, both.New, both.Difference(), both.InOld.Hits,
			both.InNew.Hits)
	})
	return nil
}

func functionTable(w *report.CSV, s *Subject) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	unit := t.Main().Unit
	if s.Compared() {
		w.Row("function", "own "+unit+", old", "own "+unit+", new", "total "+unit+", old",
			"total "+unit+", new")
		for _, r := range report.XProf(t, report.XOptions{Metrics: []int{1, 2}}) {
			a, b := r.Weights[0], r.Weights[1]
			w.Row(r.Name, b.Base.Exact(), a.Base.Exact(), b.Cum.Exact(), a.Cum.Exact())
		}
		return nil
	}
	w.Row("function", "calls or hits", "own "+unit, "total "+unit)
	for _, r := range report.XProf(t, report.XOptions{Metrics: []int{0}}) {
		w.Row(r.Name, r.Calls.Exact(), r.Weights[0].Base.Exact(), r.Weights[0].Cum.Exact())
	}
	return nil
}

// classTable lists the classes, or the class of a Thread View.
func classTable(w *report.CSV, s *Subject) error {
	if err := s.needWhole("the table shows all that goroutines did"); err != nil {
		return err
	}
	heads := []any{"goroutines", "instances", "alive", "nanoseconds", "idle"}
	for t := range views.NumTypedTimes {
		heads = append(heads, t.Name())
	}
	pairs, err := s.classes()
	if err != nil {
		return err
	}
	if s.Compared() {
		heads = inBoth(heads)
	}
	w.Row(slices.Concat([]any{"class"}, heads)...)
	for _, p := range pairs {
		cells := classCells(p.New)
		if s.Compared() {
			cells = slices.Concat(classCells(p.Old), cells)
		}
		if s.Open == "" || s.Open == calltree.RootName || s.Open == p.Class {
			w.Row(slices.Concat([]any{p.Class}, cells)...)
		}
	}
	return nil
}

// classes returns the classes; without a comparison, none has an
// old side.
func (s *Subject) classes() ([]views.ClassPair, error) {
	if s.Compared() {
		return views.ComparedClasses(views.Named{Name: s.Path, Recording: s.Recording}, s.Against,
			s.Options)
	}
	classes, err := views.Classes(s.Recording, s.Options)
	return views.PairClasses(classes, nil), err
}

// inBoth returns heads of columns for both recordings of a comparison.
func inBoth(heads []any) (both []any) {
	for _, side := range []string{", old", ", new"} {
		for _, head := range heads {
			both = append(both, head.(string)+side)
		}
	}
	return both
}

// classCells returns the numbers of a class, all empty for nil.
func classCells(c *views.ClassSummary) []any {
	if c == nil {
		return slices.Repeat([]any{""}, 5+int(views.NumTypedTimes))
	}
	cells := []any{c.Goroutines, c.Hits, c.MeanAlive, c.Time, c.Idle.Weight}
	for _, part := range c.Parts {
		cells = append(cells, part)
	}
	return cells
}

// A lockKey says what a row of the table of locks is about.
type lockKey struct{ lock, kind, role, class, in string }

// lockTable has the locks, and those who waited for them and
// held them, whatever the view.
func lockTable(w *report.CSV, s *Subject) error {
	if err := s.needWhole("the table shows all waits"); err != nil {
		return err
	}
	recordings := []*sampledata.Recording{s.Recording}
	numbers := []any{"nanoseconds", "hits"}
	if s.Compared() {
		recordings = append(recordings, s.Against.Recording)
		numbers = inBoth(numbers)
	}
	var order []lockKey
	totals := make([]map[lockKey]calltree.Total, len(recordings))
	for i, r := range recordings {
		if err := needSamples(r, "locks"); err != nil {
			return err
		}
		a, err := locks.AnalyseHolders(r, s.Options, locks.ByField)
		if err != nil {
			return err
		}
		totals[i] = make(map[lockKey]calltree.Total)
		addLocks(a, func(k lockKey, t calltree.Total) {
			if _, known := totals[0][k]; i == 0 || !known {
				order = append(order, k)
			}
			totals[i][k] = t
		})
	}
	w.Row(slices.Concat([]any{"lock", "kind", "role", "class", "in"}, numbers)...)
	for _, k := range order {
		cells := []any{k.lock, k.kind, k.role, k.class, k.in}
		for _, of := range slices.Backward(totals) { // the old recording first
			if total, ok := of[k]; ok {
				cells = append(cells, total.Weight, total.Hits)
			} else {
				cells = append(cells, 0, 0)
			}
		}
		w.Row(cells...)
	}
	return nil
}

func addLocks(a *locks.Analysis, add func(lockKey, calltree.Total)) {
	for _, l := range append(a.Locks, a.Shared...) {
		k := lockKey{lock: l.String(), kind: l.Kind, role: "all"}
		add(k, l.Total)
		for _, waiter := range l.Waiters {
			k.role, k.class, k.in = "waiter", waiter.Class, waiter.In
			add(k, waiter.Total)
		}
		for _, holder := range l.Holders {
			k.role, k.class, k.in = "holder", holder.Class, ""
			add(k, holder.Total)
		}
	}
}

// sampleTable has a row for each sample, with what was measured
// last in each series.
func sampleTable(w *report.CSV, s *Subject) error {
	if err := s.needWhole("the table shows what was measured of the whole program"); err != nil {
		return err
	}
	if err := needSamples(s.Recording, "samples"); err != nil {
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
	w.Row(head...)
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
		cells := []any{i, int64(sample.Time), weights.Of(i, i+1), int64(sample.Halt),
			int64(sample.Threads)}
		for _, v := range last {
			cells = append(cells, v)
		}
		w.Row(cells...)
	}
	return nil
}

// needSamples returns an error if a recording is a profile.
// Profiles lack what the caller needs.
func needSamples(r *sampledata.Recording, what string) error {
	if p := r.Profile; p != nil {
		return fmt.Errorf("it is %s, which has no %s", p.Title, what)
	}
	return nil
}

// needWhole returns an error if the subject is only some stacks
// of the recording.
func (s *Subject) needWhole(what string) error {
	if s.Refined || s.Part {
		return fmt.Errorf("%s: leave out --auto and refinement steps such as --prune", what)
	}
	return nil
}
