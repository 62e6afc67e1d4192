package why

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views"
)

// A Measure says what a finding's share is: a cost in a view, to
// the digit. It is the cost of a function's call path, or of all
// stacks for which an expression of call paths is true.
type Measure struct {
	Thread string `json:"thread,omitempty"` // the class of a Thread View; "" for the Server View
	Path   string `json:"path,omitempty"`
	Keep   string `json:"keep,omitempty"`
	Hits   int    `json:"hits"` // goroutines, counted in samples
}

// measureOf returns the measure of stacks for which one of some
// paths holds.
func measureOf(thread string, paths ...string) *Measure {
	slices.Sort(paths)
	return &Measure{Thread: thread, Keep: strings.Join(paths, " or ")}
}

// through is the path of all that goes through a function.
func through(function string) string { return "* .." + callpath.Frame(function).String() }

// on reports whether a function is on a stack.
func (s *searcher) on(at *situation, function string) bool {
	return s.e.places.through(at.state.Stack, function)
}

// question returns what a finding's share is of: the processors,
// or the time of its class without waiting for work.
func (s *searcher) question(f *Finding) question {
	hit := s.hits(f)
	known := make(map[*situation]bool)
	for _, at := range s.e.situations {
		if hit(at) {
			known[at] = true
		}
	}
	q := question{hit: func(at *situation) bool { return known[at] }}
	if !f.OfProcessors() {
		q.base = active(s.classOf(f))
	}
	return q
}

// mean returns the mean number of goroutines that are hits of a question.
func (s *searcher) mean(q question) float64 {
	weight, _ := weigh(s.e.situations, q.hit, anywhere)
	return s.e.mean(weight)
}

// weigh returns the weight of some situations of a list, and the
// weight of a part of them.
func weigh(list []*situation, of, is func(*situation) bool) (all, part float64) {
	for _, at := range list {
		if !of(at) {
			continue
		}
		all += at.weight
		if is(at) {
			part += at.weight
		}
	}
	return all, part
}

// measureShare sets the measure of a finding.
func (s *searcher) measureShare(f *Finding) {
	if measure := f.row().measure; measure != nil {
		f.Measure = measure(s, f)
	}
}

// maxPlaces limits the functions that a measure names.
const maxPlaces = 4

// lockMeasure returns the measure of the waits for a lock: all
// waits for locks of the class, or those in some functions that
// wait for no other lock; nil if it is neither.
func (s *searcher) lockMeasure(f *Finding) *Measure {
	const locked = " ..:MONITOR"
	hit := s.hits(f)
	var paths []string
	alone := true
	functions := make(map[string]bool)
	members := s.members(s.e.byName[f.Class])
	for _, at := range members {
		if hit(at) {
			functions[s.e.places.at(at.state.Stack)] = true
		} else if at.state.Doing == views.AwaitingLock {
			alone = false
		}
	}
	if alone {
		return measureOf(f.Class, "*"+locked)
	}
	for name := range functions {
		paths = append(paths, through(name)+locked)
		for _, at := range members {
			if at.state.Doing == views.AwaitingLock && !hit(at) && s.on(at, name) {
				return nil
			}
		}
	}
	if len(paths) > maxPlaces || functions[""] {
		return nil
	}
	return measureOf(f.Class, paths...)
}
