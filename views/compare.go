package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Maker makes a view of a recording, such as Server.
type Maker func(*sampledata.Recording, Options) (*View, error)

// ThreadMaker makes the Thread View of a class. It takes the
// whole name, the name without "go:", or a part that only one
// class has in its name, see UnknownClassError.
func ThreadMaker(class string) Maker {
	return func(r *sampledata.Recording, o Options) (*View, error) {
		v, err := Thread(r, class, o)
		var unknown *UnknownClassError
		if errors.As(err, &unknown) && calltree.KindOf(class) != calltree.Class {
			if short, shortErr := Thread(r, "go:"+class, o); shortErr == nil {
				return short, nil
			}
		}
		if unknown != nil && len(unknown.Named) == 1 {
			return Thread(r, unknown.Named[0], o)
		}
		return v, err
	}
}

// A Named is a recording and its name in errors.
type Named struct {
	Name      string
	Recording *sampledata.Recording
}

// A Compared is one view, made in the same way from two recordings.
type Compared struct {
	New, Old *View

	// Inlining warns of calls that were inlined in only one of
	// the recordings: the builds differ there. It depends only
	// on the recordings, and so is the same for all their views.
	Inlining []sampledata.Warning
}

// Compare makes the same view of two recordings, with the same
// options. A span counts from the start of each recording. It
// selects the same part of both, for example both without their
// first two seconds. A recording compared with itself never
// differs, and swapping the two only changes signs. It is an
// error if a recording has no samples in the span: otherwise
// everything would look as if it had changed.
//
// If inlined calls are merged into their callers, calls that are
// inlined in either recording are merged in both. The stacks of
// both then have the same frames.
func Compare(a, b Named, o Options, view Maker) (*Compared, error) {
	c := &Compared{Inlining: inliningWarning(a.Recording, b.Recording, o.NoInlines)}
	if o.NoInlines {
		o.AlsoInlined = inlined(a.Recording, b.Recording)
	}
	var err error
	if c.New, c.Old, err = OfBoth(a, b, o, view); err != nil {
		return nil, err
	}
	if of, other := c.New.Tree.Root(), c.Old.Tree.Root(); of != other {
		return nil, fmt.Errorf("the view of %s is of %s, and that of %s is of %s: give the whole name of a class", a.Name, of, b.Name, other)
	}
	return c, nil
}

// OfBoth returns what a function makes of each of two recordings
// that are compared.
func OfBoth[T any](a, b Named, o Options,
	of func(*sampledata.Recording, Options) (T, error)) (ofA, ofB T, err error) {
	o = o.WithWrappers(a.Recording, b.Recording)
	for _, side := range []struct {
		Named
		to *T
	}{{a, &ofA}, {b, &ofB}} {
		if err = o.Span.Check(side.Named); err != nil {
			return ofA, ofB, fmt.Errorf(
				"%w (of two recordings, a span counts from the start of each)", err)
		}
		if *side.to, err = of(side.Recording, o); err != nil {
			return ofA, ofB, fmt.Errorf("%s: %w", side.Name, err)
		}
	}
	return ofA, ofB, nil
}

// Merge returns the tree of both views, see calltree.Merge, with all warnings.
func (c *Compared) Merge() (*View, error) {
	both, err := calltree.Merge(c.New.Tree, c.Old.Tree)
	if err != nil {
		return nil, err
	}
	return &View{Tree: both, Warnings: slices.Concat(c.New.Warnings, c.Inlining, c.Old.Warnings)},
		nil
}

// shownCalls is the greatest number of calls that a warning names.
const shownCalls = 3

// inliningWarning warns of calls that were inlined in only one
// of two recordings, if there are any.
func inliningWarning(a, b *sampledata.Recording, merged bool) []sampledata.Warning {
	calls := inliningChanges(a, b)
	if len(calls) == 0 {
		return nil
	}
	names := lists.Each(calls[:min(len(calls), shownCalls)],
		func(c Call) string { return c.Callee + " into " + c.Caller })
	if more := len(calls) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "they are shown as calls in both; --set inlines=false merges them into their callers in both"
	if merged {
		what = "they are merged into their callers in both"
	}
	return []sampledata.Warning{{
		Kind: "inlining-changed",
		Message: fmt.Sprintf("inlined in only one of the recordings: %s; %s",
			strings.Join(names, ", "), what),
		Count: 1,
	}}
}
