package callpath

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Unknown names the elements of p that do not occur in the tree,
// one sentence each. It suggests the closest names that do
// occur. Such a path costs nothing, and often it is a typing
// mistake.
func Unknown(t *calltree.Tree, m *calltree.Membership, p Path) []string {
	var said []string
	var occurring []bool
	for i, e := range p.Elements {
		if slices.Contains(p.Elements[:i], e) {
			continue
		}
		if occurring == nil {
			occurring = occurringFuncs(t)
		}
		switch f := t.Named(e.Name); {
		case !e.Aspect() && f != calltree.None && occurring[f]:
		case !e.Aspect():
			said = append(said, missing(e, framesOf(t, occurring)))
		case m.Set(e.Name) < 0:
			said = append(said, noAspect(m, e))
		case !hasMember(m, e.Name, occurring):
			said = append(said, fmt.Sprintf("no function of this view belongs to %s", e))
		}
	}
	return said
}

// Misspelt returns an error that names the elements of the paths
// that do not occur in the tree, with the closest names that do;
// it returns nil if all occur. Aspects, and frames with other
// names that are known, may rightly cost nothing.
func Misspelt(t *calltree.Tree, other []string, paths ...Path) error {
	occurring := occurringFuncs(t)
	var known []Element
	var said []string
	for _, p := range paths {
		for _, e := range p.Elements {
			if f := t.Named(e.Name); e.Aspect() || f != calltree.None && occurring[f] ||
				slices.Contains(other, e.Name) {
				continue
			}
			if known == nil {
				known = framesOf(t, occurring)
				for _, name := range other {
					known = append(known, Frame(name))
				}
			}
			said = append(said, missing(e, known))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}

// missing says that an element does not occur, and which known
// names are close to it.
func missing(e Element, known []Element) string {
	hint := suggest(e.Name, known)
	switch {
	case strings.Contains(strings.ReplaceAll(e.Name, "(*", ""), "*"):
		hint = ": a * within a name stands for itself; an aspect has patterns, see 'cpprof help patterns'"
	case hint == "":
		hint = ", and no similar name does"
	}
	return fmt.Sprintf("%s does not occur in this view", e) + hint
}

// Aspects checks that the aspects of paths are defined; the
// error suggests similar names.
func Aspects(m *calltree.Membership, paths ...Path) error {
	for _, p := range paths {
		for _, e := range p.Elements {
			if e.Aspect() && m.Set(e.Name) < 0 {
				return errors.New(noAspect(m, e))
			}
		}
	}
	return nil
}

func noAspect(m *calltree.Membership, e Element) string {
	known := lists.Each(m.Names(), func(name string) Element { return Element{Name: name} })
	return fmt.Sprintf("there is no aspect %s", e) + suggest(e.Name, known)
}

func occurringFuncs(t *calltree.Tree) []bool {
	occurring := make([]bool, t.Symbols().Len())
	for _, f := range t.Funcs() {
		occurring[f] = true
	}
	return occurring
}

func framesOf(t *calltree.Tree, occurring []bool) []Element {
	var frames []Element
	for f, occurs := range occurring {
		if occurs {
			frames = append(frames, Frame(t.Symbols().Name(calltree.Func(f))))
		}
	}
	return frames
}

func hasMember(m *calltree.Membership, aspect string, occurring []bool) bool {
	set := m.Set(aspect)
	for f, occurs := range occurring {
		if occurs && slices.Contains(m.Of(calltree.Func(f)), set) {
			return true
		}
	}
	return false
}

// suggest returns a question with the known names closest to name, or "".
func suggest(name string, known []Element) string {
	all := lists.Each(known, func(e Element) string { return e.Name })
	names := lists.Each(edit.Similar(name, all),
		func(near string) string { return known[slices.Index(all, near)].String() })
	if len(names) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(names, ", or ") + "?"
}
