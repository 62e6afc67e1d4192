package tui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A lockWindow shows the locks that goroutines waited for. It has a table with
// deadlocks first. For the selected lock, it shows the goroutines that waited
// for it, the goroutines that held it, and what the holders were doing.
type lockWindow struct {
	a     *app
	by    locks.By
	found lockFindings
	content
	listAndPane // of the items
	text        lockText
}

// lockFindings are an analysis (nil until it is made), the recording it was
// made from, and its table.
type lockFindings struct {
	*locks.Analysis
	both      *locks.Comparison // if the window compares
	recording *sampledata.Recording
	items     []lockItem
	heads     []string // of the columns
	widths    []int    // of the columns of numbers
}

// A lockItem is a line of the table: a lock, the locks of one name in two
// recordings, or a deadlock.
type lockItem struct {
	key      string      // identifies it in every span
	lock     *locks.Lock // of a pair, the new one or, if there is none, the old one
	pair     *locks.Pair
	row      []string // of the lock or pair
	deadlock *locks.Deadlock
}

// locksKind is the kind of this window; every window can open it.
func locksKind() kind {
	return kind{
		Kind:   session.LocksKind,
		reopen: func(a *app, w session.Window) { openLocksBy(a, w.(*session.Locks).By()) },
		bindings: func(a *app) []binding {
			return []binding{on("L", "Locks",
				"the locks that goroutines waited for, and their holders", func() { openLocks(a) })}
		},
		commands: func(a *app) []command {
			return []command{newCommand("locks",
				"the locks that goroutines waited for, their holders, and what these did",
				func(string) error { openLocks(a); return nil }, nil)}
		},
	}
}

// openLocks shows the window of the locks, and opens it if necessary.
func openLocks(a *app) { openLocksBy(a, locks.ByField) }

func openLocksBy(a *app, by locks.By) {
	if showOpen[*lockWindow](a) {
		return
	}
	w := &lockWindow{a: a, by: by}
	w.list = newList(a, w, "a lock", true)
	a.open(w)
	w.analyse()
}

func (w *lockWindow) title() string {
	if w.a.against != "" {
		return "Δ Locks"
	}
	return "Locks"
}

func (w *lockWindow) commands() []command { return []command{w.a.againstCommand(w)} }

func (w *lockWindow) keep() session.Window {
	return &session.Locks{Instances: w.by == locks.ByInstance}
}

// refresh runs the analysis again, once for several changes in a row.
func (w *lockWindow) refresh() { w.once(w.a, w, w.analyse) }

func (w *lockWindow) analyse() {
	a, r, o, by, against := w.a, w.a.recording, w.a.options, w.by, w.a.against
	work := func() (lockFindings, error) {
		if against != "" {
			return a.comparedLocks(r, o, against)
		}
		found, err := locks.Analyse(r, o, by)
		if err != nil {
			return lockFindings{}, err
		}
		return tabulate(found, r), nil
	}
	compute(&w.content, w.a, w, "Analysing the locks", work, func(found lockFindings) {
		w.found, w.text = found, lockText{}
		w.list.reselect()
		if w.list.selected == "" {
			w.list.choose(0)
		}
	})
}

// comparedLocks compares the locks with another recording's.
func (a *app) comparedLocks(r *sampledata.Recording, o views.Options,
	against string) (lockFindings, error) {
	one, other, err := a.sides(r, against)
	if err != nil {
		return lockFindings{}, err
	}
	both, err := locks.Compare(one, other, o)
	if err != nil {
		return lockFindings{}, err
	}
	f := lockFindings{Analysis: both.New, both: both, recording: r, heads: report.PairHeads}
	f.addDeadlocks()
	for i := range both.Pairs {
		p := &both.Pairs[i]
		f.items = append(f.items, lockItem{key: p.Name, lock: cmp.Or(p.New, p.Old),
			pair: p, row: report.PairRow(p)})
	}
	f.measure()
	return f, nil
}

// tabulate makes the lines of the table.
func tabulate(found *locks.Analysis, of *sampledata.Recording) lockFindings {
	f := lockFindings{Analysis: found, recording: of, heads: report.LockHeads(found)}
	f.addDeadlocks()
	for _, l := range slices.Concat(found.Locks, found.Shared) {
		f.items = append(f.items, lockItem{key: l.String(), lock: l, row: report.LockRow(found, l)})
	}
	f.measure()
	return f
}

func (f *lockFindings) addDeadlocks() {
	for _, d := range f.Deadlocks {
		f.items = append(f.items, lockItem{key: report.DeadlockLine(d), deadlock: d})
	}
}

// measure finds the widths of the columns of numbers.
func (f *lockFindings) measure() {
	for column, head := range f.heads[:len(f.heads)-1] {
		width := textWidth(head)
		for i := range f.items {
			if row := f.items[i].row; row != nil {
				width = max(width, textWidth(row[column]))
			}
		}
		f.widths = append(f.widths, width)
	}
}

func (w *lockWindow) lines() int           { return len(w.found.items) }
func (w *lockWindow) key(line int) string  { return w.found.items[line].key }
func (w *lockWindow) name(line int) string { return w.found.items[line].key }

func (w *lockWindow) lineOf(key string) int {
	return slices.IndexFunc(w.found.items, func(i lockItem) bool { return i.key == key })
}

// item returns the selected item, or nil.
func (w *lockWindow) item() *lockItem {
	if line := w.list.current(); line >= 0 {
		return &w.found.items[line]
	}
	return nil
}

// about returns all information on an item, in lines of a width.
func (w *lockWindow) about(i *lockItem, width int) string {
	if d := i.deadlock; d != nil {
		return fmt.Sprintf("%s\n%s", report.DeadlockSpan(w.found.recording, d), report.Deadlock(d))
	}
	if i.pair != nil {
		return report.LockPair(w.found.both, i.pair, width) + report.Warnings(w.found.Held.Warnings)
	}
	return report.Lock(w.found.Analysis, i.lock, width) + report.Warnings(w.found.Held.Warnings)
}
