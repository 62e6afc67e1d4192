package views

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Visitor is told what goes on in a recording, sample by sample: who leaves a state, who enters one, and then
// that all of the sample is told. Samples that differ in nothing but their time are told as one.
type Visitor interface {
	Begin(run int32, first, samples int32) (tellEnd bool) // the run lasts for so many samples from first
	End(run int32)                                        // the run ended with the sample before
	Sample(s, alike int32) error                          // sample s, and as many as are alike with it, itself included
}

// Walk takes a visitor through the samples [from, to). Runs are numbers of r.Runs; those that reach beyond are clipped.
// An error of the visitor ends the walk.
func Walk(r *sampledata.Recording, from, to int32, v Visitor) error {
	if from >= to {
		return nil
	}
	// The runs that end with sample s, and whose end the visitor wants to know, are a linked list: ends[s-from] is the first,
	// chained[run] the one after a run, each plus 1, so that 0 ends the list.
	ends := make([]int32, to-from)
	chained := make([]int32, r.Runs.Len())
	ended := make([]bool, to-from) // by sample: some run ends with it
	next := 0
	for s := from; s < to; {
		if s > from {
			for e := ends[s-1-from]; e > 0; e = chained[e-1] {
				v.End(e - 1)
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
			tell := v.Begin(int32(next), s, min(last+1, to)-s)
			if last < to {
				ended[last-from] = true
			}
			if tell && last < to {
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

// sameProcessors reports whether two samples divide time alike, as far as that is not a matter of runs.
func sameProcessors(a, b sampledata.Sample) bool {
	return a.StoppedWorld == b.StoppedWorld && slices.Equal(a.Processors, b.Processors)
}

// Samples returns the samples [from, to) that lie in a span.
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
