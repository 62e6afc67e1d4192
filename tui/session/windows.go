package session

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/cpprof/cpprof/why"
)

// TreeKind is the kind of window that shows the call tree of a
// view with the verdicts of the search.
var TreeKind = Kind{Name: "tree", New: func() Window { return new(Tree) }}

// A Tree is such a window.
type Tree struct {
	Class    string          `json:"class,omitempty"` // of the Thread View; "" is the Server View
	Selected string          `json:"selected,omitempty"`
	Folded   map[string]bool `json:"folded,omitempty"` // by key: what a person has opened or closed
}

func (*Tree) Kind() Kind { return TreeKind }

// Check checks the number of keys and their lengths.
func (t *Tree) Check() error {
	keys := slices.AppendSeq([]string{t.Class, t.Selected}, maps.Keys(t.Folded))
	return cmp.Or(atMost(maxFolded, len(t.Folded), "calls are opened or closed"), checkExprs(keys))
}

// Report returns what 'cpprof find' writes of the view.
func (t *Tree) Report(src *Source) (report.Report, error) {
	v, err := (&Profile{Class: t.Class}).View(src.Recording, src.Options)
	if err != nil {
		return nil, err
	}
	view := " --server"
	if t.Class != "" {
		view = " --thread " + words.Shell(t.Class)
	}
	found := hotspots.Find(hotspots.NewSingle(v.Tree), hotspots.FindOptions{})
	return report.NewFound(found, "cpprof find "+words.Shell(src.Path)+view+" --interactive=",
		report.BasisOf(src.Recording)), nil
}

// FindingsKind is the kind of the window of what is slow, and
// why. There is at most one such window.
var FindingsKind = Kind{Name: "findings", Single: true, New: func() Window { return new(Findings) }}

// Findings is the window of what is slow, and why.
type Findings struct {
	Selected string `json:"selected,omitempty"` // the key of a finding; "" for the first
}

func (*Findings) Kind() Kind { return FindingsKind }

// Check checks the length of the key.
func (f *Findings) Check() error { return checkExprs([]string{f.Selected}) }

// Report returns the report that 'cpprof why --top 0' writes.
func (f *Findings) Report(src *Source) (report.Report, error) {
	answer, err := why.Find(src.Recording, why.OptionsOf(src.Config, src.Options))
	if err != nil {
		return nil, err
	}
	return &report.Why{Answer: answer, File: src.Path, Basis: report.BasisOf(src.Recording)}, nil
}

// HoldersKind is the kind of window that shows the locks that
// goroutines waited for, and what their holders did.
var HoldersKind = Kind{Name: "holders", New: func() Window { return new(Holders) }}

// HoldersTitle is the title of such a window.
const HoldersTitle = "Locks, their holders and what these do"

// A Holders is a window with the refined view of the holders of
// all locks. Its Class is "".
type Holders struct{ Profile }

func (*Holders) Kind() Kind { return HoldersKind }

// Report returns the profile with the window's refinements.
func (h *Holders) Report(src *Source) (report.Report, error) {
	found, err := locks.Analyse(src.Recording, src.Options, locks.ByInstance)
	if err != nil {
		return nil, err
	}
	return h.report(found.Held, HoldersTitle, src), nil
}

// LocksKind is the kind of the window of the locks. There is at
// most one such window.
var LocksKind = Kind{Name: "locks", Single: true, New: func() Window { return new(Locks) }}

// Locks is the window of the locks.
type Locks struct {
	// each lock by itself, not all locks of a field together
	Instances bool `json:"instances,omitempty"`
}

func (*Locks) Kind() Kind { return LocksKind }

func (*Locks) Check() error { return nil }

// By returns what a line of the window is.
func (l *Locks) By() locks.By {
	if l.Instances {
		return locks.ByInstance
	}
	return locks.ByField
}

// Report returns the report that 'cpprof locks --top 0' writes.
func (l *Locks) Report(src *Source) (report.Report, error) {
	a, err := locks.Analyse(src.Recording, src.Options, l.By())
	if err != nil {
		return nil, err
	}
	return &report.Locks{Recording: src.Recording, Analysis: a, Width: src.Width}, nil
}
