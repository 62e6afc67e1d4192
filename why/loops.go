package why

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// connection matches the functions of the standard library that
// read the bytes of a connection, and know nothing of messages.
var connection = regexp.MustCompile(`^(net|crypto/tls|io|internal/poll|runtime|syscall)\.`)

// passing matches the names of methods that read for others.
var passing = regexp.MustCompile(`^(Read|ReadFrom|WriteTo)$`)

// relays reports whether a stack ends in io.Copy, which reads
// what a connection brings, as in a tunnel: it has asked
// nothing.
func (s *searcher) relays(stack sampledata.NodeID) bool {
	const copies = "io.copyBuffer"
	n := s.e.r.Innermost(stack, func(name string) bool {
		passes := connection.MatchString(name) || views.IsOwn(name) && passing.MatchString(views.LastName(name))
		return name == copies || !passes
	})
	return s.e.r.NameAt(n) == copies
}

// relaysStream reports whether goroutines of a class do nothing but
// relay what comes in a library's stream: a part of a connection, for
// which they wait as the library does.
func (s *searcher) relaysStream(class int32, f *Finding) bool {
	nodes, main := s.e.r.Nodes, s.modules.Main()
	if f.Kind != ChannelKind && f.Kind != ConditionKind ||
		s.modules.Of(nodes[s.e.places.own[f.Where.stack]].Function) == main || !s.relays(f.Where.stack) {
		return false
	}
	for n := f.Where.stack; n != sampledata.NoStack; n = nodes[n].Parent {
		if s.modules.Of(nodes[n].Function) == main {
			return s.isLoop(class, s.e.places.function(n))
		}
	}
	return true
}

// calledBack reports whether a goroutine of the standard library
// has called the program's functions on a path, as a server does
// with a handler.
func (s *searcher) calledBack(path []string) bool {
	if s.wrapper != nil {
		path = slices.DeleteFunc(slices.Clone(path), s.wrapper)
	}
	return len(path) > 0 && !views.IsOwn(path[0]) && !strings.HasPrefix(path[0], "runtime.")
}

// locking matches the names of functions that take a lock.
var locking = regexp.MustCompile(`(?i)\.(get|do|try|spin)?r?w?lock(loop|slow|blocking|context)?$`)

// lockByName returns the function that takes a lock by its name,
// if a path ends in it or in what it is made of; else "".
func lockByName(path []string) (name string) {
	for _, f := range slices.Backward(path) {
		if !views.IsOwn(f) {
			continue
		}
		if !locking.MatchString(f) {
			break
		}
		name = f
	}
	return name
}

// writing matches the functions of the standard library that
// write to files and connections, or open them.
var writing = regexp.MustCompile(`\.(write|\w*Write\w*|writeBuffers|Sync|Flush|Dial\w*|Connect|dial\w*|Open\w*|Close|SendFile|sendFile|ReadFrom|Handshake\w*)$`)

func writes(library string) bool { return writing.MatchString(library) }

// reading matches the names of functions that wait for requests.
var reading = regexp.MustCompile(`(?i)^(read|recv|receive|next|accept|scan|decode|parse|fetch|poll|listen|wait|serve|handle|loop|run|process|main|func\d)|(loop|reader|scan|recv|conn|serve)$`)

// readsRequests reports whether a goroutine that reads from a
// connection probably waits for a request. All functions of its
// stack then have names as in a server's loop. Of another
// module, the name of what it is called for counts.
func (s *searcher) readsRequests(stack sampledata.NodeID) bool {
	within := "" // the module of a function
	named := true
	for n := s.e.places.own[stack]; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		name := s.e.places.function(n)
		if !views.IsOwn(name) {
			continue
		}
		module := s.modules.Of(s.e.r.Nodes[n].Function)
		if !named && (module != within || module == s.modules.Main()) {
			return false
		}
		within, named = module, reading.MatchString(views.LastName(name))
	}
	return named
}

// longPolling matches the functions whose requests are answered once there is
// something.
var longPolling = regexp.MustCompile(`\.(?i:long_?poll|get_?updates|receive_?messages?|poll|watch|subscribe)`)

// following matches the functions whose own requests are such,
// by their names. Around other requests, they may be the loop
// that handles what has come.
var following = regexp.MustCompile(`\.(?i:listen|next|follow|tail)\w*$`)

// longPolls reports whether a wait is probably one until there
// is something. Of waits for the answer of a server, whoever
// asks may say so.
func (p *Place) longPolls() bool {
	is := func(f string) bool { return longPolling.MatchString(f) || following.MatchString(f) }
	return is(p.Function) || p.inRoundTrip() &&
		(following.MatchString(p.Caller) || slices.ContainsFunc(p.Path, longPolling.MatchString))
}

// ofPolling matches the functions of a package that answers long polls:
// they wait until somebody takes what the answer is to have.
var ofPolling = regexp.MustCompile(`/(long)?polling\.`)

func (p *Place) inPolling() bool { return slices.ContainsFunc(p.Path, ofPolling.MatchString) }

// awaitsNews reports whether hardly anybody is at work whom a
// long poll could wait for. Who serves some waits for work, too,
// between two of them. A client that asks often has its own
// pauses.
func (s *searcher) awaitsNews(class int32, f *Finding) bool {
	if f.Where.inRoundTrip() {
		return s.deserted(class, f)
	}
	return f.Severity >= mostOf*s.e.mean(s.e.classes[class].active) && s.nobodyWorks(f, -1)
}

// accepting matches the first functions of goroutines that a
// server starts for the connections that it accepts.
var accepting = regexp.MustCompile(`(?i)\.(serve|accept|listen)\w*(\.func\d+)+$`)

// ofServer reports whether a server has started the goroutine for a connection.
func (p *Place) ofServer() bool { return len(p.Path) > 0 && accepting.MatchString(p.Path[0]) }

// asks reports whether a function of the standard library, such
// as the one that sends a request over HTTP, waits for what its
// caller wants done.
func (s *searcher) asks(library string) bool {
	role := s.o.Views.Role
	return library != "" && !views.IsOwn(library) && role != nil && role(library) == views.OtherRole
}

// isBusy reports whether a function never waits for work, though
// it may look so.
func (s *searcher) isBusy(function string) bool {
	role := s.o.Views.Role
	return role != nil && role(function) == views.BusyRole
}

// isLoop reports whether a function is the loop of a class: all
// that its goroutines do, they do there or below. A class may
// have several loops. Then it is all that those do that live on,
// and were seen in the function.
func (s *searcher) isLoop(class int32, function string) bool {
	if s.e.classes[class].name == "go:"+function {
		return true // they begin in it
	}
	within, _ := weigh(s.members(class),
		func(at *situation) bool { return s.on(at, function) }, anywhere)
	life := s.e.classes[class].life
	return within >= isAll*life || within >= minPart*life && s.isOwnLoop(class, function)
}

// isAll is the share of the time from which it is all.
const isAll = 0.99

// isOwnLoop reports whether all that some goroutines of a class
// do is in a function or below: those that live on, and were
// seen there.
func (s *searcher) isOwnLoop(class int32, function string) bool {
	within, life := 0.0, 0.0
	for _, g := range s.stays(class, function) {
		if g.first && g.last && g.within > 0 {
			within, life = within+g.within, life+g.life
		}
	}
	return life > 0 && within >= isAll*life
}

// A stay is how much of a goroutine's life is in a function or below.
type stay struct {
	within, life float64
	first, last  bool // it was there in these samples
}

// isAll reports whether the goroutine lives on, and does nothing else.
func (g stay) isAll() bool { return g.first && g.last && g.within >= isAll*g.life }

// stays returns the goroutines of a class with their stays in a
// function.
func (s *searcher) stays(class int32, function string) map[sampledata.GoroutineID]stay {
	stays, on := make(map[sampledata.GoroutineID]stay), s.e.matching(func(at *situation) bool {
		return at.class == class && s.on(at, function)
	})
	for i, run := range s.e.r.Runs.All() {
		at := s.e.of[i]
		if at < 0 || s.e.situations[at].class != class {
			continue
		}
		g, weight := stays[run.Goroutine], s.e.between(run.First, run.Last)
		g.life += weight
		g.first, g.last = g.first || run.First <= s.e.from, g.last || run.Last >= s.e.to-1
		if on[at] {
			g.within += weight
		}
		stays[run.Goroutine] = g
	}
	return stays
}

// receiving matches the names of functions that read from what
// need not be a connection, such as a stream of several over
// one.
var receiving = regexp.MustCompile(`(?i)^(read|recv|receive|accept)`)

// serving matches the loop of a connection, and peeking what it
// calls to read the next request.
var (
	serving = regexp.MustCompile(`(?i)^serve(conn)?$`)
	peeking = regexp.MustCompile(`(?i)^(wait_?)?(read|peek|recv|receive)`)
)

// awaiting matches the names of functions that wait for whoever calls them.
var awaiting = regexp.MustCompile(`^(?i:a?wait)`)

// inOneModule reports whether all of a stack's functions of the
// program are of one module.
func (s *searcher) inOneModule(stack sampledata.NodeID) bool {
	module := ""
	for n := s.e.places.own[stack]; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		if of := s.modules.Of(s.e.r.Nodes[n].Function); views.IsOwn(s.e.places.function(n)) && of != module {
			if module != "" {
				return false
			}
			module = of
		}
	}
	return true
}
