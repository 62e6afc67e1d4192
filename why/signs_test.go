package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calls"
)

// A loop around a select with a default spins, also if it has
// waited once at the beginning. A worker that waits for its
// channels does not.
func TestPolls(t *testing.T) {
	for _, first := range []int{0, 9} {
		for _, waits := range []bool{false, true} {
			testPolls(t, first, waits)
		}
	}
}

func testPolls(t *testing.T, first int, waits bool) {
	s := newScene()
	loop := s.spawn(1, "main.loop")[0]
	for i := range 90 {
		at := s.at(runs, "main.loop", "main.poll")
		switch {
		case i < first:
			at = s.at(idles, "main.loop", "main.poll", "runtime.selectgo")
		case i%3 == 0:
			at = s.at(runs, "main.loop", "main.poll", "runtime.selectgo")
		case i%3 == 1 && waits:
			at = s.at(idles, "main.loop", "main.poll", "runtime.selectgo")
		}
		s.sample(t, states{loop: at})
	}
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Kind != ComputeKind {
		t.Fatalf("found %+v", a.Findings)
	}
	spins := a.Findings[0].spins()
	if g := a.Findings[0].Gain; spins && (g == nil || g.Silent == "") {
		t.Errorf("a loop that spins has a gain: %+v", g)
	}
	if spins == waits {
		t.Errorf("signs are %q if it waits: %t", a.Findings[0].Signs, waits)
	}
}

// Others wait for processors because loops spin: it is no matter
// of the number of processors. Who computes what is wanted is no
// such reason.
func TestOthersWaitForSpinners(t *testing.T) {
	for _, spins := range []bool{false, true} {
		s := newScene()
		loops, others := s.spawn(4, "main.loop"), s.spawn(8, "main.piece")
		places := []string{"main.one", "main.two", "main.three"} // none has most of the time
		s.samples(t, 60, func(i int) {
			s.all(loops, s.at(runs, "main.loop"))
			s.those(loops, func(j int) bool { return spins && (i+j)%2 == 0 },
				s.at(runs, "main.loop", "runtime.selectgo"))
			s.all(others, s.at(sampledata.State{Run: sampledata.Runnable}, "main.piece", places[i%3]))
		})
		a := s.find(t)
		waits := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == ProcessorKind })
		if first := a.Findings[0]; waits == spins || spins && (!first.spins() || len(first.Ready) != 1 || first.Ready[0].Where != "") {
			t.Errorf("spins %t: %+v", spins, a.Findings)
		}
	}
}

// Goroutines that are started for one piece of work each, more
// of them than there are processors.
func TestSpawns(t *testing.T) {
	s := newScene()
	busy := s.spawn(1, "main.serve")
	ready := sampledata.State{Run: sampledata.Runnable}
	for range 60 {
		s.all(busy, s.at(runs, "main.serve"))
		var pieces []sampledata.GoroutineID
		for range 8 { // and 100 that were not seen
			pieces = append(pieces, s.Goroutine(sampledata.Goroutine{ID: int64(100 * s.Recording().Goroutines.Len()), Start: s.function("main.piece")}))
		}
		for i, g := range pieces {
			if s.is[g] = s.at(ready, "main.piece"); i < 3 {
				s.is[g] = s.at(runs, "main.piece")
			}
		}
		s.sample(t)
		s.gone = pieces
	}
	for _, f := range s.find(t).Findings {
		if f.Kind == ProcessorKind && f.Class == "go:main.piece" {
			if f.Remedy != fewGoroutines {
				t.Errorf("signs are %q, and what helps is to %s", f.Signs, f.Remedy)
			}
			return
		}
	}
	t.Error("nothing waits for a processor")
}

// Most of an allocation finding is the collector's own work.
// What the program's goroutines do shows that they make what a
// pool did not have.
func TestEmptyPoolBesideCollector(t *testing.T) {
	s := newScene()
	maker := s.spawn(1, "main.format")[0]
	var workers [2]sampledata.GoroutineID
	for i := range workers {
		workers[i] = s.Goroutine(sampledata.Goroutine{ID: int64(50 + i), GC: true,
			Start: s.function("runtime.gcBgMarkWorker")})
	}
	allocates := s.at(runs, "main.format", "sync.(*Pool).Get", "main.newBuffer", "runtime.newobject", "runtime.mallocgc")
	collects := s.at(runs, "runtime.gcBgMarkWorker", "runtime.systemstack", "runtime.gcDrain")
	for range 90 {
		s.sample(t, states{
			maker: allocates, workers[0]: collects, workers[1]: collects})
	}
	i := slices.IndexFunc(s.find(t).Findings, func(f *Finding) bool {
		return f.Kind == AllocationKind && f.Remedy == emptyPool
	})
	if i < 0 {
		for _, f := range s.find(t).Findings {
			t.Errorf("%s: %q, %q", f.Kind, f.Signs, f.Remedy)
		}
	}
}

// What well-known clients wait for is certain by the function:
// no other goroutine of the program, nor a timer.
func TestWaitsOfWellKnownClients(t *testing.T) {
	for call, want := range map[string]string{
		"net/http.(*persistConn).roundTrip":                                      AwaitsServer,
		"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader": AwaitsServer,
		"google.golang.org/grpc/internal/transport.(*http2Client).NewStream":     "the connection has as many streams as its server allows",
		"database/sql.(*DB).conn":                                                "all connections of the pool that SetMaxOpenConns allows are in use, or being opened",
	} {
		s := newScene()
		all := s.spawn(4, "main.client")
		s.samples(t, 80, func(i int) {
			s.all(all, s.at(selects, "main.client", "main.ask", call))
			s.some(i, 10, all, s.at(runs, "main.client", "main.ask"))
		})
		a := s.find(t)
		if len(a.Findings) != 1 || !slices.Contains(a.Findings[0].Signs, want) || a.Findings[0].Remedy == lookAtTimer {
			t.Errorf("%s: %+v", call, a.Findings)
		}
	}
}

// Whoever has a lock while it writes each line for itself needs
// a buffer; who waits for a peer does not.
func TestWritesUnderALock(t *testing.T) {
	calls := sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}
	for remedy, does := range map[string]sampledata.State{largerCalls: calls, "release it before that wait, if what it guards allows that": reads} {
		s := newScene()
		workers := s.spawn(4, "main.worker")
		waits := blocked
		waits.Lock, waits.Holders = 0x200, s.HolderSet(workers[:1])
		s.samples(t, 60, func(int) {
			s.is[workers[0]] = s.at(does, "main.worker", "main.log", "internal/poll.(*FD).Write", "syscall.write", "syscall.Syscall")
			s.all(workers[1:], s.at(waits, "main.worker", "main.log", "sync.(*Mutex).Lock"))
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == LockKind })
		if i < 0 || a.Findings[i].Remedy != remedy {
			t.Errorf("want %q: %+v", remedy, a.Findings)
		}
	}
}

// A websocket has its connection for itself, so that none can be
// kept for the next request.
func TestConnectionsOfWebsockets(t *testing.T) {
	for caller, want := range map[string]string{
		"nhooyr.io/websocket.handshakeRequest":          "keep the websocket, and send several messages over it",
		"golang.org/x/net/websocket.Handler.ServeHTTP":  whyNone, // it asks another server
		"github.com/acme/websocket-gw/lib.(*Client).do": whyNone,
	} {
		s := newScene()
		all := s.spawn(3, "main.visit")
		s.samples(t, 60, func(i int) {
			if i > 0 {
				s.gone = []sampledata.GoroutineID{s.goroutines[len(s.goroutines)-1]}
			}
			reader := s.spawn(1, "net/http.(*persistConn).readLoop")[0]
			s.is[reader] = s.at(reads, "net/http.(*persistConn).readLoop", "net.(*conn).Read")
			s.all(all,
				s.at(selects, "main.visit", "main.open", caller, "net/http.(*Transport).getConn"))
			s.some(i, 3, all, s.at(runs, "main.visit"))
		})
		a := s.find(t)
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Where.Library == "net/http.(*Transport).getConn" })
		if n < 0 || a.Findings[n].Remedy != want {
			t.Errorf("%s: %+v", caller, a.Findings)
		}
	}
}

// Who waits for a connection that is being made, since none is
// kept, waits for no other goroutine's, and the answers that
// others wait for have nothing to do with it.
func TestConnectionsThatAreNotKept(t *testing.T) {
	for _, kept := range []bool{false, true} {
		s := newScene()
		all, other := s.spawn(5, "net/http.(*conn).serve"), s.spawn(1, "main.other")[0]
		var reader sampledata.GoroutineID
		s.samples(t, 100, func(i int) {
			if i == 0 || !kept && i%5 == 0 {
				if i > 0 {
					s.gone = append(s.gone, reader)
				}
				reader = s.spawn(1, "net/http.(*persistConn).readLoop")[0]
			}
			s.is[other] = s.at(runs, "main.other")
			s.is[reader] = s.at(reads, "net/http.(*persistConn).readLoop", "net.(*conn).Read")
			for j, g := range all {
				wait, line := "net/http.(*persistConn).roundTrip", ":12"
				switch (i + j) % 5 {
				case 0, 1:
					wait, line = "net/http.(*Transport).getConn", ":9"
				case 4:
					s.is[g] = s.at(reads, "net/http.(*conn).serve", "net/http.(*conn).readRequest", "net.(*conn).Read")
					continue
				}
				s.is[g] = s.at(selects, "net/http.(*conn).serve", "main.main.func1", "api.com/v2.(*Client).Get", "api.com/v2.(*Client).do"+line, wait)
			}
		})
		found := 0
		for _, f := range s.find(t).Findings {
			switch f.Where.Library {
			case "net/http.(*Transport).getConn":
				found++
				if fellows := len(f.Causes) > 0; fellows != kept {
					t.Errorf("connections are kept: %t, and those who wait for one wait for %+v", kept, f.Causes)
				}
			case "net/http.(*persistConn).roundTrip":
				found++
				if all := f.Gain.Less == nil || f.Gain.Less.Share > 0.9; all != kept {
					t.Errorf("connections are kept: %t, answers have the gain %+v, %+v", kept, f.Gain, f.Gain.Less)
				}
			}
		}
		if found != 2 {
			t.Errorf("connections are kept: %t, %d of the findings", kept, found)
		}
	}
}

// Whoever writes into a pipe never waits for work. What another
// process writes comes when that wants; what is read from a
// connection into a file does not.
func TestPipes(t *testing.T) {
	for _, test := range []struct {
		state sampledata.State
		stack []string
		found bool
		sign  string // of the finding; "" for none
	}{
		{selects, []string{"main.generate", "bufio.(*Writer).Flush", "io.(*PipeWriter).Write", "io.(*pipe).write"}, true,
			"it writes to an io.Pipe, and waits until that is read"},
		{selects, []string{"main.generate", "main.next"}, false, ""},
		{reads, []string{"main.supervise", "main.lines", "bufio.(*Scanner).Scan", "os.(*File).Read", "os.(*File).read"},
			true, ofOthers},
		{reads, []string{"main.download", "main.get", "io.Copy", "os.(*File).ReadFrom", "net/http.(*body).Read", "net.(*conn).Read"},
			true, ""},
	} {
		s := newScene()
		all := s.spawn(3, test.stack[0])
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(test.state, test.stack...))
			s.some(i, 20, all, s.at(runs, test.stack[0]))
		})
		a := s.find(t)
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind || f.Kind == IOKind })
		if (n >= 0) != test.found || n >= 0 && strings.Join(a.Findings[n].Signs, "") != test.sign {
			t.Errorf("%v: %+v %+v", test.stack, a.Findings, a.Resting)
		}
	}
}

// More places are no remedy if whoever has them computes, or waits
// for others of the program, and there are no CPUs for more.
func TestMorePlacesNeedCPUs(t *testing.T) {
	for _, c := range []struct {
		does Activity
		want bool
	}{{Computing, true}, {Ready, true}, {Sending, true}, {IO, false}, {Sleeping, false}, {Selecting, false}} {
		f := &Finding{Causes: []Cause{{Activity: c.does, Share: 0.6}, {Activity: OtherWait, Share: 0.4}}}
		if f.inside() != c.want {
			t.Errorf("%s: it is inside: %v", c.does, f.inside())
		}
	}
	for _, c := range []struct {
		ran, noCPU float64
		crowd      *Crowd
		want       bool
	}{{1.9, 0, nil, true}, {1, 0.8, nil, true}, {0.6, 0.4, nil, true}, {1, 0.1, nil, false}, {0, 0, nil, false}, {0.05, 0.02, nil, false},
		{1, 0.8, &Crowd{Own: 1, Others: 0.9, CPUs: 2}, true}, {1, 0.8, &Crowd{Own: 1, CPUs: 2}, false}} {
		s := &searcher{e: &evidence{processors: 2}, ran: c.ran, noCPU: c.noCPU}
		if s.allInUse(c.crowd) != c.want {
			t.Errorf("%+v: all in use: %v", c, !c.want)
		}
	}
}

// What ends a wait while nobody works may come from outside: it
// has no gain then. Others work, whatever hypothesis has what they
// do; in calls alone, they are not seen.
func TestNobodyElseIsAtWork(t *testing.T) {
	handlers := func(s *scene, other sampledata.GoroutineID, does func(i int) sampledata.State) *scene {
		s.samples(t, 200, func(i int) {
			s.is[other] = does(i)
			s.all(s.goroutines[1:],
				s.at(selects, "net/http.(*conn).serve", "net/http.HandlerFunc.ServeHTTP", "main.result"))
			s.some(i, 10, s.goroutines[1:],
				s.at(reads, "net/http.(*conn).serve", "bufio.(*Reader).Peek", "net/http.(*connReader).Read"))
		})
		return s
	}
	saysSo := func(name string, a *Answer, want bool) {
		t.Helper()
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
		if n < 0 || slices.Contains(a.Findings[n].Signs, nobodyElse) != want {
			t.Errorf("%s: %+v %+v", name, a.Findings, a.Resting)
		}
	}
	for name, does := range map[string]func(s *scene, i int) sampledata.State{
		"rests": func(s *scene, _ int) sampledata.State { return s.at(idles, "main.work") },
		"asks": func(s *scene, i int) sampledata.State {
			if i%3 > 0 {
				return s.at(idles, "main.work")
			}
			return s.at(sleeps, "main.work", "main.load", "main.query")
		},
		"computes": func(s *scene, i int) sampledata.State {
			if i%4 == 0 {
				return s.at(runs, "main.work")
			}
			return s.at(runs, "main.work", "main.leaf")
		},
		"is ready": func(s *scene, _ int) sampledata.State {
			return s.at(sampledata.State{Run: sampledata.Runnable}, "main.work", "main.load")
		},
	} {
		s := newScene()
		other := s.spawn(1, "main.work")[0]
		s.spawn(4, "net/http.(*conn).serve")
		handlers(s, other, func(i int) sampledata.State { return does(s, i) })
		saysSo(name, s.find(t), name == "rests")
	}
	s := newScene()
	other := s.spawn(1, "main.work")[0]
	s.spawn(4, "net/http.(*conn).serve")
	handlers(s, other, func(int) sampledata.State { return s.at(runs, "main.work") })
	table := fixture.Must(calls.Of(s.Recording(), "main.result"))(t)
	c, _ := calls.ParseCondition("> 1ms")
	only := fixture.Must(table.Restrict(c, false))(t)
	a := fixture.Must(Find(only, configured()))(t)
	if slices.ContainsFunc(a.Findings, func(f *Finding) bool { return slices.Contains(f.Signs, nobodyElse) }) {
		t.Errorf("in calls alone: %+v", a.Findings)
	}
}

// A copy of net/http in another module waits as net/http does.
func TestCopiesOfHTTP(t *testing.T) {
	for name, waits := range map[string]bool{
		"net/http.(*persistConn).roundTrip": true, "github.com/imroc/req/v3.(*persistConn).roundTrip": true,
		"example.com/shop/smtp.(*persistConn).roundTrip": false, "main.(*persistConn).roundTrip": false,
		"net/http.(*Transport).roundTrip": false,
	} {
		if got := inRoundTrip.MatchString(name); got != waits {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, waits := range map[string]bool{"net/http.(*Transport).getConn": true, "github.com/bogdanfinn/fhttp.(*Transport).getConn": true, "main.(*Transport).getConn": false} {
		if got := requesting.MatchString(name); got != waits {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A library that waits for the kernel itself wakes who reads from a
// connection over a channel.
func TestReadsOverChannels(t *testing.T) {
	for function, want := range map[string]string{"netpoll/lib.(*connection).waitRead": answers, "netpoll/lib.(*queue).waitRead": lookAtEnder} {
		s := newScene()
		clients, other := s.spawn(4, "main.client"), s.spawn(1, "main.other")
		s.samples(t, 100, func(i int) {
			s.all(clients, s.at(idles, "main.client", "main.ask", function))
			s.some(i, 20, clients, s.at(runs, "main.client", "main.use"))
			s.all(other, s.at(runs, "main.other"))
		})
		f := s.find(t).Findings
		i := slices.IndexFunc(f, func(f *Finding) bool { return f.Kind == ChannelKind })
		if i < 0 || f[i].Remedy != want {
			t.Errorf("%s: %+v", function, f)
		}
	}
}

// What most of the time of code is spent on copying is said, and helped.
func TestCopies(t *testing.T) {
	for function, remedy := range map[string]string{
		"runtime.concatstrings":                 "if that is in a loop, use a strings.Builder",
		"runtime.growslice":                     "use slices again, or make them as large as they get",
		"runtime.slicebytetostring":             "keep one of the two",
		"internal/runtime/maps.(*table).rehash": "make them as large as they get, if that is known",
		"runtime.memmove":                       "call it less, or make it cheaper",
	} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(runs, "main.worker", "main.handle", "main.join", function))
			s.some(i, 3, all, s.at(runs, "main.worker", "main.handle"))
		})
		for _, f := range s.find(t).Findings {
			if f.Remedy != remedy {
				t.Errorf("%s: to %s, try: %s", function, f.Kind, f.Remedy)
			}
		}
	}
}

// Who waits for others that wait for a server may ask for less, too, but
// not if it is for its own class, as for a place in a limit.
func TestRemedyBehindAServer(t *testing.T) {
	for class, want := range map[string]float64{"go:main.load": 0.9, "go:main.handle": 0} {
		f := &Finding{Kind: ChannelKind, Class: "go:main.handle", Causes: []Cause{
			{Class: class, Activity: Selecting, Share: 0.9, Place: Place{Function: "main.fetch", Library: "net/http.(*persistConn).roundTrip"}}}}
		i := slices.IndexFunc(signs, func(s sign) bool { return s.remedy == answers && slices.Contains(s.kinds, GroupKind) })
		if got := signs[i].share(nil, f); got != want {
			t.Errorf("for %s: %g", class, got)
		}
	}
}
