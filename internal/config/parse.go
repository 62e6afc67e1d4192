package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/share"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"go.yaml.in/yaml/v3"
)

const (
	// maxErrors bounds the number of mistakes that are reported for one file.
	maxErrors = 10
	// maxRegexps bounds the sizes of all regular expressions of a file
	// together, see aspects.Pattern.Size.
	maxRegexps = 500_000
	// maxAspects bounds the aspects of a file: every function is matched
	// against each.
	maxAspects = 1000
)

// Parse reads a config from memory; name is its name in errors. See Load.
func Parse(name string, data []byte) (*Config, error) {
	p := &parser{file: name, config: Default()}
	p.config.File = name
	if len(data) > maxSize {
		return nil, &Error{File: name, Line: 1, Column: 1,
			Msg: fmt.Sprintf("the file is larger than %d bytes", maxSize)}
	}
	p.lines = strings.Split(string(data), "\n")
	if root := p.document(data); root != nil {
		p.top(root)
		p.config.Aspects = aspects.NewSet(p.aspectList...)
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.config, nil
}

// A parser walks the nodes of a config file, fills in config,
// and collects the mistakes.
type parser struct {
	file    string
	lines   []string
	config  *Config
	regexps int // sizes so far
	errs    []error

	aspectList []aspects.Aspect
}

// A section is a key at the top of the file.
type section struct {
	key  string
	read func(*parser, *yaml.Node) // nil: it is one of scalars
}

func sections() []section {
	return []section{
		{"aspects", (*parser).aspects}, {"priorities", (*parser).priorities},
		{"classes", nil}, {"wrappers", (*parser).wrappers},
		{"merge", (*parser).merges}, {"threshold", nil},
		{"slow", nil}, {"accounting", nil}, {"inlines", nil},
		{"metrics", func(p *parser, n *yaml.Node) {
			p.config.Metrics = p.definitions("metrics", n)
		}},
		{"lists", func(p *parser, n *yaml.Node) { p.config.Lists = p.definitions("lists", n) }},
		{"monitors", (*parser).monitors},
	}
}

func (p *parser) top(n *yaml.Node) {
	all := sections()
	for _, e := range p.mapping(n, "config") {
		of := func(s section) bool { return s.key == e.key.Value }
		switch i := slices.IndexFunc(all, of); {
		case i < 0:
			p.unknown(e.key)
		case all[i].read == nil:
			p.scalar(e.key.Value, e.value)
		default:
			all[i].read(p, e.value)
		}
	}
}

func (p *parser) unknown(key *yaml.Node) {
	msg := fmt.Sprintf("unknown key %q", key.Value)
	keys := lists.Each(sections(), func(s section) string { return s.key })
	if near := edit.Nearest(key.Value, keys); near != "" {
		msg += fmt.Sprintf(": did you mean %q?", near)
	} else {
		msg += ": want " + strings.Join(keys, ", ")
	}
	p.failAt(key.Line, key.Column, msg)
}

func (p *parser) aspects(n *yaml.Node) {
	lines := make(map[string]int)
	for i, e := range p.mapping(n, "aspects") {
		if i == maxAspects {
			p.fail(e.key, 0, "more than %d aspects", maxAspects)
			return
		}
		name, err := aspects.CheckName(e.key.Value)
		if err != nil {
			p.fail(e.key, 0, "%v", err)
			continue
		}
		if line, dup := lines[name]; dup {
			p.fail(e.key, 0, "aspect %s is already in line %d", name, line)
			continue
		}
		lines[name] = e.key.Line
		p.aspect(name, e.value)
	}
}

func (p *parser) aspect(name string, n *yaml.Node) {
	patterns, ok := p.patterns("aspect "+name, n)
	if !ok {
		return
	}
	a, err := aspects.Of(name, patterns)
	if err != nil {
		p.fail(n, 0, "%v", err)
		return
	}
	p.aspectList = append(p.aspectList, a)
}

// patterns reads a list of patterns. It returns false if a
// pattern is wrong, after reporting that.
func (p *parser) patterns(what string, n *yaml.Node) (list []aspects.Pattern, ok bool) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, 0, `%s: want a list of patterns, such as ["main.(*queue).*"], not %s`, what,
			kind(n))
		return nil, false
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			p.fail(item, 0, "%s: want a pattern, not %s", what, kind(item))
			continue
		}
		if pattern, ok := p.pattern(item); ok {
			list = append(list, pattern)
		}
	}
	return list, len(list) == len(n.Content)
}

func (p *parser) pattern(n *yaml.Node) (aspects.Pattern, bool) {
	if p.regexps > maxRegexps {
		return aspects.Pattern{}, false // reported before
	}
	pattern, err := aspects.ParsePattern(n.Value)
	if err != nil {
		offset, msg := 0, err.Error()
		if e := (*aspects.PatternError)(nil); errors.As(err, &e) {
			offset, msg = utf8.RuneCountInString(n.Value[:min(e.Offset, len(n.Value))]), e.Msg
		}
		p.fail(n, offset, "pattern %.40q: %s", n.Value, msg)
		return aspects.Pattern{}, false
	}
	if p.regexps += pattern.Size(); p.regexps > maxRegexps {
		p.fail(n, 0, "the regular expressions of this file are too large together: repeat less")
	}
	return pattern, true
}

func (p *parser) priorities(n *yaml.Node) {
	for _, e := range p.mapping(n, "priorities") {
		class, ok := p.pattern(e.key)
		if !ok {
			continue
		}
		if class.Exclude() {
			p.fail(e.key, 0, "class pattern %q: an exclusion is not allowed here, since the first pattern that matches counts", class)
			continue
		}
		if err := checkClassPattern(class); err != nil {
			p.fail(e.key, 0, "%v", err)
			continue
		}
		value, err := strconv.ParseInt(e.value.Value, 10, 32)
		if e.value.Kind != yaml.ScalarNode || e.value.ShortTag() != "!!int" || err != nil {
			p.fail(e.value, 0, "priority of %q: want a whole number of at most 32 bits", class)
			continue
		}
		p.config.Priorities = append(p.config.Priorities,
			Priority{Class: class, Value: int32(value)})
	}
}

// A scalar is a setting that is one word or number.
type scalar struct {
	want string   // "true or false"
	tags []string // those that its value may have in YAML; all if there are none
	set  func(c *Config, text string) error
}

var scalars = map[string]scalar{
	"classes": {"function, site or label:KEY", []string{"!!str"},
		func(c *Config, text string) (err error) {
			c.Classes, err = views.ParseClassBy(text)
			return err
		}},
	"threshold": {"hits (10) or a cost (0.05, 5%)", []string{"!!int", "!!float", "!!str"},
		func(c *Config, text string) (err error) {
			c.Threshold, err = refine.ParseThreshold(text)
			return err
		}},
	"slow": {"a share such as 10%", nil, func(c *Config, text string) error {
		of, err := share.Parse(text)
		if err == nil {
			c.Slow, _ = of.Float64()
		}
		return err
	}},
	"accounting": {"observed, single or processors", nil,
		func(c *Config, text string) (err error) {
			c.Accounting, err = views.ParseAccounting(text)
			return err
		}},
	"inlines": {"true or false", []string{"!!bool"}, func(c *Config, text string) error {
		c.NoInlines = text == "false"
		return nil
	}},
}

func (p *parser) scalar(key string, n *yaml.Node) {
	s := scalars[key]
	if n.Kind != yaml.ScalarNode || s.tags != nil && !slices.Contains(s.tags, n.ShortTag()) {
		p.fail(n, 0, "%s: want %s, not %s", key, s.want, kind(n))
	} else if err := s.set(p.config, n.Value); err != nil {
		p.fail(n, 0, "%s: %s", key, strings.TrimPrefix(err.Error(), key+" "))
	}
}
