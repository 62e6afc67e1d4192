package views

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Visitor is called for each sample of a recording: End for each goroutine that leaves a state, Begin for each one
// that enters a state, then Sample. Consecutive samples that differ only in their time are one call of Sample.
type Visitor interface {
	Begin(i int32, run sampledata.Run, first, samples int32) (wantEnd bool) // run i lasts for a number of samples from first
	End(run sampledata.Run)                                                 // the run ended with the sample before
	Sample(s, alike int32) error                                            // sample s, and the like ones after it; alike counts all of them
}

// Walk calls a visitor for the samples [from, to). Longer runs are clipped. An error of the visitor ends the walk.
func Walk(r *sampledata.Recording, from, to int32, v Visitor) error {
	if from >= to {
		return nil
	}
	// The runs that end with sample s, and whose end the visitor wants to know, are a linked list: ends[s-from] is the
	// first run, and chained[run] the one after a run. Each is stored plus 1, so that 0 ends the list.
	ends := make([]int32, to-from)
	chained := make([]int32, r.Runs.Len())
	ended := make([]bool, to-from) // by sample: some run ends with it
	next := 0
	for s := from; s < to; {
		if s > from {
			for e := ends[s-1-from]; e > 0; e = chained[e-1] {
				v.End(r.Runs.At(int(e - 1)))
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
				chained[next] = ends[last-from]
				ends[last-from] = int32(next) + 1
			}
		}
		this, alike := r.Samples.At(int(s)), int32(1)
		for s+alike < until && !ended[s+alike-1-from] && sameProcessors(this, r.Samples.At(int(s+alike))) {
			alike++
		}
		if err := v.Sample(s, alike); err != nil {
			return err
		}
		s += alike
	}
	return nil
}

// sameProcessors reports whether two samples divide time in the same way, apart from their runs.
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
