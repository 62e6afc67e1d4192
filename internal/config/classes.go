package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"go.yaml.in/yaml/v3"
)

// A Merge makes one thread class of several (CPPROFJ, section 5).
type Merge struct {
	Name string // "connections" makes the class "class:connections"
	// over class names: "go:main.worker", "label:route=/api"; also names that
	// earlier merges made
	Classes []aspects.Pattern
}

// NewMerge makes a Merge of patterns. The name may be given with
// or without "class:".
func NewMerge(name string, patterns ...string) (Merge, error) {
	m := Merge{Name: strings.TrimPrefix(name, calltree.MergedClass)}
	if err := m.checkName(); err != nil {
		return Merge{}, err
	}
	for _, s := range patterns {
		p, err := aspects.ParsePattern(s)
		if err != nil {
			return Merge{}, fmt.Errorf("%s: %w", m.Class(), err)
		}
		if err := checkMember(p); err != nil {
			return Merge{}, fmt.Errorf("%s: %w", m.Class(), err)
		}
		m.Classes = append(m.Classes, p)
	}
	if len(m.Classes) == 0 {
		return Merge{}, fmt.Errorf("%s: want at least one pattern of classes", m.Class())
	}
	return m, nil
}

func (m Merge) checkName() error {
	if _, err := aspects.CheckName(m.Name); err != nil || strings.HasPrefix(m.Name, "@") {
		return fmt.Errorf("class %.100q: a name has letters and digits, and within it _ - /",
			m.Name)
	}
	return nil
}

// Class returns the name of the class that the others are merged into.
func (m Merge) Class() string { return calltree.MergedClass + m.Name }

// Equal reports whether two merges have the same name and patterns.
func (m Merge) Equal(n Merge) bool {
	return m.Name == n.Name &&
		slices.EqualFunc(m.Classes, n.Classes,
			func(p, q aspects.Pattern) bool { return p.String() == q.String() })
}

// checkMember returns an error for a pattern that matches no
// class, also none of an earlier merge.
func checkMember(p aspects.Pattern) error {
	if p.MayBegin(calltree.MergedClass) {
		return nil
	}
	return checkClassPattern(p)
}

// checkClassPattern returns an error for a pattern that matches no class.
func checkClassPattern(p aspects.Pattern) error {
	if p.MayBegin("go:") || p.MayBegin("label:") {
		return nil
	}
	return fmt.Errorf(`class pattern %q matches no class: their names begin with "go:" or "label:"`,
		p)
}

// Configure completes the options of views by what the
// configuration says about thread classes, about functions that
// wait for work, and about those that do a piece of it.
func (c *Config) Configure(o views.Options) views.Options {
	o.Priority = c.Priority
	o.Wrapper = c.wrapper()
	o.Role = c.idleRoles()
	if requests, ok := c.AllAspects().Lookup(RequestAspect); ok {
		o.Request = requests.Has
	}
	o.Merged = nil
	if len(c.Merges) > 0 {
		o.Merged = c.merged
	}
	return o
}

// wrapper returns a function. It reports whether a function only
// calls another one that it was given: it is a built-in wrapper
// or one of the file, and no pattern excludes it.
func (c *Config) wrapper() func(function string) bool {
	patterns := slices.Concat(builtin().Wrappers, c.Wrappers)
	return func(function string) bool { return aspects.Matches(function, patterns) }
}

// merged returns the class that a class is merged into. Merges
// apply one after the other.
func (c *Config) merged(class string) string {
	for _, m := range c.Merges {
		if aspects.Matches(class, m.Classes) {
			class = m.Class()
		}
	}
	return class
}

func (p *parser) wrappers(n *yaml.Node) {
	p.config.Wrappers, _ = p.patterns("wrappers", n)
}

func (p *parser) merges(n *yaml.Node) {
	for i, e := range p.mapping(n, "merge") {
		if i == maxAspects {
			p.fail(e.key, 0, "more than %d merged classes", maxAspects)
			return
		}
		m := Merge{Name: strings.TrimPrefix(e.key.Value, calltree.MergedClass)}
		if err := m.checkName(); err != nil {
			p.fail(e.key, 0, "%v", err)
			continue
		}
		var ok bool
		if m.Classes, ok = p.patterns(m.Class(), e.value); !ok {
			continue
		}
		for j, pattern := range m.Classes {
			if err := checkMember(pattern); err != nil {
				p.fail(e.value.Content[j], 0, "%v", err)
			}
		}
		p.config.Merges = append(p.config.Merges, m)
	}
}
