package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A candidateTree has the goroutines that a view's goroutines may wait for,
// other than for locks.
type candidateTree struct {
	tree    *calltree.Tree // see views.Candidates
	members *calltree.Membership
	err     error
}

// candidateLines are the detail pane's lines on the candidates of the entry
// that was drawn last.
type candidateLines struct {
	of    string
	lines []string
}

// candidateLines returns lines about the candidates that an entry's goroutines
// may wait for. It returns none if the candidates cannot be known.
func (d *detail) candidateLines(e *refine.Entry) []string {
	if !d.w.subject.single || d.w.replay.Class == "" || !waits(e.Path) {
		return nil
	}
	r, o, class, conf := d.w.a.recording, d.w.a.options, d.w.replay.Class, d.w.a.config
	p := d.candidateTree.get(d.w.a, func() candidateTree {
		t, err := views.Candidates(r, class, o)
		if err != nil {
			return candidateTree{err: err}
		}
		return candidateTree{tree: t, members: conf.AllAspects().Membership(t.Symbols())}
	})
	switch {
	case p == nil:
		return []string{"Searching for goroutines that they may wait for …"}
	case p.err != nil:
		return []string{p.err.Error()}
	case d.candidates.of != e.Key():
		d.candidates = candidateLines{of: e.Key()}
		if found := listCandidates(p.tree, p.members, e.Path); len(found) > 0 {
			d.candidates.lines = append(
				[]string{"Goroutines that they may wait for, without cost (hits: class at line)"},
				found...)
		}
	}
	return d.candidates.lines
}

// waits reports whether a path ends in :WAIT, or in its reason.
func waits(p callpath.Path) bool {
	last, _ := p.Last()
	t, ok := typedTimeOf(p)
	return ok && t == views.Wait && calltree.KindOf(last.Name) == calltree.Typed
}

// listCandidates lists the entries below a path that ends in :WAIT, or in its
// reason, in a tree of views.Candidates.
func listCandidates(t *calltree.Tree, m *calltree.Membership, p callpath.Path) (lines []string) {
	for _, r := range refine.Down(t, m, p, callpath.Immediate) {
		if calltree.KindOf(r.Name) != calltree.Class {
			lines = append(lines, listCandidates(t, m, r.Path)...)
			continue
		}
		for _, at := range refine.Down(t, m, r.Path, callpath.Immediate) {
			if last, _ := at.Path.Last(); last.Aspect() {
				continue
			}
			lines = append(lines, fmt.Sprintf("%5s  %s at %s", report.Hits(at.Hits),
				r.Name, at.Name))
		}
	}
	return lines
}
