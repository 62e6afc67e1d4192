package callpath

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/edit"
)

// Unknown names the elements of p that do not occur in the tree, one sentence each, with the closest names that do
// occur. Such a path costs nothing, and often it is a typing mistake.
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
			said = append(said, fmt.Sprintf("%s does not occur in this view", e)+suggest(e.Name, framesOf(t, occurring)))
		case setOf(m, e.Name) < 0:
			said = append(said, noAspect(m, e))
		case !hasMember(m, e.Name, occurring):
			said = append(said, fmt.Sprintf("no function of this view belongs to %s", e))
		}
	}
	return said
}

// Misspelt returns an error that names the functions of the paths that do not occur in the tree, as Unknown does; it
// returns nil if all occur. It ignores typed time, classes and aspects, which may rightly cost nothing.
func Misspelt(t *calltree.Tree, m *calltree.Membership, paths ...Path) error {
	var said []string
	for _, p := range paths {
		p.Elements = slices.DeleteFunc(slices.Clone(p.Elements), func(e Element) bool {
			return e.Aspect() || calltree.KindOf(e.Name) != calltree.Function
		})
		said = append(said, Unknown(t, m, p)...)
	}
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}

// Aspects checks that the aspects of paths are defined; the error suggests similar names.
func Aspects(m *calltree.Membership, paths ...Path) error {
	for _, p := range paths {
		for _, e := range p.Elements {
			if e.Aspect() && setOf(m, e.Name) < 0 {
				return errors.New(noAspect(m, e))
			}
		}
	}
	return nil
}

func noAspect(m *calltree.Membership, e Element) string {
	return fmt.Sprintf("there is no aspect %s", e) + suggest(e.Name, aspectsOf(m))
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

func aspectsOf(m *calltree.Membership) []Element {
	if m == nil {
		return nil
	}
	var aspects []Element
	for _, name := range m.Names() {
		aspects = append(aspects, Element{Name: name})
	}
	return aspects
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

// maxSuggestions limits the number of suggestions, and maxCompared the length of the names that are compared.
const maxSuggestions, maxCompared = 3, 200

// suggest returns a question with the known names closest to name, or "".
func suggest(name string, known []Element) string {
	type candidate struct {
		element  Element
		distance int
	}
	var candidates []candidate
	for _, k := range known {
		if d, ok := distance(name, k.Name); ok {
			candidates = append(candidates, candidate{k, d})
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.element.Name, b.element.Name))
	})
	var names []string
	for _, c := range candidates[:min(len(candidates), maxSuggestions)] {
		names = append(names, c.element.String())
	}
	return ": did you mean " + strings.Join(names, ", or ") + "?"
}

// distance returns how far two names are apart, and reports whether they are similar at all: one is a part of the other,
// as work.Do is of example.com/work.Do, or few letters differ.
func distance(a, b string) (int, bool) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 2 && strings.Contains(b, a) {
		return 1, true
	}
	limit := max(1, min(len(a), len(b))/4)
	if len(a) > maxCompared || len(b) > maxCompared || len(a)-len(b) > limit || len(b)-len(a) > limit {
		return 0, false
	}
	d := edit.Distance(a, b)
	return d, d <= limit
}
