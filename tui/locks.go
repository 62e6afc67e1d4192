package tui

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// A lockWindow shows the locks that goroutines waited for. It
// has a table with deadlocks first. For the selected lock, it
// shows the goroutines that waited for it, the goroutines that
// held it, and what the holders were doing.
type lockWindow struct {
	by    locks.By
	found lockFindings
	content
	listAndPane // of the items
	text        lockText
}

// lockFindings are an analysis (nil until it is made), the
// recording it was made from, and its table.
type lockFindings struct {
	*locks.Analysis
	both      *locks.Comparison // if the window compares
	recording *sampledata.Recording
	items     []lockItem
	heads     []string // of the columns
	widths    []int    // of the columns of numbers
}

// A lockItem is a line of the table: a lock, the locks of one
// name in two recordings, or a deadlock.
type lockItem struct {
	key      string      // identifies it in every span
	lock     *locks.Lock // of a pair, the new one or, if there is none, the old one
	pair     *locks.Pair
	row      []string // of the lock or pair
	deadlock *locks.Deadlock
}

// locksKind is the kind of this window; every window can open it.
func (a *app) locksKind() kind {
	open := func() { openLocks(a) }
	return kind{
		Kind:   session.LocksKind,
		reopen: func(w session.Window) { openLocksBy(a, w.(*session.Locks).By()) },
		bindings: []binding{on("L", "Locks",
			"the locks that goroutines waited for, and their holders", open)},
		commands: []command{newCommand("locks",
			"the locks that goroutines waited for, their holders, and what these did",
			func(string) error { open(); return nil }, nil)},
	}
}

// openLocks shows the window of the locks, and opens it if necessary.
func openLocks(a *app) { openLocksBy(a, locks.ByField) }

func openLocksBy(a *app, by locks.By) {
	if _, open := showOpen(a, anyOne[*lockWindow]); open {
		return
	}
	w := &lockWindow{by: by}
	w.list = newList(a, w, "a lock", true)
	w.open(a, w, w.analyse)
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

func (w *lockWindow) analyse() {
	a, r, o, by, against := w.a, w.a.recording, w.a.options, w.by, w.a.against
	work := func() (lockFindings, error) { return a.findLocks(r, o, by, against) }
	compute(&w.content, "Analysing the locks", work, func(found lockFindings) {
		w.found, w.text = found, lockText{}
		w.list.reselect()
	})
}

// findLocks analyses the locks, or compares them with another
// recording's unless against is "", and makes the lines of the
// table.
func (a *app) findLocks(r *sampledata.Recording, o views.Options, by locks.By,
	against string) (f lockFindings, err error) {
	f.recording = r
	if against != "" {
		if f.both, err = comparing(a, r, o, against, locks.Compare); err != nil {
			return f, err
		}
		f.Analysis, f.heads = f.both.New, report.PairHeads
		for i := range f.both.Pairs {
			p := &f.both.Pairs[i]
			f.items = append(f.items, lockItem{key: p.Name, lock: cmp.Or(p.New, p.Old),
				pair: p, row: report.PairRow(p)})
		}
	} else {
		if f.Analysis, err = locks.Analyse(r, o, by); err != nil {
			return f, err
		}
		f.heads = report.LockHeads(f.Analysis)
		f.items = lists.Each(slices.Concat(f.Locks, f.Shared), func(l *locks.Lock) lockItem {
			return lockItem{key: l.String(), lock: l, row: report.LockRow(f.Analysis, l)}
		})
	}
	deadlocks := lists.Each(slices.Concat(f.Deadlocks, f.Seeming), func(d *locks.Deadlock) lockItem {
		return lockItem{key: report.DeadlockLine(d), deadlock: d}
	})
	f.items = append(deadlocks, f.items...)
	f.measure()
	return f, nil
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
func (w *lockWindow) item() *lockItem { return selected(&w.list, w.found.items) }

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

// bindings are the keys and buttons of the window.
func (w *lockWindow) bindings() []binding {
	return w.listAndPane.bindings(
		on("Enter", "Open",
			"the instances of a field, or the Thread View of the class that waits most, refined into the holder",
			w.openSelected),
		on("i", "", "all locks of a field together, or each instance by itself", w.toggleInstances),
		on("h", "Holders", "the profile of what the holders of all locks did", w.openHolders),
	)
}

// openSelected opens the Thread View of the class that waits
// most, refined to the wait and into the holder.
func (w *lockWindow) openSelected() {
	switch i := w.item(); {
	case i == nil:
	case i.pair != nil:
		openView(w.a, w.a.waiting(i.lock))
	case i.lock != nil && len(i.lock.Parts) > 1:
		w.toggleInstances()
	case i.lock != nil:
		openProfile(w.a, w.a.waiting(i.lock))
	default:
		openProfile(w.a, w.a.refinedTo(i.deadlock.Members[0].Class, "", views.Monitor, ""))
	}
}

// toggleInstances shows each instance by itself or all locks of
// a field together. The lock that goroutines waited for most
// stays selected.
func (w *lockWindow) toggleInstances() {
	if w.found.both != nil {
		w.a.say("Locks of two recordings are matched by name: a comparison has no instances.")
		return
	}
	if i := w.item(); i != nil && i.lock != nil {
		switch {
		case w.by == locks.ByInstance:
			w.list.selected = i.lock.Name
		case len(i.lock.Parts) > 0:
			w.list.selected = i.lock.Parts[0].Lock
		}
	}
	if w.by == locks.ByField {
		w.by = locks.ByInstance
	} else {
		w.by = locks.ByField
	}
	w.analyse()
}

// waiting returns the Thread View of the class that waits
// longest for a lock. The view is refined to the wait and into
// the holder.
func (a *app) waiting(l *locks.Lock) session.Profile {
	sums := make(map[string]*big.Rat)
	var class, in, holder string
	for _, one := range l.Waiters {
		sum := lists.Made(sums, one.Class, func() *big.Rat { return new(big.Rat) })
		sum.Add(sum, one.Weight)
		if class == "" || sum.Cmp(sums[class]) > 0 {
			class = one.Class
		}
	}
	first := slices.IndexFunc(l.Waiters, func(u locks.UserTotal) bool { return u.Class == class })
	if first >= 0 {
		in = l.Waiters[first].In // in which the class waits most
	}
	if l.Shared {
		return a.refinedTo(class, in, views.Wait, "")
	}
	if len(l.Holders) > 0 {
		holder = l.Holders[0].Class
	}
	return a.refinedTo(class, in, views.Monitor, holder)
}

// refinedTo returns a class's Thread View. It is refined to the
// class's waits of one type, in one function unless in is "",
// and to a class of holders unless holder is "".
func (a *app) refinedTo(class, in string, waits views.TypedTime, holder string) session.Profile {
	path := callpath.Of(callpath.Frame(class))
	if in != "" {
		path = path.Then(callpath.Frame(in), callpath.Extended)
	}
	path = path.Then(callpath.Frame(waits.String()), callpath.Extended)
	p := a.profileAt(class, path)
	if holder != "" {
		p.Selected = path.Then(callpath.Frame(holder), callpath.Immediate).String()
		p.Steps = append(p.Steps, refine.Step{Kind: refine.KindFollow, Text: p.Selected})
	}
	return p
}

// openHolders opens the profile of the holders' activity, at the selected lock.
func (w *lockWindow) openHolders() {
	if i := w.item(); i != nil && i.lock != nil && i.lock.Shared {
		w.a.say("The profile of the holders has only locks; the details say who has this, or who may.")
		return
	}
	s := session.Profile{Threshold: w.a.threshold,
		Steps: []refine.Step{{Kind: refine.KindDown, Text: calltree.RootName}}}
	if i := w.item(); i != nil && i.lock != nil {
		name := i.lock.String()
		if w.found.both == nil && len(i.lock.Parts) > 0 {
			name = i.lock.Parts[0].Lock // the profile has each instance by itself
		}
		path := callpath.Of(callpath.Frame(calltree.RootName)).Then(callpath.Frame(name),
			callpath.Immediate)
		s.Selected = path.String()
		s.Steps = append(s.Steps, refine.Step{Kind: refine.KindFollow, Text: s.Selected})
	}
	if w.found.both != nil {
		openComparedHolders(w.a, s)
		return
	}
	openHolders(w.a, s)
}
