package export

import (
	"fmt"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Subject is what to write: a view of a recording, and what is known of it. A format takes of it what it has a place for.
type Subject struct {
	Path      string                // of the file that was read
	Title     string                // of the view, for a person: "Thread View of go:main.worker"
	Recording *sampledata.Recording // has only the samples that count
	Options   views.Options         // with which the view was made
	Config    *config.Config
	View      views.Maker     // that makes the view
	Session   *refine.Session // of the view, refined; may be nil if the format is OfRecording, and the subject all of it
	Warnings  []sampledata.Warning

	// Refined reports that entries of the session are to be written, as call paths, in place of the view.
	Refined bool

	// Part reports that stacks of the view were left out, or the rest made the whole.
	Part bool

	// Open is the name of the view that was asked for: "*" is the Server View; "" stands for the Thread Views of all classes.
	Open string

	// Against is the recording with which the view is compared; Recording is nil if there is none. If there is one, the tree
	// of the session is one of calltree.Merge.
	Against views.Named
}

// Compared reports whether the subject is the difference of two recordings.
func (s *Subject) Compared() bool { return s.Against.Recording != nil }

// Tree returns the call tree to write: the view, pruned, or the tree of the entries into which it is refined.
func (s *Subject) Tree() (*calltree.Tree, error) {
	if !s.Refined {
		return s.Session.Tree(), nil
	}
	return refinedTree(s.Session)
}

// refinedTree returns the entries of a session as a call tree: each is a stack, whose frames are the labels of the entries above
// it, and weighs what no entry below it does. It fails if stacks count for several entries.
func refinedTree(session *refine.Session) (*calltree.Tree, error) {
	of := session.Tree()
	main := of.Main()
	b := calltree.NewBuilder(new(calltree.Symbols), of.Root(), main.Name, main.Unit)
	b.SetDenominator(0, main.Denominator)
	if main.Hits() != main {
		b.CountHits(0, main.Hits().Denominator, main.Squares())
	}
	var add func(e *refine.Entry, node int32) error
	add = func(e *refine.Entry, node int32) error {
		rest := e.Total
		for _, c := range e.Children {
			rest = rest.Minus(c.Total)
			if c.Shared {
				return fmt.Errorf("%s: stacks of %s also count for another entry beside it, which a tree can't show: refine another path", e.Key(), c.Label())
			}
			if err := add(c, b.Child(node, b.Symbols().Intern(c.Label()))); err != nil {
				return err
			}
		}
		if rest.Weight.Sign() < 0 {
			return fmt.Errorf("%s: the entries below it weigh more than it: stacks count for several of them, which a tree can't show", e.Key())
		}
		b.AddTotal(0, node, rest)
		return nil
	}
	if err := add(session.Root(), 0); err != nil {
		return nil, err
	}
	return b.Tree()
}
