package why

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// What takes the values that a class sends computes more if the class gets
// more done: full processors then allow less.
func TestGainWithTakers(t *testing.T) {
	for name, c := range map[string]struct {
		every     int // sample with a wait to send
		low, high float64
	}{
		"others take what it sends": {1, 1.4, 1.65},
		"it hardly sends":           {150, 1.8, 2},
	} {
		s := newScene()
		senders, taker := s.spawn(8, "main.sender"), s.spawn(1, "main.taker")
		sends := sampledata.State{Run: sampledata.Waiting, Reason: "chan send", Lock: 0x100, Evidence: sampledata.Likely, Holders: s.HolderSet(taker)}
		s.samples(t, 300, func(i int) {
			s.all(senders, s.at(sampledata.State{Run: sampledata.Runnable}, "main.sender", "main.handle", "main.serve"))
			s.is[taker[0]] = s.at(runs, "main.taker", "main.take")
			for j := range 3 {
				s.is[senders[(i+j)%8]] = s.at(runs, "main.sender", "main.handle", "main.serve")
			}
			s.is[senders[(i+4)%8]] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.sender", "main.handle", "main.report")
			s.sometimes(i, c.every, senders[(i+4)%8], s.at(sends, "main.sender", "main.handle", "main.report"))
		})
		if g := s.asked(t, "main.serve", true); g.Times == nil || g.Times.Times < c.low || g.Times.Times > c.high {
			t.Errorf("%s: %+v, %+v", name, g, g.Times)
		}
	}
}
