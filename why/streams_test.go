package why

import (
	"slices"
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
