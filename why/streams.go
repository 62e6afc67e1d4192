package why

import (
	"regexp"
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
	s.requests = make(map[int64]int)
	for g, life := range lives {
		s.requests[e.r.Goroutines.At(g).Parent]++
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
	if within < mostStreams*all || !s.othersEnd && !s.flushes(f, class) {
		return ""
	}
	return goesOn
}

// oneRequest matches the classes whose goroutines live for one request,
// or for one stream.
var oneRequest = regexp.MustCompile(`^go:(net/http\.\(\*http2serverConn\)|` +
	`golang\.org/x/net/http2\.\(\*serverConn\))\.runHandler$|` +
	`^go:google\.golang\.org/grpc\.\(\*Server\)\.serveStreams\.`)

// servesRequests is the class of the goroutines of net/http's server
// that work on one request after another.
const servesRequests = "go:net/http.(*conn).serve"

// driven is the note of requests that a ticker drives, as those that
// send something every now and then.
const driven = "a ticker drives it, in one request all the time"

// ticking returns that note if most of a class's wait for a ticker, and
// for no limiter of rates, is in requests that take all of the recording.
func (s *searcher) ticking(f *Finding, class int32, of func(*situation) bool) string {
	several := f.Class == servesRequests
	if !views.OfChannelTimer(f.Reason) || paces(s, f) >= isSign || !several && !oneRequest.MatchString(f.Class) {
		return ""
	}
	all, within := 0.0, 0.0
	stays := s.stays(class, f.Where.Function)
	for run := range s.e.runs(ofClass(class, of)) {
		weight, g := s.e.between(run.First, run.Last), run.Goroutine
		all += weight
		if stays[g].isAll() && !(several && s.requests[s.e.r.Goroutines.At(g).ID] > 1) {
			within += weight
		}
	}
	if within < mostStreams*all {
		return ""
	}
	return driven
}
