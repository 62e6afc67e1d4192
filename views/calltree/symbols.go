package calltree

import "strings"

// A Func is an interned frame name of one Symbols table. Equal names are equal
// Funcs.
type Func int32

// None is no function: Lookup returns it for a name that no frame has.
const None Func = -1

// Kind is the kind of a frame (design "Stack"; CPPROFJ, section 4). It depends
// only on the name.
type Kind uint8

const (
	Function Kind = iota // a true function
	Typed                // typed time or a wait reason: ":RUN", ":IO-wait"
	// a thread class: "go:main.worker", "label:route=/api", "class:pool" for
	// several
	Class
	Root // "*", the root of a Server View
)

// MergedClass begins the name of a class that several classes are merged into.
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
	names []string
	kinds []Kind
	index map[string]Func
}

// Intern returns the Func of a name, and adds the name if it is new.
func (s *Symbols) Intern(name string) Func {
	if f, ok := s.index[name]; ok {
		return f
	}
	if s.index == nil {
		s.index = make(map[string]Func)
	}
	f := Func(len(s.names))
	s.names = append(s.names, name)
	s.kinds = append(s.kinds, KindOf(name))
	s.index[name] = f
	return f
}

// Lookup returns the Func of a name, or None.
func (s *Symbols) Lookup(name string) Func {
	if f, ok := s.index[name]; ok {
		return f
	}
	return None
}

// Len returns the number of names; Funcs run from 0 to Len-1.
func (s *Symbols) Len() int { return len(s.names) }

// Name returns the name of f.
func (s *Symbols) Name(f Func) string { return s.names[f] }

// Kind returns the kind of f.
func (s *Symbols) Kind(f Func) Kind { return s.kinds[f] }
