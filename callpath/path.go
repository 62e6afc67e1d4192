// Package callpath is the notation of call paths (CPPROFJ,
// sections 2 and 3), and their matching and cost over a call
// tree.
//
//   - Parse, ParseExpr and ParseSplit read paths, prune expressions and splits.
//     String prints paths in the same notation.
//   - Compile makes a path into a Matcher: an automaton over the frames of a
//     tree. Refinements walk the automaton, too.
//   - Cost is the sum of the hits of the stacks that satisfy a path. Unknown
//     finds the names that do not occur.
package callpath

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/views/calltree"
)

// A Path is an ordered sequence of call specs, such as A B ..C.
// It has at least one element; the zero Path is not a path, and
// no stack satisfies it.
type Path struct {
	Elements []Element
	Specs    []Spec // len(Elements)-1: between elements i and i+1
}

// A Spec is a kind of call.
type Spec uint8

const (
	Immediate Spec = iota // A B: the very next frame
	Extended              // A ..B: a frame further down, in the same part of the stack
	// A >B: the frame next to the first one at which the path up
	// to A is satisfied
	InPlace
)

// String returns what is written before the element that the
// call leads to.
func (s Spec) String() string { return [...]string{"", "..", ">"}[s] }

// An Element is a frame name, or the name of an aspect, with its "@".
type Element struct {
	Name string

	// Literal reports that a name which begins with "@" is the
	// name of a frame. It is false for all other names.
	Literal bool
}

// Frame returns the element that names a frame.
func Frame(name string) Element {
	return Element{Name: name, Literal: strings.HasPrefix(name, "@")}
}

// Aspect reports whether the element is an aspect.
func (e Element) Aspect() bool { return strings.HasPrefix(e.Name, "@") && !e.Literal }

// Of returns the path of one element.
func Of(e Element) Path { return Path{Elements: []Element{e}} }

// Root returns the path of a tree's root.
func Root(t *calltree.Tree) Path { return Of(Frame(t.Root())) }

// Then returns the path P e, P ..e, or P >e. It shares no memory with p.
func (p Path) Then(e Element, spec Spec) Path {
	return p.Join(spec, Of(e))
}

// Join returns the path P1 P2, P1 ..P2, or P1 >P2. It shares no
// memory with either.
func (p Path) Join(spec Spec, p2 Path) Path {
	q := Path{
		Elements: make([]Element, 0, len(p.Elements)+len(p2.Elements)),
		Specs:    make([]Spec, 0, len(p.Elements)+len(p2.Elements)-1),
	}
	q.Elements = append(append(q.Elements, p.Elements...), p2.Elements...)
	q.Specs = append(append(append(q.Specs, p.Specs...), spec), p2.Specs...)
	return q
}

// Context reports whether the path, which begins with the root,
// is one node of the call tree: * A >B >C. The call by the root
// may be immediate or in place, because there is one root only.
func (p Path) Context() bool {
	for i, s := range p.Specs {
		if s == Extended || s == Immediate && i > 0 {
			return false
		}
	}
	return true
}

// Prefix returns the path of the first n elements; n is at least
// 1. It shares its slices with p.
func (p Path) Prefix(n int) Path {
	return Path{Elements: p.Elements[:n:n], Specs: p.Specs[: n-1 : n-1]}
}

// Last returns the last element, and the spec that leads to it:
// Immediate if there is none.
func (p Path) Last() (e Element, spec Spec) {
	n := len(p.Elements)
	if n > 1 {
		spec = p.Specs[n-2]
	}
	return p.Elements[n-1], spec
}

// Equal reports whether two paths are the same.
func (p Path) Equal(q Path) bool {
	return slices.Equal(p.Elements, q.Elements) && slices.Equal(p.Specs, q.Specs)
}

// String prints the path so that Parse can read it. Equal paths
// print equally.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p.Elements {
		if i > 0 {
			b.WriteByte(' ')
			b.WriteString(p.Specs[i-1].String())
		}
		b.WriteString(e.String())
	}
	return b.String()
}

// String prints the element, in double quotes if a path needs them.
func (e Element) String() string {
	if e.Literal || needsQuotes(e.Name) {
		return strconv.Quote(e.Name)
	}
	return e.Name
}

// needsQuotes reports whether Parse would read the bare name as something
// else.
func needsQuotes(name string) bool {
	switch name {
	case "", "@", "|", "and", "or", "not":
		return true
	}
	if strings.HasPrefix(name, "..") || name[0] == '>' || name[0] == '(' ||
		!utf8.ValidString(name) {
		return true
	}
	depth := 0
	for _, r := range name {
		switch {
		case r == '"', unicode.IsSpace(r), !strconv.IsPrint(r):
			return true
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return depth != 0
}
