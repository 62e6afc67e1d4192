package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/refine"
)

// refine does something to a copy of the session beside the event loop, and shows the copy then. What is undone at once is
// what one call did.
func (w *profileWindow) refine(what string, work func(*refine.Session) error, then func()) {
	if w.session == nil {
		return
	}
	s := w.session.Clone()
	start(w.a, w, what, func() (*refine.Session, error) { return s, work(s) }, func(s *refine.Session, err error) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				w.a.fail(err)
			}
			return
		}
		w.marked(len(w.session.Steps()), len(s.Steps()))
		w.session = s
		w.update()
		if then != nil {
			then()
			w.entries.follow = true
		}
	})
}

// step does one step.
func (w *profileWindow) step(kind refine.Kind, text string, then func()) {
	step := refine.Step{Kind: kind, Text: text}
	w.refine("Refining "+text, func(s *refine.Session) error { return brief(step, s.Apply(step)) }, then)
}

// brief leaves the step out of an error: the person has just done it.
func brief(step refine.Step, err error) error {
	if !errors.Is(err, refine.ErrNothing) {
		return err
	}
	why := strings.TrimPrefix(err.Error(), step.String()+": ")
	if p, parseErr := callpath.Parse(step.Text); parseErr == nil && step.Kind == refine.KindExtended {
		if last, _ := p.Last(); calltree.KindOf(last.Name) == calltree.Typed {
			why += ": d leads on to another goroutine"
		}
	}
	return fmt.Errorf("%w: %s", refine.ErrNothing, strings.Replace(why, ": "+refine.ErrNothing.Error(), "", 1))
}

// refineSelected refines the selected entry downward.
func (w *profileWindow) refineSelected(kind refine.Kind) {
	e := w.entries.entry()
	if e == nil {
		return
	}
	w.session.Collapse(e.Path, false)
	w.step(kind, e.Key(), func() { w.entries.revealBelow(e.Path) })
}

// splitSelected splits the selected entry upward where its path was last extended: P1 ..P2 at P2.
func (w *profileWindow) splitSelected() {
	e := w.entries.entry()
	if e == nil {
		return
	}
	p1, p2, ok := lastExtended(e.Path)
	if !ok {
		w.a.say("An upward split needs a '..' in the entry's path: first e, or :up %s | %s",
			w.session.Root().Path, callpath.Of(e.Path.Elements[len(e.Path.Elements)-1]))
		return
	}
	w.up(p1, p2)
}

// up does an upward split, and selects the heaviest caller's P2.
func (w *profileWindow) up(p1, p2 callpath.Path) {
	w.step(refine.KindUp, p1.String()+" | "+p2.String(), func() {
		if e := w.session.Find(p1); e != nil {
			p1 = e.Path // begins with the root
		}
		for _, r := range w.entries.rows {
			if q := r.entry.Path; len(q.Elements) > len(p1.Elements)+1 && isSplit(q, p1, p2) {
				w.entries.chooseKey(q.String())
				return
			}
		}
		w.a.say("Every caller is below the threshold: [ lowers it.")
	})
}

// lastExtended divides a path into P1 ..P2 at its last extended spec.
func lastExtended(p callpath.Path) (p1, p2 callpath.Path, ok bool) {
	i := len(p.Extended) - 1
	for i >= 0 && !p.Extended[i] {
		i--
	}
	if i < 0 {
		return p, p, false
	}
	return p.Prefix(i + 1), callpath.Path{Elements: p.Elements[i+1:], Extended: p.Extended[i+1:]}, true
}

// isSplit tells whether a path is P1 ..x P2.
func isSplit(p, p1, p2 callpath.Path) bool {
	n := len(p1.Elements)
	if len(p.Elements) != n+1+len(p2.Elements) {
		return false
	}
	return p.String() == p1.Then(p.Elements[n], true).Join(false, p2).String()
}

// follow refines the selected entry on to where it branches, and goes to the heaviest branch; where it is refined
// already, it only goes there.
func (w *profileWindow) follow() {
	e := w.entries.entry()
	if e == nil {
		return
	}
	if w.session.Collapsed(e) {
		w.collapse(false)
	}
	if len(e.Children) > 0 {
		w.toBranch(e.Path)
		return
	}
	kind := refine.KindFollow
	if last, _ := e.Path.Last(); last.Aspect() {
		kind = refine.KindDown
	}
	w.step(kind, e.Key(), func() { w.toBranch(e.Path) })
}

// toBranch selects the heaviest entry below the place where the way down from an entry branches, or the way's end.
func (w *profileWindow) toBranch(p callpath.Path) {
	w.entries.revealBelow(p)
	e := w.session.Find(p)
	for e != nil && len(e.Children) > 0 && w.session.Visible(e.Children[0]) && !w.session.Collapsed(e) {
		first := e.Children[0]
		p = first.Path
		if first.Hits.Cmp(e.Hits) != 0 {
			break
		}
		e = first
	}
	w.entries.chooseKey(p.String())
}

// autoSteps bound the refinements of one key, so that what it shows fits a screen or two.
const autoSteps = 12

// auto follows the heaviest entries by itself.
func (w *profileWindow) auto(steps int) {
	w.refine("Following the heaviest entries", func(s *refine.Session) error {
		if s.Auto(steps) == 0 {
			return errors.New("nothing above the threshold is left to refine")
		}
		return nil
	}, nil)
}

// prune keeps the stacks for which an expression holds.
func (w *profileWindow) prune(e callpath.Expr) {
	w.refine("Pruning", func(s *refine.Session) error { return s.Prune(e) }, nil)
}

// askPrune asks whether to prune the selected entry away or to it.
func (w *profileWindow) askPrune() {
	e := w.entries.entry()
	if e == nil {
		return
	}
	of := callpath.Expr{Op: callpath.OpPath, Path: e.Path}
	w.a.overlay = newMenu(w.a, "Prune "+e.Label(), []binding{
		{keys: []string{"o"}, label: "only it: keep the stacks that satisfy its path", do: func(string) { w.prune(of) }},
		{keys: []string{"a"}, label: "away: keep the stacks that don't", do: func(string) {
			w.prune(callpath.Expr{Op: callpath.OpNot, Args: []callpath.Expr{of}})
		}},
	})
}

// marked remembers that a person's doing led from some number of steps to another.
func (w *profileWindow) marked(from, to int) {
	w.marks = slices.DeleteFunc(w.marks, func(n int) bool { return n > from })
	w.marks = append(w.marks, to)
}

// remark makes every step that was replayed one to be undone by itself.
func (w *profileWindow) remark() {
	n := len(w.session.Steps())
	w.marks = slices.DeleteFunc(w.marks, func(m int) bool { return m > n })
	if len(w.marks) == 0 || w.marks[len(w.marks)-1] != n {
		w.marks = w.marks[:0]
		for i := range n {
			w.marks = append(w.marks, i+1)
		}
	}
}

// undo takes back what the person did last; redo does it again.
func (w *profileWindow) undo() { w.backOrForth((*refine.Session).Undo, "There is nothing to undo.") }

func (w *profileWindow) redo() { w.backOrForth((*refine.Session).Redo, "There is nothing to redo.") }

func (w *profileWindow) backOrForth(move func(*refine.Session) bool, nothing string) {
	if w.session == nil || !move(w.session) {
		w.a.say("%s", nothing)
		return
	}
	for n := len(w.session.Steps()); n > 0 && !slices.Contains(w.marks, n) && move(w.session); {
		n = len(w.session.Steps())
	}
	w.update()
}
