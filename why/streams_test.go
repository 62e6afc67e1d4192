package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A server whose other requests end has two that go on, and wait
// for events: they are streams. If hardly any others end, they
// may be slow requests, unless they send parts of their answers, or
// a ticker drives them all the time.
func TestStreams(t *testing.T) {
	for _, c := range []struct{ others, flushes, ticks bool }{
		{others: true}, {}, {flushes: true}, {ticks: true}, {others: true, ticks: true},
	} {
		others := c.others
		s := newScene()
		serves := s.spawn(4, "net/http.(*conn).serve")
		s.goroutines = nil
		var reader sampledata.GoroutineID
		begin := func(id, parent int64) sampledata.GoroutineID {
			return s.Goroutine(sampledata.Goroutine{ID: id, Parent: parent, Start: s.function("net/http.(*connReader).backgroundRead")})
		}
		streams := []sampledata.GoroutineID{begin(100, 1), begin(101, 2)}
		reads := s.at(reads, "net/http.(*connReader).backgroundRead", "net.(*conn).Read")
		waits := s.at(selects, "net/http.(*conn).serve", "main.handle", "main.(*hub).next")
		if c.ticks {
			waits.Reason += sampledata.OnTimer
		}
		s.samples(t, 300, func(i int) {
			for k, g := range serves {
				s.is[g] = s.at(idles, "net/http.(*conn).serve", "bufio.(*Reader).Peek")
				if k < 2 {
					s.is[g], s.is[streams[k]] = waits, reads
					if i%10 == k {
						s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.handle", "main.send")
						if c.ticks {
							s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.handle", "main.(*hub).next", "main.send")
						}
						if c.flushes {
							s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.handle", "main.(*hub).next", "net/http.(*response).FlushError")
						}
					}
				}
			}
			if others && i%20 == 0 {
				reader = begin(int64(200+i), 3)
			}
			if others && i%20 < 2 {
				s.is[serves[2]], s.is[reader] = waits, reads
			}
			if others && i%20 == 2 {
				s.gone = []sampledata.GoroutineID{reader}
			}
		})
		a, meant := s.find(t), others || c.flushes || c.ticks
		if (len(a.Findings) == 0) != meant {
			t.Errorf("%+v: %+v %+v", c, a.Findings, a.Hypotheses)
		}
		if meant && (a.State != Idle || !slices.ContainsFunc(a.Resting, Resting.GoesOn)) {
			t.Errorf("%+v: %s %+v", c, a.State, a.Resting)
		}
	}
}

// Who waits for both ways of a tunnel waits for who uses it, unlike who
// waits for two downloads.
func TestBothWaysOfATunnel(t *testing.T) {
	for stack, found := range map[string]bool{
		"main.way io.Copy io.copyBuffer net.(*conn).Read": false, "main.way net/http.(*body).Read net.(*conn).Read": true,
	} {
		for _, ends := range []bool{true, false} {
			s := newScene()
			ways, tunnel := s.spawn(2, "main.way"), s.spawn(1, "main.tunnel")
			s.samples(t, 120, func(i int) {
				if ends && i%20 == 19 {
					s.gone = append(ways, tunnel...)
					ways, tunnel = s.spawn(2, "main.way"), s.spawn(1, "main.tunnel")
				}
				group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait", Holders: s.HolderSet(ways), Evidence: sampledata.Likely}
				s.all(tunnel, s.at(group, "main.tunnel", "main.both", "sync.(*WaitGroup).Wait"))
				s.all(ways, s.at(reads, append(strings.Fields(stack), "internal/poll.(*FD).Read")...))
				s.some(i, 30, append(ways, tunnel...), s.at(runs, "main.way"))
			})
			a := s.find(t)
			if got := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == GroupKind }); got != found {
				t.Errorf("%s, ends %t: %+v %+v", stack, ends, a.Findings, a.Resting)
			}
		}
	}
}
