package refine

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// ErrNothing is the error of a step that found nothing, and so
// changed nothing.
var ErrNothing = errors.New("nothing found")

// DefaultMinHits is the ten-samples heuristic: costs of fewer hits are not
// reliable (CPPROFJ, section 5.1).
const DefaultMinHits = 10

// A Session is the profile of one view while a user refines it:
// a tree of entries that begins with the view's root, and the
// steps that made it. Only one goroutine may use it.
type Session struct {
	members   *calltree.Membership
	history   []moment // [0] is the beginning and has no step
	now       int      // the moment that is shown; later ones can be redone
	threshold Threshold
	collapsed map[string]bool // by key
	display   Display
	owns      owns
}

// A moment is the session after a step. Moments share nothing
// that changes.
type moment struct {
	step parsed
	tree *calltree.Tree
	root *Entry
}

// NewSession begins with the view's root as the only entry.
func NewSession(t *calltree.Tree, m *calltree.Membership) *Session {
	return &Session{
		members:   m,
		history:   []moment{{tree: t, root: rootEntry(t)}},
		threshold: Threshold{Hits: big.NewRat(DefaultMinHits, 1)},
		collapsed: make(map[string]bool),
	}
}

// Clone returns a copy of the session that changes
// independently, for example on another goroutine.
func (s *Session) Clone() *Session {
	c := *s
	c.history = slices.Clone(s.history)
	c.collapsed = maps.Clone(s.collapsed)
	return &c
}

func rootEntry(t *calltree.Tree) *Entry {
	return &Entry{Path: callpath.Root(t), Total: t.Main().Through(0)}
}

// Tree returns the view as it is now, pruned.
func (s *Session) Tree() *calltree.Tree { return s.history[s.now].tree }

// Membership returns the functions of each aspect.
func (s *Session) Membership() *calltree.Membership { return s.members }

// Root returns the entry of the view's root.
func (s *Session) Root() *Entry { return s.history[s.now].root }

// Find returns the entry of a path, or nil. If the path does not
// begin with the root, Find puts the root before it.
func (s *Session) Find(p callpath.Path) *Entry { return s.Root().find(s.rooted(p)) }

// Cost returns an entry's weight as a fraction of the view's denominator.
func (s *Session) Cost(e *Entry) *big.Rat { return s.Tree().Main().Cost(e.Weight) }

// Steps returns the steps that led to the current moment.
func (s *Session) Steps() []Step {
	steps := make([]Step, s.now)
	for i := range steps {
		steps[i] = s.history[i+1].step.Step
	}
	return steps
}

// Undo reverts the last step, and reports whether there was one.
func (s *Session) Undo() bool {
	if s.now == 0 {
		return false
	}
	s.now--
	return true
}

// Redo reverts the last Undo, and reports whether there was one
// since the last step.
func (s *Session) Redo() bool {
	if s.now == len(s.history)-1 {
		return false
	}
	s.now++
	return true
}

// Apply does a step, which can be undone. The error is a
// *callpath.SyntaxError if the step's text does not fit its
// kind. It is ErrNothing, wrapped with a hint, if the step finds
// nothing. After an error, the session stays as it was.
func (s *Session) Apply(step Step) error {
	p, err := s.parse(step)
	if err != nil {
		return err
	}
	next := moment{step: p, tree: s.Tree(), root: s.Root()}
	if p.Kind.prunes() {
		// A condition on an unknown aspect would prune everything or nothing,
		// and look like a result.
		if err := callpath.Aspects(s.members, p.expr.Paths()...); err != nil {
			return fmt.Errorf("%s: %w: %w", step, ErrNothing, err)
		}
		next.tree = Prune(s.Tree(), s.members, p.expr)
		if next.tree.Main().Cum(0).Sign() == 0 {
			return s.nothing(step, "no stack is left", p.expr.Paths()...)
		}
		if p.Kind == KindZoom {
			next.tree = next.tree.Whole()
		}
		next.root = s.replayed(next.tree)
		if p.Kind == KindZoom {
			(&editor{tree: next.tree, members: s.members, root: next.root}).ensure(p.path)
		}
	} else {
		e := editor{tree: s.Tree(), members: s.members, root: s.Root().clone()}
		if err := e.apply(p); err != nil {
			return s.nothing(step, err.Error(), p.path, p.suffix)
		}
		next.root = e.root
	}
	s.history = append(s.history[:s.now+1], next)
	s.now++
	return nil
}

// replayed does all steps up to now, except those that prune, on
// a pruned tree.
func (s *Session) replayed(t *calltree.Tree) *Entry {
	e := editor{tree: t, members: s.members, root: rootEntry(t)}
	for _, m := range s.history[1 : s.now+1] {
		if !m.step.Kind.prunes() {
			_ = e.apply(m.step) // a step finds nothing if its stacks are pruned away
		}
	}
	return e.root
}

// nothing returns the error of a step that found nothing; it
// names those elements that do not occur at all.
func (s *Session) nothing(step Step, why string, paths ...callpath.Path) error {
	var hints []string
	for _, p := range paths {
		for _, h := range callpath.Unknown(s.Tree(), s.members, p) {
			if !slices.Contains(hints, h) {
				hints = append(hints, h)
			}
		}
	}
	err := fmt.Errorf("%s: %s: %w", step, why, ErrNothing)
	if len(hints) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(hints, "; "))
	}
	return err
}
