package export

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
)

// needSamples returns an error if a recording is a profile. Profiles lack what
// the caller needs.
func needSamples(r *sampledata.Recording, what string) error {
	if p := r.Profile; p != nil {
		return fmt.Errorf("it is %s, which has no %s", p.Title, what)
	}
	return nil
}

// needWhole returns an error if the subject is only some stacks of the
// recording.
func (s *Subject) needWhole(what string) error {
	if s.Refined || s.Part {
		return fmt.Errorf("%s: leave out --auto and refinement steps such as --prune", what)
	}
	return nil
}

func pathsOf(e *refine.Entry) []callpath.Path { return []callpath.Path{e.Path} }
