package calltree

import (
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
)

// A Func is an interned frame name of one Symbols table. Equal
// names are equal Funcs.
type Func int32

// None is no function: Lookup returns it for a name that no frame has.
const None Func = -1

// Kind is the kind of a frame (design "Stack"; CPPROFJ, section
// 4). It depends only on the name.
type Kind uint8

const (
	Function Kind = iota // a true function
	Typed                // typed time or a wait reason: ":RUN", ":IO-wait"
	// a thread class: "go:main.worker", "label:route=/api", "class:pool" for
	// several
	Class
	Root // "*", the root of a Server View
)

// MergedClass begins the name of a class that several classes
// are merged into.
const MergedClass = "class:"

// RootName is the root of every tree that is not a Thread View.
const RootName = "*"

// KindOf returns the kind of the frame with the given name.
func KindOf(name string) Kind {
	switch {
	case name == RootName:
		return Root
	case strings.HasPrefix(name, ":"):
		return Typed
	case strings.HasPrefix(name, "go:"), strings.HasPrefix(name, "label:"),
		strings.HasPrefix(name, MergedClass):
		return Class
	}
	return Function
}

// Symbols interns frame names. The zero value is ready for use.
type Symbols struct {
	names intern.List[string, Func]
	kinds []Kind
}

// Intern returns the Func of a name, and adds the name if it is new.
func (s *Symbols) Intern(name string) Func {
	f := s.names.Number(name)
	if int(f) == len(s.kinds) {
		s.kinds = append(s.kinds, KindOf(name))
	}
	return f
}

// Lookup returns the Func of a name, or None.
func (s *Symbols) Lookup(name string) Func {
	if f, ok := s.names.Lookup(name); ok {
		return f
	}
	return None
}

// Len returns the number of names; Funcs run from 0 to Len-1.
func (s *Symbols) Len() int { return len(s.kinds) }

// Name returns the name of f.
func (s *Symbols) Name(f Func) string { return s.names.All[f] }

// Kind returns the kind of f.
func (s *Symbols) Kind(f Func) Kind { return s.kinds[f] }
