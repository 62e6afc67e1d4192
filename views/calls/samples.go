package calls

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A follower follows a goroutine through the samples.
type follower struct {
	open    bool
	call    Call
	key     int32
	last    int32          // the last sample in the function; -1 before the first
	outside int32          // number of samples outside of it since then, or before the call
	before  int32          // the last sample before the call that shows it outside, or without the goroutine
	unknown int32          // the last sample that says nothing
	run     sampledata.Run // the last one in the call
	wait    sampledata.Run // the last one in it in which the goroutine waited
	waited  bool           // there is one
	moved   bool           // the goroutine was not only in that wait

	seen, inside, calls int32 // samples of the goroutine, those in the function, and calls
}

// see notes what a run shows of the call.
func (f *follower) see(run sampledata.Run) {
	does := views.DoingOf(run)
	waits := does.Waits() || does == views.AwaitingLock
	stays := f.waited && f.run == f.wait && !views.Moved(f.wait, run)
	f.call.Several = f.call.Several || waits && f.waited && !stays && run.Stack == f.wait.Stack
	f.moved = f.moved || !waits || f.waited && !stays
	if f.run = run; waits {
		f.wait, f.waited = run, true
	}
}

// A shown is what a run shows of a call.
type shown struct {
	inside bool
	key    int32 // another call has another one, if it follows at once
}

// shows finds calls in runs.
type shows struct {
	// in returns what a run shows, and false if that is not known
	in func(sampledata.Run) (one shown, known bool)
	// mark says more of a call, given the key of its first run
	mark func(c *Call, key int32)
	// calls that follow one another may look like one
	joins func(key int32) bool
}

// stacks shows the calls of the function.
func (t *Table) stacks() shows {
	return shows{
		in: func(run sampledata.Run) (one shown, known bool) {
			if run.Stack == sampledata.NoStack || run.Torn {
				return one, false
			}
			at := t.outermost[run.Stack]
			if at == sampledata.NoStack {
				return one, true
			}
			return shown{true, int32(t.recording.Nodes[at].Parent)}, true
		},
		mark: func(c *Call, key int32) { c.Site = t.site(sampledata.NodeID(key)) },
		// a goroutine calls its first function once
		joins: func(key int32) bool { return sampledata.NodeID(key) != sampledata.NoStack },
	}
}

// sample finds the calls by the samples alone: consecutive
// samples of one goroutine with the function on its stack,
// called by the same callers at the same lines. A call begins
// and ends halfway between a sample in it and the one outside.
//
// Samples can't tell two things. A goroutine that returned, and
// called the function again from the same place before the next
// sample, seems to be in one call: Touching says how likely that
// is. A call between two samples is not seen.
//
// A torn stack says nothing: what is seen before and after it decides.
func (t *Table) sample(show shows) {
	r := t.recording
	weights, end := r.Weights(), int32(r.Samples.Len())-1
	all := make([]follower, r.Goroutines.Len())
	for g := range all {
		all[g].last = -1
	}
	var touched, returned time.Duration
	finish := func(f *follower, after int32) { // the first sample that shows it outside
		c := f.call
		c.Last = f.last
		c.CutBegin, c.CutEnd = f.before < 0, after > end
		c.Begin = r.Begins(int(c.First))
		c.End = c.Begin + time.Duration(weights.Of(int(c.First), int(c.Last)+1))
		c.Took = seen(r, &c, f.before, after)
		c.Short = c.First == c.Last
		joins := show.joins != nil && show.joins(f.key)
		c.Several = joins && !c.Short && (c.Several || c.CutBegin && c.CutEnd && f.moved)
		f.calls++
		t.Calls = append(t.Calls, c)
		if f.outside > 0 {
			returned += c.Length()
		}
		if f.outside == 1 {
			touched += c.Length()
		}
		f.open, f.outside, f.before = false, 0, f.last
	}
	met := make([]bool, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		f := &all[run.Goroutine]
		if !met[run.Goroutine] {
			met[run.Goroutine], f.before = true, run.First-1
		}
		one, known := show.in(run)
		if !known {
			f.unknown = run.Last
			continue
		}
		f.seen += run.Last - run.First + 1
		if !one.inside {
			if f.open {
				finish(f, run.First)
			}
			f.before = run.Last
			if f.last >= 0 {
				f.outside += run.Last - run.First + 1
			}
			continue
		}
		if f.open && f.key != one.key {
			finish(f, run.First)
		}
		if !f.open {
			f.open, f.key, f.waited, f.moved = true, one.key, false, false
			f.call = Call{Goroutine: run.Goroutine, First: run.First,
				ID: r.Goroutines.At(run.Goroutine).ID}
			show.mark(&f.call, one.key)
		}
		f.see(run)
		f.last = run.Last
		f.inside += run.Last - run.First + 1
	}
	for g := range all {
		if f := &all[g]; f.open {
			finish(f, max(f.last, f.unknown)+1)
		}
	}
	t.findChance(all)
	if returned > 0 {
		t.Touching = float64(touched) / float64(returned)
	}
}

// seen returns how long a call took by its samples: it was under
// way in these, and not in one before, and one after.
func seen(r *sampledata.Recording, c *Call, before, after int32) Range {
	from, to := c.Begin, c.End
	if !c.CutBegin {
		from = r.Samples.Time(int(before))
	}
	if !c.CutEnd {
		to = r.Samples.Time(int(after))
	}
	return Range{r.Samples.Time(int(c.Last)) - r.Samples.Time(int(c.First)), to - from}
}

// findChance finds the calls of several samples that are as long
// as chance makes calls look. A goroutine with one call tells
// nothing.
func (t *Table) findChance(all []follower) {
	var repeat []follower
	length := func(c *Call) int { return int(c.Last-c.First) + 1 }
	repeats := func(f *follower) bool { return f.calls > 1 && f.inside < f.seen }
	for i := range all {
		if repeats(&all[i]) {
			repeat = append(repeat, all[i])
		}
	}
	samples, long := make(map[int]int), 0 // those in calls of each length
	for i := range t.Calls {
		if c := &t.Calls[i]; !c.Short && repeats(&all[c.Goroutine]) {
			samples[length(c)] += length(c)
			long += length(c)
		}
	}
	chance, seen := 0, 0.0 // seen are the calls that are at least so long
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(samples))) {
		seen += float64(samples[n]) / float64(n)
		expected := 0.0
		for i := range repeat {
			f := &repeat[i]
			expected += float64(f.calls) * math.Pow(float64(f.inside)/float64(f.seen), float64(n-1))
		}
		if seen <= 2*expected+0.5 {
			chance += samples[n]
			t.ByChance = max(t.ByChance, n)
		}
	}
	t.Chance = float64(chance) / float64(max(long, 1))
}

// site returns the place of a call.
func (t *Table) site(n sampledata.NodeID) (c sampledata.Call) {
	if n != sampledata.NoStack {
		node := t.recording.Nodes[n]
		f := t.recording.Functions[node.Function]
		c = sampledata.Call{Function: f.Name, File: f.File, Line: node.Line}
	}
	return c
}
