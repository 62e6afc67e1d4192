package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The keys that have names below them, and the keys whose values
// are lists.
var (
	named  = []string{"aspects", "priorities", "merge", "metrics", "lists"}
	listed = []string{"aspects", "merge", "wrappers", "monitors"}
)

// Set makes one setting, KEY=VALUE or KEY.NAME=VALUE, as the file would.
// Commas separate the patterns of a list.
func (c *Config) Set(setting string) error {
	path, value, ok := strings.Cut(setting, "=")
	key, name, hasName := strings.Cut(strings.TrimSpace(path), ".")
	needsName := slices.Contains(named, key)
	switch known := slices.ContainsFunc(sections(), func(s section) bool { return s.key == key }); {
	case !ok:
		return errors.New("want KEY=VALUE, such as classes=site or lists.busy='cpu.used > 1'")
	case known && needsName && !hasName:
		return fmt.Errorf("%s has names: want %s.NAME=VALUE", key, key)
	case known && hasName && !needsName:
		return fmt.Errorf("%s has no names: want %s=VALUE", key, key)
	}
	of := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if slices.Contains(listed, key) {
		of = &yaml.Node{Kind: yaml.SequenceNode}
		for pattern := range strings.SplitSeq(value, ",") {
			of.Content = append(of.Content, text(pattern))
		}
	}
	if hasName {
		of = &yaml.Node{Kind: yaml.MappingNode,
			Content: []*yaml.Node{text(strings.TrimSpace(name)), of}}
	}
	top := text(key)
	top.Line = 1
	p := &parser{config: Default()}
	p.top(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{top, of}})
	if len(p.errs) > 0 {
		return errors.New(p.errs[0].(*Error).Msg)
	}
	if s, ok := scalars[key]; ok {
		return s.set(c, value)
	}
	read := p.config
	c.Aspects = c.Aspects.With(p.aspectList...)
	c.Priorities = slices.Concat(read.Priorities, c.Priorities) // the first that matches counts
	c.Wrappers = slices.Concat(c.Wrappers, read.Wrappers)
	c.Merges = slices.Concat(c.Merges, read.Merges)
	c.Metrics = slices.Concat(c.Metrics, read.Metrics)
	c.Lists = slices.Concat(c.Lists, read.Lists)
	c.Monitors = slices.Concat(c.Monitors, read.Monitors)
	return nil
}
