package why

import (
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A requestLife is the samples in which a goroutine works on one
// request.
type requestLife struct{ first, last int32 }

const (
	// requestReader is the class of the goroutines that
	// net/http's server starts for each request: one lives as
	// long as the request is worked on.
	requestReader = "go:net/http.(*connReader).backgroundRead"
	// a request that takes this time, and half of the recording,
	// goes on
	minStream = 3 * time.Second
	quickOnes = 2 // requests that end, for each one that goes on, if these are streams
	// of a wait in streams, if it is no evidence that requests
	// are slow
	mostStreams = 0.75
)

// findStreams finds the requests that go on, by the number of the
// goroutine that works on them. Requests that are only slow are not
// among others that end soon.
func (s *searcher) findStreams() map[int64]requestLife {
	e := s.e
	streams := make(map[int64]requestLife)
	class, served := e.byName[requestReader]
	if !served {
		return streams
	}
	lives := make(map[sampledata.GoroutineID]requestLife)
	for run := range e.runs(ofClass(class, anywhere)) {
		g := run.Goroutine
		life, known := lives[g]
		if !known {
			life.first = run.First
		}
		life.last = run.Last
		lives[g] = life
	}
	least := max(float64(minStream), e.length/2)
	for g, life := range lives {
		if e.between(life.first, life.last) >= least {
			streams[e.r.Goroutines.At(g).Parent] = life
		}
	}
	s.othersEnd = len(lives)-len(streams) >= quickOnes*len(streams)
	return streams
}

// flushing matches the function by which a handler of HTTP sends a
// part of its answer.
var flushing = named(`net/http\.\(\*(http2)?response(Writer)?\)\.FlushError`)

// minFlushes is how often it was seen at least, if the handler sends
// such parts again and again.
const minFlushes = 2

// flushes reports whether goroutines of a class send parts of their
// answers in a finding's function.
func (s *searcher) flushes(f *Finding, class int32) bool {
	seen := 0
	for range s.e.runs(ofClass(class, func(at *situation) bool {
		return s.on(at, f.Where.Function) && s.e.places.matches(at.state.Stack, flushing)
	})) {
		seen++
	}
	return seen >= minFlushes
}

// tickOn reports whether a ticker, and no limiter of rates, drives the
// requests that go on, and none of them was seen to begin or to end.
func (s *searcher) tickOn(f *Finding) bool {
	if !views.OfChannelTimer(f.Reason) || paces(s, f) >= isSign {
		return false
	}
	for _, life := range s.streams {
		if life.first > s.e.from || life.last < s.e.to-1 {
			return false
		}
	}
	return true
}

// goesOn is the note of waits in requests that are streams.
const goesOn = "it is in requests that go on, as streams do"

// streamWaits are waits for events: those for a timer are a
// ticker's, perhaps.
var streamWaits = []views.Doing{views.Receiving, views.Selecting, views.AwaitingCondition}

// streaming returns a note if most of a class's wait is in
// requests that go on, such as those that send events when they
// come.
func (s *searcher) streaming(f *Finding, class int32, of func(*situation) bool) string {
	if does := views.WaitingFor(f.Reason); !slices.Contains(streamWaits, does) &&
		!views.OfChannelTimer(f.Reason) {
		return ""
	}
	if s.streams == nil {
		s.streams = s.findStreams()
	}
	if len(s.streams) == 0 {
		return ""
	}
	e, all, within := s.e, 0.0, 0.0
	for run := range e.runs(ofClass(class, of)) {
		all += e.between(run.First, run.Last)
		stream, known := s.streams[e.r.Goroutines.At(run.Goroutine).ID]
		if from, to := max(run.First, stream.first), min(run.Last, stream.last); known && from <= to {
			within += e.between(from, to)
		}
	}
	if within < mostStreams*all || !s.othersEnd && !s.flushes(f, class) && !s.tickOn(f) {
		return ""
	}
	return goesOn
}
