package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// evidence is what the samples of a span say. Goroutines of one
// class that do the same are one situation, whenever they do it:
// hypotheses are tested on situations, and only their intervals
// need the samples one by one.
type evidence struct {
	r        *sampledata.Recording
	from, to int32 // the samples of the span
	weights  sampledata.Weights
	length   float64 // nanoseconds that the samples of the span stand for
	places   *places
	lockName func(sampledata.Run) string
	channels *locks.ChannelNames

	situations []*situation
	// by run: its situation, or -1 if it is not in the span; if
	// its time does not count, -2 minus the number of the
	// situation in uncounted
	of         []int32
	uncounted  []*situation
	classes    []class
	byName     map[string]int32
	runsOf     [][]int32                          // by goroutine, in their order; made by whom
	started    map[int64][]sampledata.GoroutineID // see startedBy
	shared     map[uint64]bool                    // see sharedChannels
	spins      map[spinner]bool                   // see spinners
	table      *metrics.Table                     // see monitors
	cpus       *views.CPUs
	processors float64 // mean number
	runtimes   float64 // mean number on which the runtime works for itself
}

// A situation is goroutines of one class that do the same.
type situation struct {
	stateOf
	weight float64 // nanoseconds, summed over the goroutines
	stays  int     // number of times that a goroutine came into it
}

// A stateOf identifies a situation. It has no holders, since a
// busy lock's holders change all the time. So a large recording
// has millions of states, but only thousands of situations.
type stateOf struct {
	class  int32
	state  state
	lock   string // the name of the lock that they wait for, if they are blocked
	idle   bool   // they wait for work
	still  bool   // they have not moved during the whole recording, and are not idle
	answer bool   // they wait for the answer to what they wrote to a connection
}

// A state is the part of a sampledata.State that hypotheses are about.
type state struct {
	Stack  sampledata.NodeID
	Doing  views.Doing
	Reason string // of a wait, in the runtime's words
	// the address of what a waiting goroutine waits for; 0 if not known
	Channel uint64
	Labels  sampledata.LabelSetID // 0 if there are more than mostLabelSets
}

// A class has the sums of a thread class.
type class struct {
	name       string
	goroutines int     // seen in the span
	ended      int     // of these: gone before the last sample
	life       float64 // nanoseconds, summed over the goroutines
	active     float64 // of it: what is not waiting for work
	sleeps     float64 // waiting for work in a sleep
	ticks      float64 // of it: until a timer's channel has a value, perhaps a ticker's
	still      float64 // not moved, and not waiting for work
	ready      float64 // waiting for a processor, or for a CPU
	locked     float64 // waiting for a lock, which is no rest
	runtimes   bool    // goroutines of the runtime, other than the main one
	collector  bool    // workers of the garbage collector
}

// mainClass is the class of the main goroutine.
const mainClass = "go:runtime.main"

// ends reports whether the goroutines of a class mostly end
// within the span: each lives for one piece of work.
func (c *class) ends() bool { return 2*c.ended > c.goroutines }

// manyEnds is how many goroutines of a class end at least if
// they are started for a piece of work each, and not just for
// one at a time.
const manyEnds = 20

// servesOne reports whether each of the many goroutines of a
// class lives for one piece of work, such as a request.
func (c *class) servesOne() bool { return c.ends() && c.ended >= manyEnds }

// newEvidence reads the samples of the span in the options.
func newEvidence(r *sampledata.Recording, o views.Options) (*evidence, error) {
	from, to, err := o.Span.Samples(r)
	if err != nil {
		return nil, fmt.Errorf("searching for what is slow: %w", err)
	}
	e := &evidence{
		r: r, from: from, to: to, weights: r.Weights(), places: newPlaces(r),
		lockName: locks.Namer(r, locks.ByField), channels: locks.NewChannelNames(r),
		of: make([]int32, r.Runs.Len()), byName: make(map[string]int32),
	}
	e.length = float64(e.weights.Of(int(from), int(to)))
	e.cpus = views.NewCPUs(r)
	e.readRuns(o)
	e.readSamples()
	return e, nil
}

func (e *evidence) readRuns(o views.Options) {
	classOf := views.ClassOf(e.r, o)
	waitsForWork, awaitsAnswer := views.WaitsFor(e.r, o)
	still, starts := views.HasNotMoved(e.r), views.Starts(e.r)
	var counted, uncounted intern.List[stateOf, int32]
	// the situation of the goroutine's last run, plus 1, and that run
	before := make([]int32, e.r.Goroutines.Len())
	lastRun := make([]int32, e.r.Goroutines.Len())
	lastClass := make([]int32, e.r.Goroutines.Len()) // plus 1
	for i, run := range e.r.Runs.All() {
		e.of[i] = -1
		first, last := max(run.First, e.from), min(run.Last, e.to-1)
		if first > last {
			continue
		}
		c := e.class(classOf(run), run)
		weight := float64(e.weights.Of(int(first), int(last)+1))
		k := stateOf{class: c, state: e.stateIn(run), idle: waitsForWork(run)}
		k.still = !k.idle && still(run.Goroutine)
		k.answer = !k.idle && awaitsAnswer(run)
		if k.state.Doing == views.AwaitingLock {
			k.lock = e.lockName(run)
		}
		if !e.r.Counts(i) { // others may wait for it
			at := uncounted.Number(k)
			if int(at) == len(e.uncounted) {
				e.uncounted = append(e.uncounted, &situation{stateOf: k})
			}
			e.of[i] = -2 - at
			continue
		}
		at := counted.Number(k)
		if int(at) == len(e.situations) {
			e.situations = append(e.situations, &situation{stateOf: k})
		}
		e.of[i] = at
		e.situations[at].weight += weight
		if before[run.Goroutine] != at+1 ||
			views.WaitsAgain(e.r.Runs.At(int(lastRun[run.Goroutine])), run) {
			e.situations[at].stays++
		}
		if k.state.Doing.Waits() {
			e.situations[at].stays += within(starts[e.r.Goroutines.At(run.Goroutine).ID], first, last)
		}
		before[run.Goroutine], lastRun[run.Goroutine] = at+1, int32(i)
		e.classes[c].count(e.situations[at], weight)
		if lastClass[run.Goroutine] != c+1 {
			lastClass[run.Goroutine] = c + 1
			e.classes[c].goroutines++
		}
	}
	e.countEnded(lastClass)
}

// within returns how many different samples of a sorted list are after the first
// of a run: so often it must have gone on and come back meanwhile.
func within(samples []int32, first, last int32) (n int) {
	from, _ := slices.BinarySearch(samples, first+1)
	for i := from; i < len(samples) && samples[i] <= last; i++ {
		if i == from || samples[i] != samples[i-1] {
			n++
		}
	}
	return n
}

func (e *evidence) stateIn(run sampledata.Run) state {
	s := state{Stack: run.Stack, Doing: views.DoingOf(run), Reason: run.Reason}
	if s.Doing.Waits() {
		s.Channel = run.Lock
	}
	if len(e.r.LabelSets) <= mostLabelSets {
		s.Labels = run.Labels
	}
	return s
}

func (c *class) count(s *situation, weight float64) {
	c.life += weight
	if s.still {
		c.still += weight
	}
	if s.state.Doing.Time() == views.Load {
		c.ready += weight
	}
	switch {
	case !s.idle:
		c.active += weight
		if s.state.Doing == views.AwaitingLock && !s.still {
			c.locked += weight
		}
	case s.state.Doing == views.Sleeping:
		c.sleeps += weight
		if views.OfChannelTimer(s.state.Reason) {
			c.ticks += weight
		}
	}
}

// class returns the number of a class.
func (e *evidence) class(name string, run sampledata.Run) int32 {
	if c, ok := e.byName[name]; ok {
		return c
	}
	c := int32(len(e.classes))
	e.byName[name] = c
	g := e.r.Goroutines.At(run.Goroutine)
	e.classes = append(e.classes, class{
		name: name, collector: g.GC, runtimes: g.GC ||
			strings.HasPrefix(name, "go:runtime.") && name != mainClass,
	})
	return c
}

// countEnded counts the goroutines that are gone before the span ends.
func (e *evidence) countEnded(lastClass []int32) {
	last := make([]int32, e.r.Goroutines.Len())
	for _, run := range e.r.Runs.All() {
		last[run.Goroutine] = max(last[run.Goroutine], run.Last)
	}
	for g, c := range lastClass {
		if c > 0 && last[g] < e.to-1 {
			e.classes[c-1].ended++
		}
	}
}

// in returns the situation of a run in the span, given its entry in of.
func (e *evidence) in(of int32) *situation {
	if of < 0 {
		return e.uncounted[-2-of]
	}
	return e.situations[of]
}

// readSamples sums up the processors.
func (e *evidence) readSamples() {
	var all, runtimes float64
	for s := e.from; s < e.to; s++ {
		weight := float64(e.weights.Of(int(s), int(s)+1))
		all += weight * float64(e.cpus.Processors[s])
		runtimes += weight * float64(e.cpus.Runtime[s])
	}
	e.processors, e.runtimes = e.mean(all), e.mean(runtimes)
}

// mean returns the mean number of goroutines that a weight stands for.
func (e *evidence) mean(weight float64) float64 {
	if e.length == 0 {
		return 0
	}
	return weight / e.length
}

// meanActive returns the mean number of the program's goroutines
// that do not wait for work.
func (e *evidence) meanActive() (mean float64) {
	for i := range e.classes {
		if c := &e.classes[i]; !c.runtimes {
			mean += e.mean(c.active)
		}
	}
	return mean
}

// A question asks for the share that some situations have in
// others, sample by sample. Without a base, they are a share of
// the processors.
type question struct {
	hit, base func(*situation) bool
}

// observe answers questions. The answers have one observation for each sample
// of the span.
func (e *evidence) observe(questions []question) [][]hotspots.Observation {
	all := make([][]hotspots.Observation, len(questions))
	for q := range questions {
		all[q] = make([]hotspots.Observation, e.to-e.from+1)
	}
	hits, bases := e.concerned(questions)
	for i, run := range e.r.Runs.All() {
		s := e.of[i]
		if s < 0 {
			continue
		}
		first, end := max(run.First, e.from)-e.from, min(run.Last+1, e.to)-e.from
		for _, q := range hits[s] {
			all[q][first].Hits++
			all[q][end].Hits--
		}
		for _, q := range bases[s] {
			all[q][first].Base++
			all[q][end].Base--
		}
	}
	for q := range all {
		all[q] = e.cumulate(all[q], questions[q].base == nil)
	}
	return all
}

// concerned returns, for each situation, the questions that it
// is a hit of, and those that it is a base of.
func (e *evidence) concerned(questions []question) (hits, bases [][]int) {
	hits, bases = make([][]int, len(e.situations)), make([][]int, len(e.situations))
	for i, s := range e.situations {
		for q := range questions {
			if questions[q].hit(s) {
				hits[i] = append(hits[i], q)
			}
			if base := questions[q].base; base != nil && base(s) {
				bases[i] = append(bases[i], q)
			}
		}
	}
	return hits, bases
}

// cumulate turns the differences from one sample to the next into observations.
func (e *evidence) cumulate(steps []hotspots.Observation,
	ofProcessors bool) []hotspots.Observation {
	hits, base := 0.0, 0.0
	for i := range steps[:len(steps)-1] {
		o, s := &steps[i], e.from+int32(i)
		hits, base = hits+o.Hits, base+o.Base
		*o = hotspots.Observation{Weight: float64(e.weights.Of(int(s), int(s)+1)), Hits: hits,
			Base: base}
		if ofProcessors {
			o.Base = float64(e.cpus.Processors[s])
		}
	}
	return steps[:len(steps)-1]
}

// time returns the time of a sample since the recording's start.
func (e *evidence) time(s int32) time.Duration {
	n := e.r.Samples.Len()
	if n == 0 {
		return 0
	}
	return e.r.Samples.Time(min(int(s), n-1))
}

// name returns the name of a situation's class.
func (e *evidence) name(s *situation) string { return e.classes[s.class].name }

// usesCPU reports whether a situation is on a CPU.
func (s *situation) usesCPU() bool { return s.state.Doing == views.Executing }

// lacksCPU reports whether it is on a processor without a CPU.
func (s *situation) lacksCPU() bool { return s.state.Doing == views.WithoutCPU }

// waits reports whether a situation waits for something that is
// no lock, and that is not work.
func (s *situation) waits() bool {
	return !s.idle && s.state.Doing.Waits()
}

// atChannels returns the classes that were seen to wait at each channel.
func (e *evidence) atChannels() map[uint64][]int32 {
	peers := make(map[uint64][]int32)
	for _, at := range e.situations {
		c := at.state.Channel
		if c != 0 && at.state.Doing.OfChannel() && !slices.Contains(peers[c], at.class) {
			peers[c] = append(peers[c], at.class)
		}
	}
	return peers
}
