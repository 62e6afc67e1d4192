package why

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// handling matches the classes of goroutines that answer
// requests over HTTP or gRPC.
var handling = regexp.MustCompile(`^go:(net/http\.\(\*(conn\)\.serve|http2serverConn\)\.runHandler)|` +
	`golang\.org/x/net/http2\.\(\*serverConn\)\.runHandler|google\.golang\.org/grpc\.\(\*Server\)\.\w+)`)

// alike is how much the numbers of those who wait for answers
// and of handlers at work differ at most on average, as a share
// of a finding's waits, if these may be for the handlers; sample
// by sample, it may be twice that. Others may ask other servers.
const alike = 0.1

// carries reports whether a goroutine of a client's connection
// carries a request or an answer. On a busy machine, many are on
// their way.
func (s *searcher) carries(at *situation) bool {
	name := s.e.name(at)
	return !at.idle && (name == clientReads || name == clientWrites)
}

// asksServer reports whether goroutines wait for an answer over
// HTTP or gRPC.
func (s *searcher) asksServer(at *situation) bool {
	return at.waits() && s.e.places.matches(at.state.Stack, inRoundTrip)
}

// asksItself returns the class of the program's own handlers
// that may give the answers that a finding is a wait for: in
// each sample, about as many are at work, or on their way, as
// wait for an answer. It returns "" if there is none.
func (s *searcher) asksItself(f *Finding) string {
	all := s.e.observe([]question{{hit: s.asksServer}, {hit: s.hits(f)}, {hit: s.carries}})
	waits, own, carried := all[0], all[1], all[2]
	for i := range s.e.classes {
		c := &s.e.classes[i]
		if c.name == f.Class || !handling.MatchString(c.name) || c.active == 0 || s.starts(int32(i), f.Class) {
			continue
		}
		works := s.e.observe([]question{{hit: active(int32(i))}})[0]
		fewer, more, asked := 0.0, 0.0, 0.0
		for j := range works {
			least, most := works[j].Hits, works[j].Hits+carried[j].Hits
			more += works[j].Weight * max(least-waits[j].Hits, 0)
			fewer += works[j].Weight * max(waits[j].Hits-most, 0)
			asked += works[j].Weight * own[j].Hits
		}
		if fewer+more <= 2*alike*asked && math.Abs(fewer-more) <= alike*asked {
			return c.name
		}
	}
	return ""
}

// ownConnections returns how many connections the program was seen
// to have with itself.
func (e *evidence) ownConnections() float64 {
	first, last := e.ends(ownConnections)
	return max(first, last)
}

const ownConnections = "process.own_connections"

// asksOthers reports whether connections of the program with itself
// were counted, and there were never any. One may carry many requests.
func (e *evidence) asksOthers() (counted bool) {
	for _, s := range e.r.Series {
		if s.Name != ownConnections {
			continue
		}
		for _, v := range s.All() {
			n, ok := v.Float()
			if counted = counted || ok; n > 0 {
				return false
			}
		}
	}
	return counted
}

// hasMany reports whether the program has too many connections for
// counting those with itself.
func (e *evidence) hasMany() bool {
	return slices.ContainsFunc(e.r.Series, func(s sampledata.Series) bool {
		return s.Name == ownConnections && s.Unmeasured != ""
	})
}

// mayBeOwn reports whether as many goroutines on average may wait for
// connections of the program with itself.
func (e *evidence) mayBeOwn(waits float64) bool { return waits <= 2*e.ownConnections() }

// ofNetwork matches the functions that read from a connection, or
// write to it.
var ofNetwork = named(`net\.\(\*(netFD|conn)\)\.\w+`)

// sharing matches the functions of connections that carry many
// requests at a time.
var sharing = regexp.MustCompile(`\(\*http2\w+\)|^google\.golang\.org/grpc/|^golang\.org/x/net/http2\.`)

// sharesConnection reports whether such requests wait there.
func (p *Place) sharesConnection() bool { return sharing.MatchString(cmp.Or(p.Library, p.Function)) }

// awaitsOwnEnd returns the share of a finding in waits for
// connections, or for answers of servers that nobody is known to be,
// if the program has connections with itself. Of a lock, it is what
// the holder waits for.
func (s *searcher) awaitsOwnEnd(f *Finding) float64 {
	switch {
	case f.Kind == LockKind && s.e.ownConnections() > 0:
		return f.holders((*Cause).AwaitsServer)
	case f.handler != "" || !s.e.mayBeOwn(f.Mean) && !(s.e.ownConnections() > 0 && f.Where.sharesConnection()):
		return 0
	case f.Kind == ChannelKind:
		return onStack(roundTrip)(s, f)
	}
	return s.doing(f, ofNetwork)
}

// ownEnd is the sign of such waits.
const ownEnd = "the program has connections with itself: it may wait for its own goroutines"

// asksProgram reports whether a finding may be a wait for answers that
// the program gives itself.
func (f *Finding) asksProgram() bool { return f.handler != "" || slices.Contains(f.Signs, ownEnd) }

// mayAsk reports whether goroutines of a class may give the answers
// that a finding is a wait for.
func (f *Finding) mayAsk(class string) bool {
	return class == f.handler || f.handler == "" && handling.MatchString(class)
}

// mayAwaitOwn reports whether a class also waits for connections
// that may be the program's own, whose other ends may then be faster.
func (b *tracer) mayAwaitOwn(t *traced) bool {
	waits := 0.0
	for i, weight := range t.left {
		if at := b.s.e.situations[i]; at.state.Doing == views.AwaitingIO && b.s.e.places.matches(at.state.Stack, ofNetwork) {
			waits += weight
		}
	}
	return waits > fewWaits*t.left.total() && b.s.e.mayBeOwn(b.s.e.mean(waits))
}

// starts reports whether goroutines of a class have started most
// of another one, or those that did: then they wait for these, and
// not the other way round.
func (s *searcher) starts(class int32, other string) bool {
	of, parents := make(map[int64]string), make(map[int64]int64) // by number
	for run, at := range s.e.runs(anywhere) {
		g := s.e.r.Goroutines.At(run.Goroutine)
		of[g.ID], parents[g.ID] = s.e.name(at), g.Parent
	}
	name := s.e.classes[class].name
	started, all := 0, 0
	for id, parent := range parents {
		if of[id] != other {
			continue
		}
		for range mostParents {
			if of[parent] == name {
				started++
				break
			}
			parent = parents[parent]
		}
		all++
	}
	return 2*started > all
}

// mostParents limits the chain from a goroutine to who began it all.
const mostParents = 20

// sleepsAsked is the note of the sleep of those that may have been asked.
const sleepsAsked = "others of the program may have asked it"

// keepsClients reports whether the goroutines of a class that sleep between
// two pieces of work read these from the program's own connections, while
// others wait for answers: whenever they sleep, some wait for that.
func (s *searcher) keepsClients(c *candidate) bool {
	class := s.classOf(c.f)
	reads := slices.ContainsFunc(s.members(class), func(at *situation) bool {
		return at.state.Doing == views.AwaitingIO && s.on(at, c.f.Where.Function) && s.e.places.matches(at.state.Stack, netRead)
	})
	if !reads || s.e.ownConnections() == 0 || s.alone(class) {
		return false
	}
	all := s.e.observe([]question{c.asks, {hit: func(at *situation) bool { return at.class != class && at.answer && at.waits() }}})
	asleep, asked := 0.0, 0.0
	for i, o := range all[0] {
		asleep += o.Weight * o.Hits
		asked += o.Weight * min(o.Hits, all[1][i].Hits)
	}
	return asked >= mostOf*asleep
}

// signAsked adds a sign of those that sleep, and may have been asked, to the
// waits for answers.
func (a *searched) signAsked() {
	for _, c := range a.all {
		if c.note != sleepsAsked {
			continue
		}
		for _, f := range a.Findings {
			if f.Kind == IOKind && f.Class != c.f.Class && f.asksProgram() {
				a.asked = append(a.asked, c.f.Class)
				f.Signs = append(f.Signs, "meanwhile, "+c.f.Class+" sleeps in "+c.f.Where.Function+", where it reads requests: it may wait for that")
			}
		}
	}
}
