package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// A Maker makes a view of a recording, such as Server.
type Maker func(*sampledata.Recording, Options) (*View, error)

// ThreadMaker makes the Thread View of a class, which may be called by its name without "go:".
func ThreadMaker(class string) Maker {
	return func(r *sampledata.Recording, o Options) (*View, error) {
		v, err := Thread(r, class, o)
		var unknown *UnknownClassError
		if errors.As(err, &unknown) && calltree.KindOf(class) != calltree.Class {
			if short, shortErr := Thread(r, "go:"+class, o); shortErr == nil {
				return short, nil
			}
		}
		return v, err
	}
}

// A Named is a recording and what errors call it.
type Named struct {
	Name      string
	Recording *sampledata.Recording
}

// A Compared is one view, made in the same way of two recordings.
type Compared struct {
	A, B *View

	// Inlining warns of calls that were inlined in one of the recordings only: the builds differ there. It is about the
	// recordings, and so the same for all their views.
	Inlining []sampledata.Warning
}

// Compare makes the same view of two recordings, with the same options. A span selects from both, in each from its own start:
// what is compared is like with like, such as both runs without their first two seconds. So a recording compared with itself
// never differs, and swapping the two only changes signs, whatever the span. A recording without samples in the span is an
// error: compared with nothing, everything would look as if it had changed.
//
// If inlined calls are merged into their callers, it is those that are inlined in either recording, so that the stacks of the
// two meet.
func Compare(a, b Named, o Options, view Maker) (*Compared, error) {
	c := &Compared{Inlining: inliningWarning(a.Recording, b.Recording, o.NoInlines)}
	if o.NoInlines {
		o.AlsoInlined = inlined(a.Recording, b.Recording)
	}
	for _, side := range []struct {
		of Named
		to **View
	}{{a, &c.A}, {b, &c.B}} {
		err := o.Span.Check(side.of)
		if err != nil {
			return nil, fmt.Errorf("%w (of two recordings, a span counts from the start of each)", err)
		}
		if *side.to, err = view(side.of.Recording, o); err != nil {
			return nil, fmt.Errorf("%s: %w", side.of.Name, err)
		}
	}
	return c, nil
}

// Merge returns the tree of both views, see calltree.Merge, with all warnings.
func (c *Compared) Merge() (*View, error) {
	both, err := calltree.Merge(c.A.Tree, c.B.Tree)
	if err != nil {
		return nil, err
	}
	return &View{Tree: both, Warnings: slices.Concat(c.A.Warnings, c.Inlining, c.B.Warnings)}, nil
}

// shownCalls is how many calls a warning names.
const shownCalls = 3

// inliningWarning warns of calls that were inlined in one of two recordings only, if there are any.
func inliningWarning(a, b *sampledata.Recording, merged bool) []sampledata.Warning {
	calls := inliningChanges(a, b)
	if len(calls) == 0 {
		return nil
	}
	var names []string
	for _, c := range calls[:min(len(calls), shownCalls)] {
		names = append(names, c.Callee+" into "+c.Caller)
	}
	if more := len(calls) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "they are shown as calls in both; --no-inlines merges them into their callers in both"
	if merged {
		what = "they are merged into their callers in both"
	}
	return []sampledata.Warning{{
		Kind:    "inlining-changed",
		Message: fmt.Sprintf("inlined in one of the recordings only: %s; %s", strings.Join(names, ", "), what),
		Count:   1,
	}}
}
