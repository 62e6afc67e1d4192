//go:build linux

package main

import (
	"fmt"
	"iter"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A measure is a share of a class's lifetime that both a
// recording and a trace know.
type measure uint8

const (
	shareRun measure = iota
	shareBusy
	shareReady
	shareLock
	shareWait
	numMeasures
)

var measures = [numMeasures]struct {
	name string

	// The states in a trace. Their share is at least the share
	// of the states in least, and at most the share of the
	// states in most.
	least, most []state
}{
	shareRun:   {"run", []state{running}, []state{running, calling}},
	shareBusy:  {"busy", []state{running, calling}, []state{running, calling}},
	shareReady: {"ready", []state{ready}, []state{ready}},
	shareLock:  {"lock", []state{locked}, []state{locked}},
	shareWait:  {"wait", []state{waiting}, []state{waiting}},
}

// A recorded is what a recording says, as cpprof's views have it.
type recorded struct {
	*sampledata.Recording
	options views.Options
	from    int32 // the first sample of the time that was traced
	begin   int64 // of the time that the samples stand for, in nanoseconds since 1970
	end     int64
	classes []views.ClassSummary
	moments []int64   // of the samples, in nanoseconds since 1970
	weights []float64 // of the samples: the time that they stand for, in nanoseconds

	onCPU map[string]float64 // by class: the share of :RUN

	// By class and sample: how many of its goroutines each
	// measure counts, and how many there are.
	counts map[string]*[numMeasures][]float64
	alive  map[string][]float64
	using  []float64 // by sample: goroutines that use a CPU
	own    []float64 // by sample: processors that the runtime uses for itself
	byID   map[int64]string
}

// readRecorded reads the part of a recording that lies between two times.
func readRecorded(path string, first, last time.Time) (*recorded, error) {
	r, err := sampledata.Open(path)
	if err != nil {
		return nil, err
	}
	o := views.Options{Span: views.Span{From: max(0, first.Sub(r.Header.Start)), To: last.Sub(r.Header.Start)}}
	from, to, err := o.Span.Samples(r)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	n := int(to - from)
	if n < 10 {
		return nil, fmt.Errorf("recording %s: %d samples within the trace: too few to compare; record for longer, or when the machine is less busy", path, n)
	}
	rec := &recorded{
		Recording: r, options: o, from: from, onCPU: map[string]float64{}, counts: map[string]*[numMeasures][]float64{}, alive: map[string][]float64{},
		using: make([]float64, n), own: make([]float64, n), byID: map[int64]string{},
	}
	if rec.classes, err = views.Classes(r, o); err != nil {
		return nil, err
	}
	weights := r.Weights()
	for i := range n {
		s := r.Samples.At(int(from) + i)
		rec.moments = append(rec.moments, r.Header.Start.Add(s.Time).UnixNano())
		rec.weights = append(rec.weights, float64(weights.Of(int(from)+i, int(from)+i+1)))
		for _, p := range s.Processors {
			if p == sampledata.SystemProcessor {
				rec.own[i]++
			}
		}
	}
	// A sample stands for the time around it, halfway to its neighbours.
	rec.begin = rec.moments[0] - int64(rec.weights[0]) + (rec.moments[1]-rec.moments[0])/2
	rec.end = rec.moments[n-1] + int64(rec.weights[n-1]) - (rec.moments[n-1]-rec.moments[n-2])/2
	rec.count()
	return rec, nil
}

// count fills the counts.
func (r *recorded) count() {
	classOf := views.ClassOf(r.Recording, r.options)
	for _, run := range r.Runs.All() {
		class := classOf(run)
		r.byID[r.Goroutines.At(run.Goroutine).ID] = class
		if r.alive[class] == nil {
			r.alive[class] = make([]float64, len(r.moments))
			r.counts[class] = new([numMeasures][]float64)
			for m := range numMeasures {
				r.counts[class][m] = make([]float64, len(r.moments))
			}
		}
		for s := range r.samplesOf(run) {
			r.alive[class][s]++
			for _, m := range measuresOf(run.State()) {
				r.counts[class][m][s]++
			}
			if executes := run.Run == sampledata.Running || run.Run == sampledata.Detached; executes && !run.NoCPU {
				r.using[s]++
			}
		}
	}
}

// sure returns the weights of the samples, with 0 for those at
// whose moments the trace does not know what happened.
func (r *recorded) sure(t *traced) []float64 {
	sure := make([]float64, len(r.weights))
	for i, w := range r.weights {
		if t.isSure(r.moments[i]) {
			sure[i] = w
		}
	}
	return sure
}

// without returns by how much a share of a class changes if the
// samples have other weights.
func (r *recorded) without(class string, m measure, weights []float64) float64 {
	share := func(weights []float64) float64 {
		alive := mean(r.alive[class], weights)
		if alive == 0 {
			return 0
		}
		return mean(r.counts[class][m], weights) / alive
	}
	return share(weights) - share(r.weights)
}

// samplesOf returns the samples of a run that are within the
// trace, counted from the first of these.
func (r *recorded) samplesOf(run sampledata.Run) iter.Seq[int] {
	return func(yield func(int) bool) {
		for s := max(run.First, r.from); s <= run.Last && int(s-r.from) < len(r.moments); s++ {
			if !yield(int(s - r.from)) {
				return
			}
		}
	}
}

// measuresOf returns the measures that count a state.
func measuresOf(s sampledata.State) []measure {
	switch {
	case s.Run == sampledata.Running, s.Run == sampledata.Detached:
		return []measure{shareRun, shareBusy}
	case s.Run == sampledata.Waiting && s.Reason == "syscall":
		return []measure{shareBusy}
	case s.Run == sampledata.Runnable:
		return []measure{shareReady}
	case s.Run == sampledata.Blocked:
		return []measure{shareLock}
	}
	return []measure{shareWait}
}

// stateOfRun returns the state in a trace that fits a state in a
// recording best.
func stateOfRun(s sampledata.State) state {
	switch measuresOf(s)[0] {
	case shareRun:
		return running
	case shareBusy:
		return calling
	case shareReady:
		return ready
	case shareLock:
		return locked
	}
	return waiting
}

// shares returns the measures of a class, from its Thread View.
func (r *recorded) shares(class string) (all [numMeasures]float64, err error) {
	v, err := views.Thread(r.Recording, class, r.options)
	if err != nil {
		return all, err
	}
	for path, cost := range typedCosts(v.Tree) {
		switch path {
		case ":RUN":
			all[shareRun] += cost
			all[shareBusy] += cost
			r.onCPU[class] += cost
		case ":LOAD :no-CPU":
			all[shareRun] += cost
			all[shareBusy] += cost
			all[shareReady] -= cost
		case ":WAIT :syscall":
			all[shareBusy] += cost
			all[shareWait] -= cost
		case ":LOAD", ":PRIO":
			all[shareReady] += cost
		case ":MONITOR":
			all[shareLock] += cost
		case ":WAIT":
			all[shareWait] += cost
		}
	}
	return all, nil
}

// typedCosts returns the costs of the typed times of a class's
// own goroutines, and of what is right below them: ":WAIT" and
// ":WAIT :syscall".
func typedCosts(t *calltree.Tree) map[string]float64 {
	costs := map[string]float64{}
	m, parents, funcs := t.Main(), t.Parents(), t.Funcs()
	within := make([]string, t.Len()) // the path of the nearest typed time above or at a node
	for n := 1; n < t.Len(); n++ {
		name := t.Symbols().Name(funcs[n])
		above := within[parents[n]]
		_, typed := views.ParseTypedTime(name)
		switch {
		case above == "" && typed:
			within[n] = name
		case above == "":
			continue
		case above == t.Symbols().Name(funcs[parents[n]]):
			within[n] = above + " " + name
		default:
			within[n] = above + " ..."
			continue
		}
		cost, _ := m.Cost(m.Cum(int32(n))).Float64()
		costs[within[n]] += cost
	}
	return costs
}
