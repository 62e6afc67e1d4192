package refine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Kind says what a Step does.
type Kind uint8

const (
	KindDown     Kind = iota // immediate downward refinement of a path
	KindExtended             // extended downward refinement of a path
	KindUp                   // upward split "P1 | P2"
	KindPrune                // prune by an expression
	// refinement of a path without aspects by what it calls in
	// place, down to its first branch
	KindFollow
	KindPath  // the entry of a path, by itself
	KindCalls // refinement of a path by what it calls in place
	KindZoom  // prune to the stacks of a path, which become the whole
)

var kindNames = []string{"down", "extended", "up", "prune", "follow", "path", "calls", "zoom"}

// prunes reports whether a step removes stacks.
func (k Kind) prunes() bool { return k == KindPrune || k == KindZoom }

func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind of step %q: want one of %s", text,
			strings.Join(kindNames, ", "))
	}
	*k = Kind(i)
	return nil
}

// A Step is a change of a Session, as data: the steps of a
// session, applied to a new session of the same view, rebuild
// it.
type Step struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // a path, a split, or an expression, by Kind
}

func (s Step) String() string { return s.Kind.String() + " " + s.Text }

// A parsed is a parsed step. Its paths begin with the view's root.
type parsed struct {
	Step
	path, suffix callpath.Path // suffix is P2 of a split
	expr         callpath.Expr
}

func (s *Session) parse(step Step) (p parsed, err error) {
	p.Step = step
	switch step.Kind {
	case KindPrune:
		p.expr, err = callpath.ParseExpr(step.Text)
	case KindUp:
		p.path, p.suffix, err = callpath.ParseSplit(step.Text)
		if err == nil && slices.Contains(p.suffix.Specs, callpath.InPlace) {
			err = fmt.Errorf("%s: a split has no calls in place after its bar: leave out the >",
				step)
		}
		p.path = s.rooted(p.path)
	case KindDown, KindExtended, KindFollow, KindPath, KindCalls, KindZoom:
		p.path, err = callpath.Parse(step.Text)
		p.path = s.rooted(p.path)
		p.expr = callpath.Expr{Op: callpath.OpPath, Path: p.path} // of a zoom
	default:
		err = fmt.Errorf("unknown kind of step %d", step.Kind)
	}
	return p, err
}

// rooted puts the root before a path that does not begin with
// it. The cost stays the same, since the root calls every frame
// at some distance. "*" is another name of the root.
func (s *Session) rooted(p callpath.Path) callpath.Path {
	root := s.Root().Path
	if len(p.Elements) == 0 || p.Elements[0] == root.Elements[0] {
		return p
	}
	if p.Elements[0].Name == calltree.RootName {
		p.Elements = append(slices.Clone(root.Elements), p.Elements[1:]...)
		return p
	}
	return root.Join(callpath.Extended, p)
}
