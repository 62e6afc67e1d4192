package aspects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/views"
	"go.yaml.in/yaml/v3"
)

const (
	// maxErrors bounds how many mistakes of one file are told.
	maxErrors = 10
	// maxRegexps bounds the sizes of all regular expressions of a file together, see maxRegexp.
	maxRegexps = 500_000
	// maxAspects bounds the aspects of a file: every function is held against each.
	maxAspects = 1000
)

// ParseConfig reads a config from memory; name is what errors call it. See LoadConfig.
func ParseConfig(name string, data []byte) (*Config, error) {
	p := &configParser{file: name, config: DefaultConfig()}
	p.config.File = name
	if len(data) > maxConfig {
		return nil, &ConfigError{File: name, Line: 1, Column: 1, Msg: fmt.Sprintf("the file is larger than %d bytes", maxConfig)}
	}
	p.lines = strings.Split(string(data), "\n")
	if root := p.document(data); root != nil {
		p.top(root)
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.config, nil
}

// A configParser walks the nodes of a config file, fills in config, and collects what is wrong.
type configParser struct {
	file    string
	lines   []string
	config  *Config
	regexps int // sizes so far
	errs    []error
}

// document gives the file's one top-level value, or nil where the file is empty or can't be read.
func (p *configParser) document(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err = dec.Decode(&more); errors.Is(err, io.EOF) {
			return doc.Content[0] // a document has one value, if only null
		}
	}
	if err == nil {
		p.fail(&more, 0, "a second document: a config file has one")
		return nil
	}
	p.syntax(err)
	return nil
}

// Messages of the YAML reader that don't tell a person what to do.
const (
	yamlNoAlias = "did not find expected alphabetic or numeric character" // after * or &
	msgQuote    = "put quotes around what begins with *, & or !"
)

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// syntax tells an error of the YAML reader, which knows at most the line.
func (p *configParser) syntax(err error) {
	line, msg := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		msg = m[2]
	}
	line = min(max(line, 1), len(p.lines))
	text := p.lines[line-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	switch m := yamlAnchor.FindStringSubmatch(msg); {
	case m != nil:
		msg = fmt.Sprintf("an alias *%s: %s", m[1], msgQuote)
		line, column = p.find("*" + m[1])
	case msg == yamlNoAlias:
		msg = msgQuote
		if at := strings.IndexAny(text, "*&"); at >= 0 {
			column = utf8.RuneCountInString(text[:at]) + 1
		}
	}
	p.failAt(line, column, msg)
}

// find gives the place where a text stands first, or that of the file's beginning.
func (p *configParser) find(text string) (line, column int) {
	for i, l := range p.lines {
		if at := strings.Index(l, text); at >= 0 {
			return i + 1, utf8.RuneCountInString(l[:at]) + 1
		}
	}
	return 1, 1
}

// fail notes what is wrong at a node, offset characters from its start.
func (p *configParser) fail(n *yaml.Node, offset int, format string, args ...any) {
	if offset > 0 && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		offset++
	}
	p.failAt(max(n.Line, 1), max(n.Column, 1)+offset, fmt.Sprintf(format, args...))
}

func (p *configParser) failAt(line, column int, msg string) {
	if len(p.errs) >= maxErrors {
		return
	}
	e := &ConfigError{File: p.file, Line: line, Column: column, Msg: msg}
	if line <= len(p.lines) {
		if text := strings.TrimRight(p.lines[line-1], "\r"); len(text) <= 200 && firstOdd(strings.ReplaceAll(text, "\t", " ")) < 0 {
			e.Source = text
		}
	}
	p.errs = append(p.errs, e)
}

// An entry of a mapping.
type pair struct{ key, value *yaml.Node }

// mapping gives the entries of a mapping, whose keys must be text and differ.
func (p *configParser) mapping(n *yaml.Node, what string) []pair {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, 0, "%s: want a mapping, not %s", what, kind(n))
		return nil
	}
	var pairs []pair
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || ownTag(k) {
			p.fail(k, 0, "%s: a key must be text, not %s", what, kind(k))
			continue
		}
		if line, dup := seen[k.Value]; dup {
			p.fail(k, 0, "%s: %q is there already, in line %d", what, k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		pairs = append(pairs, pair{k, n.Content[i+1]})
	}
	return pairs
}

// isNull tells whether nothing stands where a value belongs: "aspects:" with all below it commented out.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// ownTag tells whether a node has a tag that is not YAML's own, as a pattern becomes that begins with "!" and has
// no quotes.
func ownTag(n *yaml.Node) bool {
	return strings.HasPrefix(n.ShortTag(), "!") && !strings.HasPrefix(n.ShortTag(), "!!")
}

// kind names what a node is.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (" + msgQuote + ")"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	}
	if ownTag(n) {
		return fmt.Sprintf("a tag %s (%s)", n.Tag, msgQuote)
	}
	return "a " + strings.TrimPrefix(n.ShortTag(), "!!")
}

var configKeys = []string{"aspects", "priorities", "classes", "threshold"}

func (p *configParser) top(n *yaml.Node) {
	for _, e := range p.mapping(n, "config") {
		switch e.key.Value {
		case "aspects":
			p.aspects(e.value)
		case "priorities":
			p.priorities(e.value)
		case "classes":
			p.classes(e.value)
		case "threshold":
			p.threshold(e.value)
		default:
			p.unknown(e.key)
		}
	}
}

func (p *configParser) unknown(key *yaml.Node) {
	msg := fmt.Sprintf("unknown key %q", key.Value)
	if near := nearest(key.Value, configKeys); near != "" {
		msg += fmt.Sprintf(": did you mean %q?", near)
	} else {
		msg += ": want " + strings.Join(configKeys, ", ")
	}
	p.failAt(key.Line, key.Column, msg)
}

func (p *configParser) aspects(n *yaml.Node) {
	lines := make(map[string]int)
	for i, e := range p.mapping(n, "aspects") {
		if i == maxAspects {
			p.fail(e.key, 0, "more than %d aspects", maxAspects)
			return
		}
		name, err := checkName(e.key.Value)
		if err != nil {
			p.fail(e.key, 0, "%v", err)
			continue
		}
		if line, dup := lines[name]; dup {
			p.fail(e.key, 0, "aspect %s is there already, in line %d", name, line)
			continue
		}
		lines[name] = e.key.Line
		p.aspect(name, e.value)
	}
}

func (p *configParser) aspect(name string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, 0, `aspect %s: want a list of patterns, such as ["main.(*queue).*"], not %s`, name, kind(n))
		return
	}
	a := Aspect{name: name}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			p.fail(item, 0, "aspect %s: want a pattern, not %s", name, kind(item))
			continue
		}
		if pattern, ok := p.pattern(item); ok {
			a.patterns = append(a.patterns, pattern)
		}
	}
	if len(a.patterns) == len(n.Content) && a.excludesOnly() {
		p.fail(n, 0, "aspect %s: %s", name, msgExcludesOnly)
	}
	// The names differ, and With would drop what takes a built-in aspect away.
	p.config.Aspects.aspects = append(p.config.Aspects.aspects, a)
}

func (p *configParser) pattern(n *yaml.Node) (Pattern, bool) {
	if p.regexps > maxRegexps {
		return Pattern{}, false // already told
	}
	pattern, err := ParsePattern(n.Value)
	if err != nil {
		offset, msg := 0, err.Error()
		if e := (*PatternError)(nil); errors.As(err, &e) {
			offset, msg = utf8.RuneCountInString(n.Value[:min(e.Offset, len(n.Value))]), e.Msg
		}
		p.fail(n, offset, "pattern %.40q: %s", n.Value, msg)
		return Pattern{}, false
	}
	if p.regexps += pattern.size; p.regexps > maxRegexps {
		p.fail(n, 0, "the regular expressions of this file are too large together: repeat less")
	}
	return pattern, true
}

func (p *configParser) priorities(n *yaml.Node) {
	for _, e := range p.mapping(n, "priorities") {
		class, ok := p.pattern(e.key)
		if !ok {
			continue
		}
		if class.exclude {
			p.fail(e.key, 0, "class pattern %q: exclusions have no place here, the first pattern that matches counts", class.text)
			continue
		}
		if class.re == nil && !mayBeClass(class.head, class.glob.exact) {
			p.fail(e.key, 0, `class pattern %q matches no class: their names begin with "go:" or "label:"`, class.text)
			continue
		}
		value, err := strconv.ParseInt(e.value.Value, 10, 32)
		if e.value.Kind != yaml.ScalarNode || e.value.ShortTag() != "!!int" || err != nil {
			p.fail(e.value, 0, "priority of %q: want a whole number of at most 32 bits", class.text)
			continue
		}
		p.config.Priorities = append(p.config.Priorities, Priority{Class: class, Value: int32(value)})
	}
}

// mayBeClass tells whether a class name can begin so.
func mayBeClass(head string, exact bool) bool {
	return slices.ContainsFunc([]string{"go:", "label:"}, func(prefix string) bool {
		return strings.HasPrefix(head, prefix) || !exact && strings.HasPrefix(prefix, head)
	})
}

func (p *configParser) classes(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		p.fail(n, 0, "classes: want function, site or label:KEY, not %s", kind(n))
		return
	}
	by, err := views.ParseClassBy(n.Value)
	if err != nil {
		p.fail(n, 0, "classes: %v", err)
		return
	}
	p.config.Classes = by
}

func (p *configParser) threshold(n *yaml.Node) {
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float" || tag == "!!str"):
		t, err := ParseThreshold(n.Value)
		if err != nil {
			p.fail(n, 0, "%v", err)
			return
		}
		p.config.Threshold = t
	default:
		p.fail(n, 0, "threshold: want hits (10) or a cost (0.05, 5%%), not %s", kind(n))
	}
}
