package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A callLog has the calls of a function one by one, in the
// windows in which it has instruments.
type callLog struct {
	table sampledata.CallTable // what is new since take
	site  func(uint64) (function, file string, line int32)
	sites map[uint64]sampledata.Call
	count int
	since uint64 // begin of the open window, as hit.time; 0 if none is open
	told  uint64 // up to here, the windows were taken
	epoch uint64 // the hit.time of the recording's start
}

func (s *Set) keepCalls(t *tally) {
	s.recorded.Lock()
	defer s.recorded.Unlock()
	k := &callLog{site: s.program.site, sites: map[uint64]sampledata.Call{},
		epoch: monotonic() - uint64(s.options.Clock())}
	k.table = sampledata.CallTable{Function: t.function.Name, Source: sampledata.CallsByUprobe}
	for _, a := range t.function.Arguments {
		k.table.Arguments = append(k.table.Arguments, a.Name)
	}
	t.log = k
}

// at returns the time of a hit in the recording.
func (k *callLog) at(hit uint64) time.Duration { return time.Duration(max(0, int64(hit-k.epoch))) }

// open begins a window.
func (k *callLog) open(at uint64) { k.since, k.told = at, at }

// tell adds the open window up to a time.
func (k *callLog) tell(at uint64) {
	if k.since != 0 && at > k.told {
		k.table.Windows = append(k.table.Windows,
			sampledata.CallWindow{From: k.at(k.told), To: k.at(at)})
		k.told = at
	}
}

// add adds a call that has ended, or is cut, at a time.
func (k *callLog) add(goroutine uint64, a *activation, end uint64, cut bool) {
	if k.since == 0 || a.nested || k.count == sampledata.MaxTimedCalls {
		return
	}
	site, known := k.sites[a.caller]
	if !known {
		site.Function, site.File, site.Line = k.site(a.caller)
		k.sites[a.caller] = site
	}
	k.count++
	k.table.Calls = append(k.table.Calls, sampledata.TimedCall{
		Goroutine: int64(goroutine), Begin: k.at(a.time), End: k.at(max(a.time, end)),
		CutEnd: cut, Site: site, Values: a.values,
	})
}

// addBegun adds a call that returns and had begun before the
// window. All calls of the goroutine in this window were within
// it.
func (k *callLog) addBegun(h *hit) {
	if k.since == 0 || h.time < k.since || k.count == sampledata.MaxTimedCalls {
		return
	}
	from := k.at(k.since)
	k.table.Calls = slices.DeleteFunc(k.table.Calls, func(c sampledata.TimedCall) bool {
		return c.Goroutine == int64(h.goroutine) && c.Begin >= from
	})
	k.count++
	k.table.Calls = append(k.table.Calls, sampledata.TimedCall{
		Goroutine: int64(h.goroutine), Begin: from, End: k.at(h.time), CutBegin: true,
		Values: make([]int64, len(k.table.Arguments)),
	})
}

// endWindow ends the window of a function: calls that are under
// way are cut.
func (c *calls) endWindow(t *tally, at uint64) {
	for g, stack := range c.open {
		c.keep(g, slices.DeleteFunc(stack, func(a activation) bool {
			if a.tally == t {
				t.log.add(g, &a, at, true)
			}
			return a.tally == t
		}))
	}
	t.log.tell(at)
	t.log.since = 0
}

// forget forgets the calls that are under way: their returns may
// be among hits that were lost. Windows begin anew.
func (c *calls) forget(at uint64) {
	clear(c.open)
	for _, t := range c.entries {
		if t.log != nil && t.log.since != 0 {
			t.log.tell(t.log.told)
			t.log.open(at)
		}
	}
}

// Calls returns the calls that became known since the last call
// of Calls. The set must keep calls.
func (s *Set) Calls() (list []sampledata.CallTable) {
	s.recorded.Lock()
	defer s.recorded.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.probes {
		k := p.log
		if k == nil {
			continue
		}
		k.tell(monotonic())
		t := k.table
		t.Note = s.keptNote(p)
		list = append(list, t)
		k.table.Calls, k.table.Windows = nil, nil
		if s.options.Forget {
			k.count = 0
		}
	}
	return list
}

// keptNote says why calls are missing.
func (s *Set) keptNote(p *probed) string {
	switch {
	case p.log.count == sampledata.MaxTimedCalls:
		return fmt.Sprintf("only the first %d calls were kept", p.log.count)
	case p.result.Instrument == sampledata.NoInstrument:
		return p.result.Note
	case s.calls.lost > 0:
		return fmt.Sprintf("%d hits were lost: calls around them are missing", s.calls.lost)
	}
	return ""
}

// pause takes a function's instruments out until what they have
// cost in this window is within the bound. How long that lasts
// is random, so that windows don't follow what the program does.
func (s *Set) pause(p *probed, now time.Duration) {
	spent := p.result.Cost - p.before
	p.in, p.returns = false, false
	p.untimed.Store(monotonic())
	p.resume = now + time.Duration(float64(spent)/s.options.MaxOverhead*(0.5+rand.Float64()))
}

// openWindows puts instruments in again.
func (s *Set) openWindows() {
	for s.running() {
		time.Sleep(watchInterval)
		s.mu.Lock()
		now := s.options.Clock()
		var due []*probed
		for _, p := range s.probes {
			if p.log != nil && !p.in && p.resume != 0 && now >= p.resume {
				p.resume = 0
				due = append(due, p)
			}
		}
		s.mu.Unlock()
		for _, p := range due {
			if s.kernel.attach(p.function.Returns) == nil &&
				s.kernel.attach([]uint64{p.function.Entry}) == nil {
				s.openWindow(p)
			}
		}
	}
}

// openWindow begins a window of a function, whose instruments are in.
func (s *Set) openWindow(p *probed) {
	s.recorded.Lock()
	s.calls.closeWindows(s.kernel.drain(s.calls.add))
	p.timed = true
	p.untimed.Store(0)
	p.log.open(monotonic())
	s.recorded.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	p.in, p.returns = true, true
	s.count(p, s.options.Clock())
	p.before = p.result.Cost
	s.limit.forgive()
}

// closeWindows ends the windows of the functions whose instruments are
// out, if all hits until then are known.
func (c *calls) closeWindows(until uint64) {
	for _, t := range c.entries {
		c.closeWindow(t, until)
	}
}

func (c *calls) closeWindow(t *tally, until uint64) {
	if at := t.untimed.Load(); t.log != nil && t.log.since != 0 && at != 0 && at <= until {
		c.endWindow(t, at)
	}
}
