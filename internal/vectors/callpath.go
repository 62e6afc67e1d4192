package vectors

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/views/calltree"
)

// CallPaths is a file callpath*.json: costs and refinements of small views.
type CallPaths struct {
	Comment string         `json:"comment"`
	Cases   []CallPathCase `json:"cases"`
}

// A CallPathCase is one view, with queries.
type CallPathCase struct {
	Aspects map[string][]string `json:"aspects"` // globs: * matches any run of characters
	Stacks  []WeightedStack     `json:"stacks"`
	Queries []CallPathQuery     `json:"queries"`
}

// A WeightedStack is a stack, root first, and its hits.
type WeightedStack struct {
	Frames []string `json:"frames"`
	Hits   Rat      `json:"hits"`
}

// A CallPathQuery is one question and its answer.
type CallPathQuery struct {
	Op string `json:"op"` // cost, down-immediate, down-extended, up-split

	Path   string `json:"path"`   // for cost and down
	Prefix string `json:"prefix"` // for up-split
	Suffix string `json:"suffix"`

	Hits    *Rat           `json:"hits"`    // for cost
	Results map[string]Rat `json:"results"` // for the refinements
}

// A Rat is an exact number, written as a string such as "5/2".
type Rat struct{ big.Rat }

// maxRat bounds the text of a number. Exponents are refused, so
// a number has no more digits than its text.
const maxRat = 1000

// UnmarshalText reads digits with an optional sign and denominator.
func (r *Rat) UnmarshalText(text []byte) error {
	s := string(text)
	if len(s) > maxRat || strings.Trim(s, "-/0123456789") != "" {
		return fmt.Errorf("%.50q is not an exact number such as 5/2", s)
	}
	if _, ok := r.SetString(s); !ok {
		return fmt.Errorf("%.50q is not an exact number such as 5/2", s)
	}
	return nil
}

// ReadCallPaths reads a file callpath*.json.
func ReadCallPaths(r io.Reader) (*CallPaths, error) {
	v := new(CallPaths)
	if err := Read(r, v); err != nil {
		return nil, err
	}
	for i, c := range v.Cases {
		if len(c.Stacks) == 0 {
			return nil, fmt.Errorf("reading vectors: case %d: no stack", i)
		}
		for j, s := range c.Stacks {
			if len(s.Frames) == 0 || s.Frames[0] != c.Stacks[0].Frames[0] {
				return nil, fmt.Errorf("reading vectors: case %d: stack %d: does not begin at the view's root", i, j)
			}
		}
	}
	return v, nil
}

// Tree builds the view, and the membership of its functions in
// its aspects.
func (c *CallPathCase) Tree() (*calltree.Tree, *calltree.Membership, error) {
	syms := new(calltree.Symbols)
	b := calltree.NewBuilder(syms, c.Stacks[0].Frames[0], "time", "samples")
	for i := range c.Stacks {
		s := &c.Stacks[i]
		b.AddRat(0, b.Stack(s.Frames[1:]...), &s.Hits.Rat)
	}
	t, err := b.Tree()
	if err != nil {
		return nil, nil, err
	}
	return t, Membership(syms, c.Aspects), nil
}

// Membership makes aspects from globs.
func Membership(syms *calltree.Symbols, aspects map[string][]string) *calltree.Membership {
	var names []string
	for name := range aspects {
		names = append(names, name)
	}
	slices.Sort(names)
	return calltree.NewMembership(syms, names, func(set int, function string) bool {
		return slices.ContainsFunc(aspects[names[set]],
			func(glob string) bool { return matchGlob(glob, function) })
	})
}

// matchGlob matches a glob in which * stands for any run of characters.
func matchGlob(glob, s string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
