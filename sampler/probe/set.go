package probe

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Options say how to measure.
type Options struct {
	// MaxOverhead bounds the share of the time (of one processor) that instruments take from the target; 0: no bound.
	MaxOverhead float64

	// CountsOnly: no returns are measured, and so no elapsed times.
	CountsOnly bool

	// Breakpoints: the processor's breakpoints are used although uprobes may be permitted.
	Breakpoints bool

	// Clock returns the time of the recording.
	Clock func() time.Duration

	Why string // what the instruments are to find out
}

// A kernel puts instruments in and takes them out. Its methods may be called from several goroutines.
type kernel interface {
	instrument() sampledata.Instrument

	// attach puts an instrument at an address. If record is false, it only counts.
	attach(pc uint64, record bool) error

	// detach takes it out. It may take long until the kernel is done, but the target does not hit it any more after a moment.
	detach(pc uint64)

	// hits returns how often an address was hit, exactly. It may be called after detach.
	hits(pc uint64) uint64

	// drain passes on the hits that were recorded since the last call.
	drain(func(*hit))

	// lost returns how many records were lost.
	lost() uint64

	// cost measures what one hit costs, on this process: of an entry, of a return, and what of the two is between their times.
	cost() (entry, ret, between time.Duration)

	// most returns the largest number of addresses.
	most() int

	close() error
}

// A Set is the instruments in one process.
type Set struct {
	program *Program
	options Options
	kernel  kernel
	note    string // what this kind of instrument can't tell

	mu     sync.Mutex
	probes []*probed
	closed bool

	recorded sync.Mutex // guards calls and the tallies; nobody waits for it with mu
	calls    *calls

	stop    chan struct{}
	stopped sync.WaitGroup
}

// probed is a function with instruments.
type probed struct {
	*tally
	result  sampledata.Probe
	in      bool // the entry has an instrument
	returns bool // and so have the returns
	entered uint64
	left    uint64
}

// Start puts instruments into the functions. If uprobes are not permitted, it takes breakpoints of the processor; then it can measure
// only as many functions as there are breakpoints, and the error is that of uprobes if breakpoints don't work either.
func Start(p *Program, functions []Function, o Options) (*Set, error) {
	k, note, err := openKernel(p, o)
	if err != nil {
		return nil, err
	}
	s := &Set{program: p, options: o, kernel: k, note: note, stop: make(chan struct{})}
	c, tallies := newCalls(functions)
	s.calls = c
	if o.CountsOnly || k.instrument() == sampledata.Breakpoint {
		for i := range functions {
			functions[i].Returns = nil
			if k.instrument() == sampledata.Breakpoint {
				functions[i].Arguments = nil
			}
		}
	}
	c.entryCost, c.returnCost, c.between = k.cost()
	if o.MaxOverhead > 0 && c.entryCost == 0 {
		k.close()
		return nil, errors.New("what a probe costs could not be measured on this machine, so that it can't be bounded: --probe-overhead 0 does without a bound")
	}
	for _, t := range tallies {
		s.probes = append(s.probes, s.put(t))
	}
	s.stopped.Go(s.watch)
	s.stopped.Go(s.read)
	return s, nil
}

// put puts the instruments of one function in: first those of returns, so that no entry is without its return.
func (s *Set) put(t *tally) *probed {
	f := t.function
	p := &probed{tally: t, result: sampledata.Probe{
		Function: f.Name, File: f.File, Line: f.Line, Instrument: s.kernel.instrument(), Why: s.options.Why, Note: s.note,
	}}
	if f.NoteArgs != "" && s.note == "" {
		p.result.Note = "arguments are not known: " + f.NoteArgs
	}
	var err error
	for _, pc := range f.Returns {
		if err = s.kernel.attach(pc, true); err != nil {
			break
		}
	}
	p.returns = err == nil && len(f.Returns) > 0
	for _, pc := range s.entries(f) {
		if err == nil {
			err = s.kernel.attach(pc, s.kernel.instrument() == sampledata.Uprobe)
		}
	}
	now := s.options.Clock()
	p.result.From, p.result.To, p.result.ReturnsUpTo = now, now, now
	if err != nil {
		s.take(p, true)
		p.result.Instrument, p.result.Note = sampledata.NoInstrument, err.Error()
		return p
	}
	p.in = true
	return p
}

// entries returns where the calls of a function are counted. If there are two places, the hits of the second one are subtracted.
func (s *Set) entries(f *Function) []uint64 {
	switch {
	case s.kernel.instrument() == sampledata.Uprobe:
		return []uint64{f.Entry}
	case f.Grows != 0:
		return []uint64{f.Check, f.Grows}
	}
	return []uint64{f.Entry}
}

// take takes the instruments of a function out: all, or only those of returns.
func (s *Set) take(p *probed, all bool) {
	for _, pc := range p.function.Returns {
		s.kernel.detach(pc)
	}
	p.returns = false
	if all {
		for _, pc := range s.entries(p.function) {
			s.kernel.detach(pc)
		}
		p.in = false
	}
}

// watchInterval is how often the hits are counted and recorded: an instrument that costs too much is taken out within a few of them.
const watchInterval = 5 * time.Millisecond

// watch takes out what costs too much.
func (s *Set) watch() {
	defer hurry()()
	limit := newThrottle(s.options.MaxOverhead, s.options.Clock())
	for s.running() {
		s.mu.Lock()
		s.check(limit)
		s.mu.Unlock()
		nap(watchInterval)
	}
}

// read reads what the kernel has recorded. That takes longer than to count, and must not delay it.
func (s *Set) read() {
	for s.running() {
		s.recorded.Lock()
		s.kernel.drain(s.calls.add)
		s.recorded.Unlock()
		time.Sleep(watchInterval)
	}
}

// running reports whether Close has not been called.
func (s *Set) running() bool {
	select {
	case <-s.stop:
		return false
	default:
		return true
	}
}

// check counts the hits, and takes out the function that costs most if they cost too much.
func (s *Set) check(limit *throttle) {
	now := s.options.Clock()
	var total, most time.Duration
	var worst *probed
	for _, p := range s.probes {
		cost := s.count(p, now)
		if total += cost; cost > most {
			most, worst = cost, p
		}
	}
	if !limit.spend(total, now) || worst == nil {
		return
	}
	s.throttled(worst)
	limit.forgive()
}

// count counts the new hits of a function, and returns what they cost.
func (s *Set) count(p *probed, now time.Duration) (cost time.Duration) {
	if !p.in {
		return 0
	}
	entered := uint64(0)
	for i, pc := range s.entries(p.function) {
		if n := s.kernel.hits(pc); i == 0 {
			entered = n
		} else {
			entered -= min(n, entered)
		}
	}
	entered = max(entered, p.entered)
	cost = time.Duration(entered-p.entered) * s.calls.entryCost
	p.entered, p.result.Calls, p.result.To = entered, entered, now
	if p.returns {
		left := uint64(0)
		for _, pc := range p.function.Returns {
			left += s.kernel.hits(pc)
		}
		cost += time.Duration(left-p.left) * s.calls.returnCost
		p.left, p.result.ReturnsUpTo = left, now
	}
	p.result.Cost += cost
	return cost
}

// throttled takes out what costs too much of a function: only the returns, if the entries alone are within the bound.
func (s *Set) throttled(p *probed) {
	since := p.result.To - p.result.From
	calls := fmt.Sprintf("%d calls in %v", p.entered, since.Round(time.Millisecond))
	bound := fmt.Sprintf("--probe-overhead %.3g%%", 100*s.options.MaxOverhead)
	entries := time.Duration(p.entered) * s.calls.entryCost
	if p.returns && float64(entries) < s.options.MaxOverhead*float64(since) {
		s.take(p, false)
		p.result.Note = fmt.Sprintf("returns were taken out after %s, for %s: the mean time is from the number of calls and the samples", calls, bound)
		return
	}
	s.take(p, true)
	p.result.TakenOut = true
	p.result.Note = fmt.Sprintf("taken out after %s, for %s: it is called at least so often", calls, bound)
}

// Results returns what was measured so far, in the order of the functions.
func (s *Set) Results() []sampledata.Probe {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Clock()
	var list []sampledata.Probe
	for _, p := range s.probes {
		if !s.closed {
			s.count(p, now)
		}
		list = append(list, p.result)
	}
	s.recorded.Lock()
	defer s.recorded.Unlock()
	for i, p := range s.probes {
		if !s.closed {
			list[i].Lost = s.kernel.lost()
		} else {
			list[i].Lost = s.calls.lost
		}
		p.measured(&list[i], s.program.site)
	}
	return list
}

// Close takes all instruments out. Results stays valid.
func (s *Set) Close() error {
	close(s.stop)
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Clock()
	for _, p := range s.probes {
		s.count(p, now)
		if p.in {
			s.take(p, true)
			p.in = true
			s.count(p, now)
			p.in = false
		}
	}
	s.recorded.Lock()
	defer s.recorded.Unlock()
	s.kernel.drain(s.calls.add)
	s.calls.lost = s.kernel.lost()
	s.closed = true
	return s.kernel.close()
}

// Any reports whether a function has an instrument still.
func (s *Set) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.probes, func(p *probed) bool { return p.in })
}
