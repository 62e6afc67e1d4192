package metrics

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
)

// AllSamples is the name of the list of all samples.
const AllSamples = "all"

// List computes a predicate such as rate(gc.cycles) > 0. Lists
// are predicates, too, so a && !b has the samples of a that b
// doesn't have.
func (t *Table) List(expr string) (List, error) {
	m, err := t.Metric(expr)
	if err != nil {
		return List{}, err
	}
	if !m.Truth {
		return List{}, &callpath.SyntaxError{Input: expr,
			Msg: "a sample list is a predicate, and this is a number: compare it, such as with > 0"}
	}
	return listOf(m.Column), nil
}

// Choose computes a list for an analysis of its samples alone,
// which makes no sense if it has none.
func (t *Table) Choose(expr string) (List, error) {
	l, err := t.List(expr)
	if err == nil && l.Len() == 0 {
		err = fmt.Errorf("none of the %d samples of the recording is in the list %q",
			t.samples, expr)
	}
	return l, err
}

// Pick returns the recording with only the samples of a list. An
// empty list is an error.
func (t *Table) Pick(expr string) (*sampledata.Recording, error) {
	l, err := t.Choose(expr)
	if err != nil {
		return nil, err
	}
	return t.r.Pick(expr, l.Has)
}

// list returns the list of a name.
func (t *Table) list(name string) (List, error) {
	if name == AllSamples {
		return All(t.samples), nil
	}
	i := slices.IndexFunc(t.lists, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return List{}, fmt.Errorf("%s", t.unknown("sample list", name, t.listNames()))
	}
	key := "list " + name
	if t.busy[key] {
		return List{}, fmt.Errorf("list %s is defined by itself: %s", name, t.lists[i].Expr)
	}
	t.busy[key] = true
	defer delete(t.busy, key)
	l, err := t.List(t.lists[i].Expr)
	if err != nil {
		return List{}, fmt.Errorf("list %s: %w", name, err)
	}
	return l, nil
}

func (t *Table) listNames() []string {
	names := []string{AllSamples}
	for _, l := range t.lists {
		names = append(names, l.Name)
	}
	return names
}
