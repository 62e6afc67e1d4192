package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// A refiner refines a profile window, and undoes that.
type refiner struct {
	w     *profileWindow
	marks []int // number of steps after each action of the user, for undo
}

// refine changes a copy of the session on another goroutine, and
// then shows the copy. One undo reverts all steps of one call.
func (r *refiner) refine(what string, work func(*refine.Session) error, then func()) {
	if r.w.session == nil {
		return
	}
	s := r.w.session.Clone()
	attempt(r.w.a, r.w, what, func() (*refine.Session, error) { return s, work(s) },
		func(s *refine.Session) {
			r.marked(len(r.w.session.Steps()), len(s.Steps()))
			r.w.session = s
			r.w.update()
			if then != nil {
				then()
				r.w.entries.toSelected = true
			}
		}, r.w.a.fail)
}

// step does one step.
func (r *refiner) step(kind refine.Kind, text string, then func()) {
	step := refine.Step{Kind: kind, Text: text}
	r.refine("Refining "+text, func(s *refine.Session) error { return brief(step, s.Apply(step)) },
		then)
}

// brief removes the step's text from an error, because the user
// has just typed or chosen it.
func brief(step refine.Step, err error) error {
	if !errors.Is(err, refine.ErrNothing) {
		return err
	}
	why := strings.TrimPrefix(err.Error(), step.String()+": ")
	if p, parseErr := callpath.Parse(step.Text); parseErr == nil &&
		step.Kind == refine.KindExtended {
		if last, _ := p.Last(); calltree.KindOf(last.Name) == calltree.Typed {
			why += ": d continues in another goroutine"
		}
	}
	return fmt.Errorf("%w: %s", refine.ErrNothing,
		strings.Replace(why, ": "+refine.ErrNothing.Error(), "", 1))
}

// refineEntry refines an entry downward.
func (r *refiner) refineEntry(kind refine.Kind, e *refine.Entry) {
	r.w.session.Collapse(e.Path, false)
	r.step(kind, e.Key(), func() { r.w.entries.revealBelow(e.Path) })
}

// refineCalls refines an entry by what it calls. It refines a
// context by its calls in place: each stack then stays in one
// place. It refines any other path by its immediate calls.
func (r *refiner) refineCalls(e *refine.Entry) {
	kind := refine.KindDown
	if e.Path.Context() {
		kind = refine.KindCalls
	}
	r.refineEntry(kind, e)
}

// split splits an entry upward at the last extended spec of
// its path: P1 ..P2 at P2.
func (r *refiner) split(e *refine.Entry) {
	p1, p2, ok := lastExtended(e.Path)
	if !ok {
		r.w.a.say("An upward split needs a '..' in the entry's path: first e, or :up %s | %s",
			r.w.session.Root().Path, callpath.Of(e.Path.Elements[len(e.Path.Elements)-1]))
		return
	}
	r.up(p1, p2)
}

// up does an upward split, and selects P2 below the heaviest caller.
func (r *refiner) up(p1, p2 callpath.Path) {
	r.step(refine.KindUp, p1.String()+" | "+p2.String(), func() {
		if e := r.w.session.Find(p1); e != nil {
			p1 = e.Path // begins with the root
		}
		for _, row := range r.w.entries.rows {
			if q := row.entry.Path; len(q.Elements) > len(p1.Elements)+1 && isSplit(q, p1, p2) {
				r.w.entries.chooseKey(q.String())
				return
			}
		}
		r.w.a.say("Every caller is below the threshold: [ lowers it.")
	})
}

// lastExtended splits a path into P1 ..P2 at its last extended
// spec. All calls of P2 are immediate: a split has none in
// place.
func lastExtended(p callpath.Path) (p1, p2 callpath.Path, ok bool) {
	i := len(p.Specs) - 1
	for i >= 0 && p.Specs[i] != callpath.Extended {
		i--
	}
	if i < 0 {
		return p, p, false
	}
	p2 = callpath.Path{Elements: p.Elements[i+1:], Specs: make([]callpath.Spec, len(p.Specs)-i-1)}
	return p.Prefix(i + 1), p2, true
}

// isSplit reports whether a path is P1 ..x P2.
func isSplit(p, p1, p2 callpath.Path) bool {
	n := len(p1.Elements)
	if len(p.Elements) != n+1+len(p2.Elements) {
		return false
	}
	return p.String() == p1.Then(p.Elements[n], callpath.Extended).Join(callpath.Immediate,
		p2).String()
}

// follow refines an entry down to the first branch, and selects
// the heaviest entry there. If the entry is already refined,
// follow only selects.
func (r *refiner) follow(e *refine.Entry) {
	if r.w.session.Collapsed(e) {
		r.w.collapse(e, false)
	}
	if len(e.Children) > 0 {
		r.toBranch(e.Path)
		return
	}
	kind := refine.KindFollow
	if last, _ := e.Path.Last(); last.Aspect() {
		kind = refine.KindDown
	}
	r.step(kind, e.Key(), func() { r.toBranch(e.Path) })
}

// toBranch selects the heaviest entry at the first branch below
// an entry. If there is no branch, it selects the last entry.
func (r *refiner) toBranch(p callpath.Path) {
	r.w.entries.revealBelow(p)
	e := r.w.session.Find(p)
	for e != nil && len(e.Children) > 0 && r.w.session.Visible(e.Children[0]) &&
		!r.w.session.Collapsed(e) {
		p = e.Children[0].Path
		e = e.Straight()
	}
	r.w.entries.chooseKey(p.String())
}

// autoSteps limits the refinements for one key. The result then
// fits one or two screens.
const autoSteps = 12

// auto refines the heaviest entries at and below one.
func (r *refiner) auto(e *refine.Entry, steps int) {
	r.w.session.Collapse(e.Path, false)
	r.refine("Refining the heaviest entries", func(s *refine.Session) error {
		if s.Auto(e.Path, steps) == 0 {
			return errors.New("nothing above the threshold is left to refine below the selected entry")
		}
		return nil
	}, nil)
}

// zoom makes the stacks of an entry the whole.
func (r *refiner) zoom(e *refine.Entry) {
	r.step(refine.KindZoom, e.Key(), func() { r.w.entries.chooseKey(e.Key()) })
}

// prune keeps the stacks for which an expression is true.
func (r *refiner) prune(e callpath.Expr) {
	step := refine.Step{Kind: refine.KindPrune, Text: e.String()}
	r.refine("Pruning", func(s *refine.Session) error { return s.Apply(step) }, nil)
}

// askPrune asks whether to keep the stacks with an entry or
// those without it.
func (r *refiner) askPrune(e *refine.Entry) {
	of := callpath.Expr{Op: callpath.OpPath, Path: e.Path}
	r.w.a.overlay = &menu{a: r.w.a, title: "Prune " + e.Label(), choices: []binding{
		on("o", "only it: keep the stacks that satisfy its path", "", func() { r.prune(of) }),
		on("a", "away: keep the other stacks", "", func() {
			r.prune(callpath.Expr{Op: callpath.OpNot, Args: []callpath.Expr{of}})
		}),
	}}
}

// marked records that an action of the user led from one number
// of steps to another.
func (r *refiner) marked(from, to int) {
	r.marks = slices.DeleteFunc(r.marks, func(n int) bool { return n > from })
	r.marks = append(r.marks, to)
}

// markReplayed makes every replayed step one that can be undone separately.
func (r *refiner) markReplayed() {
	n := len(r.w.session.Steps())
	r.marks = slices.DeleteFunc(r.marks, func(m int) bool { return m > n })
	if len(r.marks) == 0 || r.marks[len(r.marks)-1] != n {
		r.marks = r.marks[:0]
		for i := range n {
			r.marks = append(r.marks, i+1)
		}
	}
}

// undo reverts the user's last action; redo does it again.
func (r *refiner) undo() { r.backOrForth((*refine.Session).Undo, "There is nothing to undo.") }

func (r *refiner) redo() { r.backOrForth((*refine.Session).Redo, "There is nothing to redo.") }

func (r *refiner) backOrForth(move func(*refine.Session) bool, nothing string) {
	if r.w.session == nil || !move(r.w.session) {
		r.w.a.say("%s", nothing)
		return
	}
	for n := len(r.w.session.Steps()); n > 0 && !slices.Contains(r.marks, n) && move(r.w.session); {
		n = len(r.w.session.Steps())
	}
	r.w.update()
}
