package probe

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Options say how to measure.
type Options struct {
	// MaxOverhead bounds the share of the time (of one
	// processor) that instruments take from the target; 0: no
	// bound.
	MaxOverhead float64

	// CountsOnly: no returns are measured, and so no elapsed times.
	CountsOnly bool

	// Breakpoints: the processor's breakpoints are used although uprobes may
	// be permitted.
	Breakpoints bool

	// MaxRemoval bounds how long taking all instruments out again may take;
	// 0: no bound.
	MaxRemoval time.Duration

	// Keep: calls are kept one by one, see Set.Calls. A function
	// that is called too often is measured in windows, at random
	// times.
	Keep bool

	// Forget: each call of Set.Calls begins anew to count how
	// many are kept.
	Forget bool

	// Clock returns the time of the recording.
	Clock func() time.Duration

	// TakingOut is called while instruments are taken out, with
	// the number of those that are in; nil: nobody wants to
	// know.
	TakingOut func(in int)
}

// A kernel puts instruments in and takes them out. Its methods
// may be called from several goroutines.
type kernel interface {
	instrument() sampledata.Instrument

	// attach puts instruments at some places.
	attach(places []uint64) error

	// detach takes out what one attach has put in. It may take
	// long until the kernel is done.
	detach(places []uint64)

	// takeOut takes everything out, for good, and returns the
	// places at which a breakpoint is left; if it is not sure,
	// the breakpoint may be another tool's. It calls tell
	// meanwhile.
	takeOut(tell func(in int)) (left []uint64, sure bool)

	// removal estimates how long takeOut takes, given the number of attaches
	// and of places.
	removal(attached, places int) time.Duration

	// hits returns how often an address was hit, exactly. It may
	// be called after detach.
	hits(pc uint64) uint64

	// drain passes on the hits that were recorded since the last
	// call, and returns the time up to which it has all. It ends,
	// even if more come than it reads.
	drain(func(*hit)) (until uint64)

	// lost returns how many records were lost.
	lost() uint64

	// cost returns what was measured on this process; nothing if
	// it could not be.
	cost() costs

	close() error
}

// Costs are what instruments take of the time of a program.
type costs struct {
	entry, ret time.Duration // of a hit
	between    time.Duration // how much of the two is between their times
	removal    time.Duration // until one instrument is out
}

// A Set is the instruments in one process.
type Set struct {
	program *Program
	options Options
	kernel  kernel
	note    string // what this kind of instrument can't tell

	mu     sync.Mutex
	probes []*probed
	limit  *throttle
	put    bool // Start has put all entries in
	closed bool

	closing sync.Once
	left    error // what Close returns

	recorded sync.Mutex // guards calls and the tallies; taken before mu, which must not wait for it
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

	// Of a function whose calls are kept.
	before time.Duration // the cost before this window
	resume time.Duration // when the next window begins; 0 if one is open
}

// Start puts instruments into the functions. If uprobes are not
// permitted, it takes breakpoints of the processor, and measures
// only as many functions as there are breakpoints. If these
// don't work either, it returns the error of uprobes.
func Start(p *Program, functions []Function, o Options) (*Set, error) {
	s, tallies, err := open(p, functions, o)
	if err != nil {
		return nil, err
	}
	for _, t := range tallies {
		if o.Keep && !t.function.hidden {
			s.keepCalls(t)
		}
		p := s.enter(t)
		s.mu.Lock()
		s.probes = append(s.probes, p)
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.put = true
	s.mu.Unlock()
	if o.MaxOverhead > 0 && !o.Keep {
		nap(probation)
	}
	for _, p := range s.probes {
		s.putReturns(p)
	}
	if o.Keep && o.MaxOverhead > 0 {
		s.stopped.Go(s.openWindows)
	}
	return s, nil
}

// open returns a set that has no instruments yet. CloseAll waits
// for it: the instruments whose cost is measured are in this
// process meanwhile.
func open(p *Program, functions []Function, o Options) (*Set, []*tally, error) {
	opened.opening.RLock()
	defer opened.opening.RUnlock()
	k, note, err := openKernel(p, o)
	if err != nil {
		return nil, nil, err
	}
	if o.Keep && k.instrument() != sampledata.Uprobe {
		k.close()
		return nil, nil, fmt.Errorf("only uprobes time calls one by one: %s", strings.TrimPrefix(note, "counts only: "))
	}
	s := &Set{program: p, options: o, kernel: k, note: note, stop: make(chan struct{}),
		limit: newThrottle(o.MaxOverhead, o.Clock())}
	if o.CountsOnly || k.instrument() == sampledata.Breakpoint {
		for i := range functions {
			functions[i].Returns = nil
			if k.instrument() == sampledata.Breakpoint {
				functions[i].Arguments = nil
			}
		}
	}
	if err := s.removable(functions); err != nil {
		k.close()
		return nil, nil, err
	}
	c, tallies := newCalls(s.withEnds(functions))
	c.costs, s.calls = k.cost(), c
	if o.MaxOverhead > 0 && c.costs.entry == 0 {
		k.close()
		return nil, nil, errors.New("what a probe costs could not be measured on this machine, so that it can't be bounded: --probe-overhead 0 does without a bound")
	}
	if o.MaxOverhead > 0 {
		// for the thread that keeps its processor; Close takes it back
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
		var ready sync.WaitGroup
		ready.Add(2)
		s.stopped.Go(func() { s.watch(napAwake, ready.Done) })
		s.stopped.Go(func() { s.watch(nap, ready.Done) })
		ready.Wait() // on a busy machine, it takes a while until their threads run
	}
	s.stopped.Go(s.read)
	opened.add(s)
	return s, tallies, nil
}

// withEnds adds the function that ends goroutines, so that the
// calls in them are known to have ended.
func (s *Set) withEnds(functions []Function) []Function {
	timed := func(f Function) bool { return len(f.Returns) > 0 }
	known := func(f Function) bool { return f.Name == goexit }
	if !slices.ContainsFunc(functions, timed) || slices.ContainsFunc(functions, known) {
		return functions
	}
	f, err := s.program.Function(goexit)
	if err != nil {
		return functions // the linker has left it out: nobody calls it
	}
	f.Returns, f.hidden = nil, true
	return append(slices.Clip(functions), f)
}

const goexit = "runtime.Goexit"

// probation is how long the calls of a function are only
// counted, before its returns get instruments. What turns out to
// be called too often has only one instrument then. To take out
// several takes long: the kernel takes them out one after the
// other, and waits for all processors in between.
const probation = 20 * time.Millisecond

// enter puts the instrument of a function's entry in.
func (s *Set) enter(t *tally) *probed {
	f := t.function
	p := &probed{tally: t, result: sampledata.Probe{
		Function: f.Name, File: f.File, Line: f.Line, Instrument: s.kernel.instrument(), Why: f.Why,
		Note: s.note,
	}}
	if f.NoteArgs != "" && s.note == "" {
		p.result.Note = "arguments are not known: " + f.NoteArgs
	}
	err := s.kernel.attach(s.entries(f))
	now := s.options.Clock()
	p.result.From, p.result.To, p.result.ReturnsUpTo = now, now, now
	if err != nil {
		p.result.Instrument, p.result.Note = sampledata.NoInstrument, err.Error()
		return p
	}
	p.in = true
	return p
}

// putReturns puts the instruments of a function's returns in, unless its
// calls are too many to be timed.
func (s *Set) putReturns(p *probed) {
	f := p.function
	s.mu.Lock()
	now := s.options.Clock()
	s.count(p, now)
	costs := float64(p.entered) * float64(s.calls.costs.entry+s.calls.costs.ret)
	allowed := s.options.MaxOverhead * float64(now-p.result.From)
	timed := p.in && len(f.Returns) > 0
	if bounded := s.options.MaxOverhead > 0 && p.log == nil; timed && bounded && costs > allowed+float64(burst) {
		timed = false
		p.result.Note = fmt.Sprintf("calls are not timed after %d in %v, for %s: the mean time is from the number of calls and the samples",
			p.entered, (now - p.result.From).Round(time.Millisecond), s.bound())
	}
	s.mu.Unlock()
	if !timed {
		return
	}
	if err := s.kernel.attach(f.Returns); err != nil {
		s.mu.Lock()
		p.result.Note = "calls are not timed: " + err.Error()
		s.mu.Unlock()
		return
	}
	// Calls that began before this could have returned already.
	s.recorded.Lock()
	s.kernel.drain(s.calls.add)
	p.timed = true
	if p.log != nil {
		p.log.open(monotonic())
	}
	s.recorded.Unlock()
	s.mu.Lock()
	p.returns = p.in
	late := !p.in
	s.mu.Unlock()
	if late { // its calls became too many meanwhile
		s.kernel.detach(f.Returns)
	}
}

func (s *Set) bound() string {
	return fmt.Sprintf("--probe-overhead %.3g%%", 100*s.options.MaxOverhead)
}

// entries returns where the calls of a function are counted. If
// there are two places, the hits of the second one are
// subtracted.
func (s *Set) entries(f *Function) []uint64 {
	switch {
	case s.kernel.instrument() == sampledata.Uprobe:
		return []uint64{f.Entry}
	case f.Grows != 0:
		return []uint64{f.Check, f.Grows}
	}
	return []uint64{f.Entry}
}

// watchInterval is how often the hits are counted and recorded:
// an instrument that costs too much is taken out within a few of
// them. If no instrument is in any more, only the last hits
// remain to be read, every idleInterval.
const watchInterval, idleInterval = 5 * time.Millisecond, 50 * time.Millisecond

// watch takes out what costs too much. There are two of it:
// while the kernel takes out one function's instruments, which
// may last seconds on a busy machine, the other one watches.
// They end if no instrument is left: their wake-ups would cost
// the target time for nothing.
func (s *Set) watch(nap func(time.Duration), ready func()) {
	defer hurry()()
	ready()
	for s.running() && s.measures() {
		s.mu.Lock()
		out := s.check()
		s.mu.Unlock()
		for _, places := range out {
			s.kernel.detach(places)
		}
		nap(watchInterval)
	}
}

// read reads what the kernel has recorded. That takes longer
// than to count, and must not delay it.
func (s *Set) read() {
	for s.running() {
		s.recorded.Lock()
		s.calls.closeWindows(s.kernel.drain(s.calls.add))
		s.recorded.Unlock()
		if s.measures() {
			time.Sleep(watchInterval)
		} else {
			time.Sleep(idleInterval)
		}
	}
}

// running reports whether Close has not been called.
func (s *Set) running() bool { return !closed(s.stop) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// measures reports whether an instrument is in, or will be put in.
func (s *Set) measures() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.put || s.options.Keep || slices.ContainsFunc(s.probes, func(p *probed) bool { return p.in })
}

// check counts the hits. If they cost too much, it returns the
// instruments to take out: all instruments of the function that
// costs most.
func (s *Set) check() [][]uint64 {
	now := s.options.Clock()
	var total, most time.Duration
	var worst *probed
	for _, p := range s.probes {
		cost := s.count(p, now)
		if total += cost; cost > most {
			most, worst = cost, p
		}
	}
	if !s.limit.spend(total, now) || worst == nil {
		return nil
	}
	s.limit.forgive()
	if worst.log != nil {
		out := [][]uint64{s.entries(worst.function), worst.function.Returns}
		s.pause(worst, now)
		return out
	}
	return append(s.throttled(worst), s.needless()...)
}

// needless returns the instruments that were not asked for, if
// no other one is in any more.
func (s *Set) needless() (out [][]uint64) {
	if s.options.Keep || slices.ContainsFunc(s.probes,
		func(p *probed) bool { return p.in && !p.function.hidden }) {
		return nil
	}
	for _, p := range s.probes {
		if p.in {
			p.in, out = false, append(out, s.entries(p.function))
		}
	}
	return out
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
	cost = time.Duration(entered-p.entered) * s.calls.costs.entry
	p.entered, p.result.Calls, p.result.To = entered, entered, now
	if p.returns {
		left := uint64(0)
		for _, pc := range p.function.Returns {
			left += s.kernel.hits(pc)
		}
		cost += time.Duration(left-p.left) * s.calls.costs.ret
		p.left, p.result.ReturnsUpTo = left, now
	}
	p.result.Cost += cost
	return cost
}

// throttled returns which instruments of a function cost too
// much. If the entry alone is within the bound, these are the
// returns. The entry comes first, since one instrument is out at
// once, and the others follow.
func (s *Set) throttled(p *probed) (out [][]uint64) {
	since := p.result.To - p.result.From
	calls := fmt.Sprintf("%d calls in %v", p.entered, since.Round(time.Millisecond))
	entries := time.Duration(p.entered) * s.calls.costs.entry
	if p.returns && float64(entries) < s.options.MaxOverhead*float64(since) {
		p.returns = false
		p.untimed.Store(monotonic())
		p.result.Note = fmt.Sprintf("returns were taken out after %s, for %s: the mean time is from the number of calls and the samples", calls, s.bound())
		return [][]uint64{p.function.Returns}
	}
	p.result.TakenOut = true
	p.result.Note = fmt.Sprintf("taken out after %s, for %s: it is called at least so often", calls,
		s.bound())
	out = [][]uint64{s.entries(p.function)}
	if p.returns {
		out = append(out, p.function.Returns)
	}
	p.in, p.returns = false, false
	return out
}

// Results returns what was measured so far, in the order of the
// functions. Those whose calls are kept are left out.
func (s *Set) Results() []sampledata.Probe {
	s.recorded.Lock()
	defer s.recorded.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Clock()
	lost := s.calls.lost
	if !s.closed {
		lost = s.kernel.lost()
	}
	var list []sampledata.Probe
	for _, p := range s.probes {
		if !s.closed {
			s.count(p, now)
		}
		if p.function.hidden || p.log != nil {
			continue
		}
		r := p.result
		r.Lost = lost
		p.measured(&r, s.program.site)
		list = append(list, r)
	}
	return list
}
