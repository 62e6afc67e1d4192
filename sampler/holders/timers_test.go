package holders

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A select whose waits last until a timer is a sleep, with a
// signal that may stop it. One whose waits end before that waits
// for the signal, and one that takes a value waits for the
// value. Who only receives from a timer sleeps.
func TestTimers(t *testing.T) {
	const (
		sudog, next = 0x10000, 0x11000
		ofTimer     = 0x800
		timer       = 0xc000
		period      = 100
	)
	onTimer := goruntime.Select + sampledata.OnTimer
	for name, c := range map[string]struct {
		reason string
		lasts  []int64 // how long each wait lasts
		valued bool    // the other case takes a value
		want   string  // of the next wait
	}{
		"until the timer, each time":   {goruntime.Select, []int64{100, 100, 100}, false, onTimer},
		"a ticker with a period":       {goruntime.Select, []int64{110, 120}, false, onTimer},
		"only once as yet":             {goruntime.Select, []int64{100}, false, goruntime.Select},
		"goroutines that end":          {goruntime.Select, []int64{100, 100, 100}, false, goruntime.Select},
		"seen only once each":          {goruntime.Select, []int64{60, 60, 60, 60}, false, goruntime.Select},
		"mostly until a signal":        {goruntime.Select, []int64{100, 30, 100, 30}, false, goruntime.Select},
		"a value comes, or is late":    {goruntime.Select, []int64{100, 100, 100}, true, goruntime.Select},
		"nothing but a timer":          {goruntime.ChanReceive, nil, false, goruntime.ChanReceive + sampledata.OnTimer},
		"a signal, rarely, of a dozen": {goruntime.Select, []int64{100, 100, 100, 100, 100, 20, 100, 100, 100, 100, 100, 100}, false, onTimer},
	} {
		s := newScene(t, 1)
		s.f.release = goruntime.Release{Line: 25}
		s.states[0].Stack = 7
		for at, of := range map[uint64]uint64{sudog: ofTimer, next: 0x900} {
			s.put(at, int(sceneSudog.G), s.seen[0].Addr)
			s.put(at, int(sceneSudog.C), of)
		}
		s.put(sudog, int(sceneSudog.WaitLink), next)
		if c.valued {
			s.put(next, int(sceneSudog.Elem), 1)
		}
		s.put(ofTimer+32, 0, timer)
		for i, lasts := range append(c.lasts, 0) {
			s.put(timer+24, 0, uint64(s.now+period))
			s.waits(0, c.reason, 0, sudog)
			s.f.Find(Halt{})
			if i == len(c.lasts) {
				break
			}
			if s.waits(0, c.reason, 0, sudog); i > 0 && s.states[0].Reason != c.want && c.want == goruntime.Select {
				t.Errorf("%s: wait %d: %s", name, i, s.states[0].Reason)
			}
			if s.now += min(lasts, 70); lasts > 70 { // a sample in the middle
				s.next()
				s.now += lasts - 70
			}
			s.next()
			s.seen[0].Wait.Count++
			if name == "goroutines that end" {
				s.seen[0].Wait.Goroutine++ // another one has the key
			}
			s.f.Changed(0)
			s.states[0] = sampledata.State{Stack: 7}
		}
		for range 2 { // the next sample repeats it
			if got := s.states[0].Reason; got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			s.next()
			s.waits(0, c.reason, 0, sudog)
			s.f.Find(Halt{})
		}
		if s.f.Reset(); len(s.f.enders.timers.ends) != 0 {
			t.Errorf("%s: stacks of an earlier recording are known", name)
		}
	}
}
