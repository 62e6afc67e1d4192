package views

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Visitor is called for each sample of a recording: End for
// each goroutine that leaves a state, Begin for each one that
// enters a state, then Sample. Consecutive samples that differ
// only in their time are one call of Sample.
type Visitor interface {
	// run i lasts for a number of samples from first
	Begin(i int32, run sampledata.Run, first, samples int32) (wantEnd bool)
	// the run ended with the sample before
	End(run sampledata.Run)
	// sample s, and the like ones after it; alike counts all of them
	Sample(s, alike int32) error
}

// Walk calls a visitor for the samples [from, to). Longer runs
// are clipped. An error of the visitor ends the walk.
func Walk(r *sampledata.Recording, from, to int32, v Visitor) error {
	if from >= to {
		return nil
	}
	// by sample: the first of a list in open of the runs that end with it
	ends := make([]int32, to-from)
	var open openRuns
	ended := make([]bool, to-from) // by sample: some run ends with it
	next, allowed := 0, allowedCPUs(r)
	for s := from; s < to; {
		if s > from {
			for e := ends[s-1-from]; e > 0; {
				var run sampledata.Run
				run, e = open.take(e)
				v.End(run)
			}
		}
		until := to
		for ; next < r.Runs.Len(); next++ {
			run := r.Runs.At(next)
			if run.First > s {
				until = min(to, run.First)
				break
			}
			last := run.Last
			if last < s {
				continue
			}
			wantEnd := v.Begin(int32(next), run, s, min(last+1, to)-s)
			if last < to {
				ended[last-from] = true
			}
			if wantEnd && last < to {
				ends[last-from] = open.put(run, ends[last-from])
			}
		}
		this, alike := r.Samples.At(int(s)), int32(1)
		for s+alike < until && !ended[s+alike-1-from] &&
			sameProcessors(this, r.Samples.At(int(s+alike))) && allowed.same(s, s+alike) {
			alike++
		}
		if err := v.Sample(s, alike); err != nil {
			return err
		}
		s += alike
	}
	return nil
}

// openRuns has the runs that have begun, if a visitor wants to
// know their ends. They are linked lists: each run has the
// number of the next one, and 0 ends a list. There are hardly
// more open runs than goroutines at a time.
type openRuns struct {
	list []openRun // of number 1 and up
	free int32     // the first of a list of those that are not used
}

type openRun struct {
	sampledata.Run
	next int32
}

// put adds a run before a list, and returns its number.
func (o *openRuns) put(run sampledata.Run, next int32) int32 {
	if o.free == 0 {
		o.list = append(o.list, openRun{})
		o.free = int32(len(o.list))
	}
	n := o.free
	at := &o.list[n-1]
	o.free = at.next
	*at = openRun{run, next}
	return n
}

// take removes the first run of a list, and returns it and the
// rest of the list.
func (o *openRuns) take(n int32) (run sampledata.Run, next int32) {
	at := &o.list[n-1]
	run, next = at.Run, at.next
	at.next, o.free = o.free, n
	return run, next
}

// sameProcessors reports whether two samples divide time in the same way,
// apart from their runs.
func sameProcessors(a, b sampledata.Sample) bool {
	return a.StoppedWorld == b.StoppedWorld && slices.Equal(a.Processors, b.Processors)
}

// Samples returns the samples [from, to) of a span.
func (s Span) Samples(r *sampledata.Recording) (from, to int32, err error) {
	if s.From < 0 || s.To < 0 || s.To != 0 && s.To < s.From {
		return 0, 0, fmt.Errorf("time span from %v to %v: want offsets from the recording's start, the earlier first", s.From, s.To)
	}
	first, end := r.Samples.Search(s.From), r.Samples.Len()
	if s.To != 0 {
		end = r.Samples.Search(s.To)
	}
	return int32(first), int32(max(first, end)), nil
}
