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

// finalizerMeasure returns the measure of the functions that finalize;
// nil if they are many.
func (s *searcher) finalizerMeasure(f *Finding) *Measure {
	hit, functions := s.hits(f), make(map[string]bool)
	for _, at := range s.members(s.classOf(f)) {
		if hit(at) {
			functions[s.e.places.at(at.state.Stack)] = true
		}
	}
	if len(functions) > maxPlaces {
		return nil
	}
	return measureOf(f.Class, pathsThrough(functions)...)
}
