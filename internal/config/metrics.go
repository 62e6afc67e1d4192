package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDefinitions bounds the metrics and the lists of a file.
const maxDefinitions = 1000

// definitionName is what a metric or sample list may be called.
// A name may have dots, as monitors have.
var definitionName = regexp.MustCompile(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)

// reserved are the words that mean something else in expressions.
var reserved = []string{"all", "and", "or", "not", "in", "true", "false", "nil", "let", "if",
	"else", "matches", "contains"}

// NewDefinition checks the name of a metric or list.
func NewDefinition(name, expr string) (Definition, error) {
	switch {
	case !definitionName.MatchString(name):
		return Definition{},
			fmt.Errorf("%.100q is no name: it has letters, digits and _, and may have dots", name)
	case slices.Contains(reserved, name):
		return Definition{},
			fmt.Errorf("%q means something else in expressions: choose another name", name)
	case strings.TrimSpace(expr) == "":
		return Definition{}, errors.New("want an expression, such as rate(process.cpu) > 5e8")
	}
	return Definition{name, expr}, nil
}

// ParseDefinition reads NAME=EXPR.
func ParseDefinition(s string) (Definition, error) {
	name, expr, ok := strings.Cut(s, "=")
	if !ok {
		return Definition{}, errors.New("want NAME=EXPR, such as busy='rate(process.cpu) > 5e8'")
	}
	return NewDefinition(strings.TrimSpace(name), expr)
}

// definitions reads the names of expressions.
func (p *parser) definitions(what string, n *yaml.Node) (list []Definition) {
	for i, e := range p.mapping(n, what) {
		if i == maxDefinitions {
			p.fail(e.key, 0, "more than %d %s", maxDefinitions, what)
			return list
		}
		if e.value.Kind != yaml.ScalarNode || ownTag(e.value) || isNull(e.value) {
			p.fail(e.value, 0, "%s: %s: want an expression, not %s", what, e.key.Value,
				kind(e.value))
			continue
		}
		d, err := NewDefinition(e.key.Value, e.value.Value)
		if err != nil {
			p.fail(e.key, 0, "%s: %v", what, err)
			continue
		}
		list = append(list, d)
	}
	return list
}

// maxMonitors bounds the monitors of a file.
const maxMonitors = 1000

// monitors reads a list of texts.
func (p *parser) monitors(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxMonitors {
		p.fail(n, 0, "monitors: want a list of at most %d, such as [main.queue.size], not %s",
			maxMonitors, kind(n))
		return
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			p.fail(item, 0, "monitors: want a name, an expression or an address, not %s",
				kind(item))
			continue
		}
		p.config.Monitors = append(p.config.Monitors, item.Value)
	}
}
