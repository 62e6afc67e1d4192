package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
)

// parties are the candidates that goroutines may wait for where they wait for no lock, for the detail pane. They are looked for
// once for a view, and only where an entry asks for them.
type parties struct {
	tree    *calltree.Tree // see views.Parties; nil until it is there
	members *calltree.Membership
	err     error
	busy    bool
	of      string // the entry that the lines are for
	lines   []string
}

// partyLines tells of the candidates that an entry's goroutines may wait for; nothing where there is no way to know of any.
func (d *detail) partyLines(e *refine.Entry) []string {
	if !d.w.subject.single || d.w.replay.Class == "" || !waits(e.Path) {
		return nil
	}
	p := &d.parties
	switch {
	case p.err != nil:
		return []string{p.err.Error()}
	case p.tree == nil:
		d.findParties()
		return []string{"Looking for candidates that they may wait for …"}
	case p.of != e.Key():
		p.of, p.lines = e.Key(), nil
		if found := candidates(p.tree, p.members, e.Path); len(found) > 0 {
			p.lines = append([]string{"Candidates for whom they wait for, of no cost (hits: class at line)"}, found...)
		}
	}
	return p.lines
}

// waits tells whether a path ends in :WAIT, or in its reason.
func waits(p callpath.Path) bool {
	last, _ := p.Last()
	t, ok := typedTimeOf(p)
	return ok && t == views.Wait && calltree.KindOf(last.Name) == calltree.Typed
}

func (d *detail) findParties() {
	if d.parties.busy {
		return
	}
	d.parties.busy = true
	asked, r, o, class, config := d.asked, d.w.a.recording, d.w.a.options, d.w.replay.Class, d.w.a.config
	beside(d.w.a, func() parties {
		t, err := views.Parties(r, class, o)
		if err != nil {
			return parties{err: err}
		}
		return parties{tree: t, members: config.AllAspects().Membership(t.Symbols())}
	}, func(found parties) {
		if asked == d.asked {
			d.parties = found
		}
	})
}

// candidates lists what stands below a path that ends in :WAIT, or in its reason, in a tree of views.Parties.
func candidates(t *calltree.Tree, m *calltree.Membership, p callpath.Path) (lines []string) {
	for _, r := range refine.Down(t, m, p, false) {
		if calltree.KindOf(r.Name) != calltree.Class {
			lines = append(lines, candidates(t, m, r.Path)...)
			continue
		}
		for _, at := range refine.Down(t, m, r.Path, false) {
			if last, _ := at.Path.Last(); last.Aspect() {
				continue
			}
			lines = append(lines, fmt.Sprintf("%5s  %s at %s", report.Hits(at.Hits), r.Name, at.Name))
		}
	}
	return lines
}
