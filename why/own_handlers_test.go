package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A program whose handlers are at work just as often as its
// clients wait for answers asks itself: what the handlers wait
// for is the reason, and what that waits for comes before both.
// Some requests are on their way. Another server's handlers are
// not seen.
func TestClientsOfTheProgramItself(t *testing.T) {
	for own, want := range map[bool]string{true: "os.(*File).Sync", false: "main.get"} {
		s := newScene()
		clients, handlers, store := s.spawn(8, "main.client"), s.spawn(8, "net/http.(*conn).serve"), s.spawn(1, "main.store")[0]
		readers := s.spawn(8, "net/http.(*persistConn).readLoop")
		s.samples(t, 100, func(i int) {
			s.is[store] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.store", "main.save", "os.(*File).Sync")
			s.sometimes(i, 20, store, s.at(runs, "main.store"))
			for j := range clients {
				s.is[clients[j]], s.is[handlers[j]] = s.at(sleeps, "main.client"), s.at(reads, "net/http.(*conn).serve", "net/http.(*conn).readRequest")
				if (i+j)%4 != 0 {
					s.is[clients[j]] = s.at(selects, "main.client", "main.fetch", "main.get", "net/http.(*persistConn).roundTrip")
				}
				s.is[readers[j]] = s.at(reads, "net/http.(*persistConn).readLoop", "bufio.(*Reader).Peek")
				if own && (i+j)%8 == 1 { // on its way
					s.is[readers[j]] = s.at(sampledata.State{Run: sampledata.Runnable}, "net/http.(*persistConn).readLoop")
				} else if own && (i+j)%4 != 0 || !own && (i+j)%4 == 0 {
					s.is[handlers[j]] = s.at(selects, "net/http.(*conn).serve", "main.handle", "main.put")
				}
			}
		})
		a := s.find(t)
		place := func(function string) int {
			return slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Where.Function == function })
		}
		client, handler := place("main.get"), place("main.put")
		if client < 0 || handler < 0 {
			t.Fatalf("own handlers: %v: %+v", own, a.Findings)
		}
		if first := a.Findings[0].Where; first.Function != want && first.Library != want || own != (handler < client) ||
			own != slices.Contains(a.Findings[client].Signs, asksOwn) {
			for _, f := range a.Findings {
				t.Errorf("own handlers: %v: %s in %s: %q", own, f.Kind, f.Where.Function, f.Signs)
			}
		}
	}
}

// Handlers that ask another server are at work as often as they
// wait for it: that says nothing of whom one more client asks.
func TestClientBesideAProxy(t *testing.T) {
	s := newScene()
	client, handlers := s.spawn(1, "main.poll")[0], s.spawn(30, "net/http.(*conn).serve")
	s.samples(t, 100, func(i int) {
		s.is[client] = s.at(selects, "main.poll", "main.fetch", "main.get", "net/http.(*persistConn).roundTrip")
		s.all(handlers, s.at(reads, "net/http.(*conn).serve", "net/http.(*conn).readRequest"))
		s.those(handlers, func(j int) bool { return (i+j)%4 != 0 },
			s.at(selects, "net/http.(*conn).serve", "main.proxy", "main.forward", "net/http.(*persistConn).roundTrip"))
	})
	for _, f := range s.find(t).Findings {
		if slices.Contains(f.Signs, asksOwn) {
			t.Errorf("%s: %q", f.Class, f.Signs)
		}
	}
}

// Those that a handler has started ask other servers for it, in
// however many steps they were started.
func TestWhoAsksForHandlers(t *testing.T) {
	s := newScene()
	handlers := s.spawn(4, "net/http.(*conn).serve")
	start := func(parents []sampledata.GoroutineID, function string) (all []sampledata.GoroutineID) {
		for _, p := range parents {
			id := int64(s.Recording().Goroutines.Len() + 1)
			all = append(all, s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function(function), Parent: int64(p) + 1}))
		}
		return all
	}
	lists := start(handlers, "main.list")
	fetchers := start(lists, "main.fetch")
	s.samples(t, 100, func(i int) {
		s.all(handlers, s.at(selects, "net/http.(*conn).serve", fmt.Sprintf("main.handle:%d", i%3)))
		s.all(lists, s.at(selects, "main.list"))
		s.all(fetchers, s.at(selects, "main.fetch", fmt.Sprintf("main.get:%d", i%3), "net/http.(*persistConn).roundTrip"))
	})
	for _, f := range s.find(t).Findings {
		if slices.Contains(f.Signs, asksOwn) {
			t.Errorf("%s: %q", f.Class, f.Signs)
		}
	}
}

// Who waits for connections may wait for the program's own
// goroutines, if it has connections with itself: what code costs
// them then is not known.
func TestConnectionsWithItself(t *testing.T) {
	for _, own := range []int64{0, 2} {
		s := newScene()
		all := s.spawn(4, "main.client")
		connections := s.Monitor(sampledata.Monitor{Name: "process.own_connections", Layer: sampledata.Kernel, Kind: sampledata.Level})
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(reads, "main.client", "main.ask", "net.(*netFD).Read"))
			s.some(i, 2, all, s.at(runs, "main.client", "main.encode"))
			s.Measure(connections, sampledata.Number(own))
		})
		a := s.find(t)
		seen := 0
		for _, f := range a.Findings {
			switch f.Kind {
			case IOKind:
				seen++
				if says := strings.Contains(strings.Join(f.Signs, " "), "connections with itself"); says != (own > 0) {
					t.Errorf("%d own connections: %q", own, f.Signs)
				}
			case ComputeKind:
				seen++
				if silent := f.Gain.Silent != ""; silent != (own > 0) {
					t.Errorf("%d own connections: the gain is %+v", own, f.Gain)
				}
			}
		}
		if seen != 2 {
			t.Errorf("%d own connections: %+v %+v", own, a.Findings, a.Hypotheses)
		}
	}
}

// One connection of the program with itself carries many requests over
// gRPC or HTTP/2, but not over HTTP/1.
func TestManyRequestsOnOneConnection(t *testing.T) {
	for function, own := range map[string]bool{
		"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader": true,
		"net/http.(*http2ClientConn).roundTrip":                                  true,
		"net/http.(*persistConn).roundTrip":                                      false,
	} {
		s := newScene()
		all := s.spawn(8, "main.client")
		connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(selects, "main.client", "main.ask", function))
			s.some(i, 20, all, s.at(runs, "main.client"))
			s.Measure(connections, sampledata.Number(1))
		})
		f := s.find(t).Findings
		if len(f) == 0 || slices.Contains(f[0].Signs, ownEnd) != own {
			t.Errorf("%s: %+v", function, f)
		}
	}
}

// Of the program's own handlers, it is not said that nobody waits for
// them if others may wait for their answers, also with a lock.
func TestHandlersThatMayAnswer(t *testing.T) {
	for own, want := range map[int64]string{0: lonely, 16: ""} {
		for _, locked := range []bool{false, true} {
			s := newScene()
			clients, server := s.spawn(16, "main.client"), s.spawn(1, "net/http.(*conn).serve")[0]
			connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
			s.samples(t, 200, func(i int) {
				s.is[server] = s.at(sleeps, "net/http.(*conn).serve", "main.handle", "time.Sleep")
				s.sometimes(i, 10, server, s.at(runs, "net/http.(*conn).serve", "main.handle"))
				asks := s.at(selects, "main.client", "main.ask", "net/http.(*persistConn).roundTrip")
				s.all(clients, asks)
				if locked {
					waits := s.at(blocked, "main.client", "main.ask", "sync.(*Mutex).Lock")
					waits.Lock, waits.Holders = 0x200, s.HolderSet(clients[:1])
					s.all(clients[1:], waits)
				}
				s.some(i, 10, clients, s.at(runs, "main.client", "main.encode"))
				s.Measure(connections, sampledata.Number(own))
			})
			a := s.find(t)
			i := slices.IndexFunc(a.Resting, func(r Resting) bool { return r.Class == "go:net/http.(*conn).serve" })
			if i < 0 || a.Resting[i].Does != want || (a.Findings[0].Kind == LockKind) != locked {
				t.Errorf("%d own connections, a lock: %v: %+v %+v", own, locked, a.Findings, a.Resting)
			}
		}
	}
}

// Who sleeps where it reads requests keeps those waiting that asked it, if
// the program has connections with itself.
func TestServersThatSleep(t *testing.T) {
	for own, asked := range map[int64]bool{0: false, 16: true} {
		s := newScene()
		clients, servers := s.spawn(8, "main.client"), s.spawn(8, "main.serveConn")
		connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
		s.samples(t, 200, func(i int) {
			s.Measure(connections, sampledata.Number(own))
			s.all(clients, s.at(reads, "main.client", "main.ask:9", "main.answer", "net.(*netFD).Read"))
			s.some(i, 10, clients, s.at(runs, "main.client", "main.ask", "main.send", "net.(*netFD).Write"))
			s.all(servers, s.at(sleeps, "main.serveConn:12", "time.Sleep"))
			s.some(i, 10, servers, s.at(reads, "main.serveConn:10", "bufio.(*Reader).ReadString", "net.(*netFD).Read"))
			s.some(i+1, 50, servers, s.at(runs, "main.serveConn:14", "net.(*conn).Write"))
		})
		a := s.find(t)
		said := slices.ContainsFunc(a.Findings[0].Signs, func(sign string) bool { return strings.Contains(sign, "go:main.serveConn sleeps in main.serveConn") })
		rests := slices.ContainsFunc(a.Resting, func(r Resting) bool { return r.Class == "go:main.serveConn" && r.Does == sleepsBetween })
		if said != asked || rests == asked {
			t.Errorf("%d own connections: %+v %+v", own, a.Findings, a.Resting)
		}
	}
}
