// Package aspects puts functions into named sets.
//
// An aspect is a pseudo-method (CPPROFJ, section 3): a named
// disjunction of patterns over function names. For example,
// @json has all functions that encode and decode JSON, in any
// package. In a call path, an aspect can be used like a
// function.
//
//	pattern.go    a pattern: glob or regular expression
//	set.go        an aspect, and an ordered set of aspects
//	index.go      finds the aspects of many functions
//
// Package config has the built-in aspects, and reads a user's
// aspects from the config file.
package aspects

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// An Aspect is a named set of functions: those that match any
// pattern and no exclusion, in any order.
type Aspect struct {
	name     string
	patterns []Pattern
}

// New makes an aspect of patterns. The name may be given with or
// without its "@". An aspect of no patterns has no functions,
// and removes an earlier one of its name (Set.With).
func New(name string, patterns ...string) (Aspect, error) {
	parsed := make([]Pattern, len(patterns))
	for i, s := range patterns {
		var err error
		if parsed[i], err = ParsePattern(s); err != nil {
			return Aspect{}, fmt.Errorf("aspect %s: %w", name, err)
		}
	}
	return Of(name, parsed)
}

// Of makes an aspect of parsed patterns, see New.
func Of(name string, patterns []Pattern) (Aspect, error) {
	name, err := CheckName(name)
	if err != nil {
		return Aspect{}, err
	}
	a := Aspect{name: name, patterns: slices.Clone(patterns)}
	if a.excludesOnly() {
		return Aspect{}, fmt.Errorf("aspect %s: %s", name, msgExcludesOnly)
	}
	return a, nil
}

const msgExcludesOnly = `there are only exclusions: add "*" for everything but what they match`

// excludesOnly reports whether all patterns are exclusions, and there is at
// least one.
func (a Aspect) excludesOnly() bool {
	return len(a.patterns) > 0 &&
		!slices.ContainsFunc(a.patterns, func(p Pattern) bool { return !p.exclude })
}

// Name returns the aspect's name, with its "@".
func (a Aspect) Name() string { return a.name }

// Patterns returns the aspect's patterns, in the order in which
// they were given.
func (a Aspect) Patterns() []Pattern { return append([]Pattern(nil), a.patterns...) }

// Has reports whether the aspect contains a function. For many
// functions, use Set.Membership.
func (a Aspect) Has(function string) bool { return Matches(function, a.patterns) }

// Matches reports whether a name matches a pattern, and no
// pattern that begins with "!".
func Matches(name string, patterns []Pattern) bool {
	one := false
	for _, p := range patterns {
		if p.Match(name) {
			if p.exclude {
				return false
			}
			one = true
		}
	}
	return one
}

// Excludes reports whether a pattern of the aspect that begins
// with "!" matches a function.
func (a Aspect) Excludes(function string) bool {
	return slices.ContainsFunc(a.patterns,
		func(p Pattern) bool { return p.exclude && p.Match(function) })
}

// A Set is an ordered list of aspects, each name once. It does
// not change: With returns a new one. The zero Set is empty.
type Set struct {
	aspects []Aspect
}

// NewSet makes a set of aspects with different names. An aspect
// of no patterns stays in it, and removes the aspect of its name
// from another set (With).
func NewSet(aspects ...Aspect) *Set { return &Set{aspects: slices.Clone(aspects)} }

// All returns the aspects in their order.
func (s *Set) All() []Aspect { return append([]Aspect(nil), s.aspects...) }

// Names returns the names of the aspects, with "@", in their order.
func (s *Set) Names() []string {
	return lists.Each(s.aspects, func(a Aspect) string { return a.name })
}

// Lookup finds an aspect by its name, with or without "@".
func (s *Set) Lookup(name string) (Aspect, bool) {
	if i := s.find(name); i >= 0 {
		return s.aspects[i], true
	}
	return Aspect{}, false
}

func (s *Set) find(name string) int {
	if name == "" || name[0] != '@' {
		name = "@" + name
	}
	return slices.IndexFunc(s.aspects, func(a Aspect) bool { return a.name == name })
}

// With returns a set with further aspects. A known name replaces
// the earlier aspect or, with no patterns, removes it. A new
// aspect comes last.
func (s *Set) With(more ...Aspect) *Set {
	t := &Set{aspects: s.All()}
	for _, a := range more {
		i := t.find(a.name)
		switch {
		case len(a.patterns) == 0 && i >= 0:
			t.aspects = append(t.aspects[:i], t.aspects[i+1:]...)
		case len(a.patterns) == 0:
		case i >= 0:
			t.aspects[i] = a
		default:
			t.aspects = append(t.aspects, a)
		}
	}
	return t
}

// Membership finds the aspects of all functions of a table; sets
// are in the order of s.
func (s *Set) Membership(syms *calltree.Symbols) *calltree.Membership {
	m := newMatcher(s.aspects)
	return calltree.NewMembership(syms, s.Names(), m.belongs)
}
