package export

import (
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Subject is the thing to write: a view of a recording, and
// facts about it. A format writes the parts that it has a place
// for.
type Subject struct {
	Path      string                // of the file that was read
	Title     string                // of the view, for a person: "Thread View of go:main.worker"
	Recording *sampledata.Recording // has only the samples that count
	Options   views.Options         // with which the view was made
	Config    *config.Config
	View      views.Maker // that makes the view
	// of the view, refined; may be nil if the format is
	// OfRecording, and the subject all of it
	Session  *refine.Session
	Warnings []sampledata.Warning

	// Refined reports that entries of the session are to be
	// written, as call paths, in place of the view.
	Refined bool

	// Part reports that stacks of the view were left out, or the
	// rest made the whole.
	Part bool

	// Open is the name of the view that was asked for: "*" is
	// the Server View; "" stands for the Thread Views of all
	// classes.
	Open string

	// Against is the recording with which the view is compared;
	// Recording is nil if there is none. If there is one, the
	// tree of the session is one of calltree.Merge.
	Against views.Named
}

// Compared reports whether the subject is the difference of two recordings.
func (s *Subject) Compared() bool { return s.Against.Recording != nil }

// Name says what the subject is: "Thread View of go:main.worker
// of run.cpprof, compared with old.cpprof". If it is no view, it
// is "all of run.cpprof".
func (s *Subject) Name() string {
	if s.Session == nil {
		return "all of " + s.Path
	}
	name := s.Title + " of " + s.Path
	if s.Compared() {
		name += ", compared with " + s.Against.Name
	}
	return name
}

// Tree returns the call tree to write: the view, pruned, or the
// tree of its refined entries. A comparison's tree has the
// metrics of calltree.Merge.
func (s *Subject) Tree() (*calltree.Tree, error) {
	if !s.Refined {
		return s.Session.Tree(), nil
	}
	return refinedTree(s.Session)
}
