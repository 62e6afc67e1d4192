package why

import "github.com/cpprof/cpprof/views"

// finalizerHits returns the situations in which the goroutine of the
// finalizers runs code of the program.
func (s *searcher) finalizerHits(*Finding) func(*situation) bool {
	return func(at *situation) bool {
		name := s.e.name(at)
		return (name == "go:runtime.runFinalizers" || name == "go:runtime.runfinq") &&
			views.IsOwn(s.e.places.at(at.state.Stack))
	}
}

// finalizerCandidates returns the hypothesis that finalizers
// wait for one another: their goroutine is at work most of the
// time.
func (s *searcher) finalizerCandidates() []*candidate {
	of := s.finalizerHits(nil)
	by := s.e.byClass(of)
	if len(by) == 0 {
		return nil
	}
	c := s.suffering(newFinding(FinalizerKind), by, of)
	c.least = 0.5
	return []*candidate{c}
}
