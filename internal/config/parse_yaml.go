package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document returns the file's one top-level value, or nil if the
// file is empty or can't be read.
func (p *parser) document(data []byte) *yaml.Node {
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

// A message of the YAML reader that doesn't say what to do, and a remedy.
const (
	yamlNoAlias = "did not find expected alphabetic or numeric character" // after * or &
	msgQuote    = "put quotes around what begins with *, & or !"
)

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// syntax reports an error of the YAML reader, which knows the
// line at most, and finds the column if it can.
func (p *parser) syntax(err error) {
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

// find returns the position at which a text first occurs, or the
// beginning of the file.
func (p *parser) find(text string) (line, column int) {
	for i, l := range p.lines {
		if at := strings.Index(l, text); at >= 0 {
			return i + 1, utf8.RuneCountInString(l[:at]) + 1
		}
	}
	return 1, 1
}

// fail records a mistake at a node, offset characters from its start.
func (p *parser) fail(n *yaml.Node, offset int, format string, args ...any) {
	if offset > 0 && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		offset++
	}
	p.failAt(max(n.Line, 1), max(n.Column, 1)+offset, fmt.Sprintf(format, args...))
}

func (p *parser) failAt(line, column int, msg string) {
	if len(p.errs) >= maxErrors {
		return
	}
	e := &Error{File: p.file, Line: line, Column: column, Msg: msg}
	if line <= len(p.lines) {
		if text := strings.TrimRight(p.lines[line-1], "\r"); len(text) <= 200 &&
			!strings.ContainsFunc(text, unshown) {
			e.Source = text
		}
	}
	p.errs = append(p.errs, e)
}

// unshown reports whether a terminal would not show a character as it is.
func unshown(r rune) bool { return r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError }

// An entry of a mapping.
type pair struct{ key, value *yaml.Node }

// mapping returns the entries of a mapping. It reports keys that
// are not text or occur twice.
func (p *parser) mapping(n *yaml.Node, what string) []pair {
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
			p.fail(k, 0, "%s: %q is already in line %d", what, k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		pairs = append(pairs, pair{k, n.Content[i+1]})
	}
	return pairs
}

// isNull reports whether a value is missing, as after "aspects:"
// if all lines below it are comments.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// ownTag reports whether a node has a tag that is not YAML's
// own. A pattern that begins with "!" and has no quotes is read
// as such a tag.
func ownTag(n *yaml.Node) bool {
	return strings.HasPrefix(n.ShortTag(), "!") && !strings.HasPrefix(n.ShortTag(), "!!")
}

// kind describes a node in an error.
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
