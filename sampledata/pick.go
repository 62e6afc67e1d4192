package sampledata

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Picked says which samples of another recording a recording has.
type Picked struct {
	List string // what the samples have in common: "rate(gc.cycles) > 0"
	Of   int    // number of samples of the other recording

	numbers []int32 // by sample, in the other recording
}

// Breaks reports whether samples were left out between a sample
// and the one before it. The sample may be the number of all: it
// then stands for the end of the recording.
func (p *Picked) Breaks(sample int) bool {
	next := p.Of
	if sample < len(p.numbers) {
		next = int(p.numbers[sample])
	}
	return sample > 0 && next != int(p.numbers[sample-1])+1
}

// Pick returns a recording that has only the samples for which
// keep is true, for analyses of a part of a recording. A sample
// keeps its time, its weight and its measured values. Functions,
// nodes and other things keep their codes. Check must accept the
// recording. The result is not written to files: its Picked,
// which has the given name, would be lost.
//
// For example, the samples 0 to 3 stand for 10, 15, 20 and 15
// ms. Samples 1 and 3 are kept. They become the samples 0 and 1,
// and stand for 15 ms each.
func (r *Recording) Pick(list string, keep func(sample int) bool) (*Recording, error) {
	p := &picker{Builder: NewBuilder(r.Header), weights: r.Weights(),
		latest: make(map[GoroutineID]Change)}
	p.kept = make([]int32, 1, r.Samples.Len()+1)
	for i := range r.Samples.Len() {
		n := p.kept[i]
		if keep(i) {
			n++
		}
		p.kept = append(p.kept, n)
	}
	if err := r.replay(p); err != nil {
		return nil, fmt.Errorf("pick samples: %w", err)
	}
	for _, n := range p.lockNames(r.LockNames) {
		p.Builder.LockName(n)
	}
	p.takeCalls()
	picked := p.recording(p.runs.list)
	picked.Picked = &Picked{list, r.Samples.Len(), p.numbers}
	return picked, nil
}

// A picker passes on the samples that are kept. It collects what
// changes in the others.
type picker struct {
	*Builder
	weights Weights
	sample  int // the next one
	// by sample, and one more: number of those before it that are kept
	kept    []int32
	latest  map[GoroutineID]Change // since the last sample that was kept
	changes []Change
	numbers []int32 // of the samples that are kept
}

// LockName does nothing: the names are added at the end.
func (p *picker) LockName(LockName) {}

func (p *picker) Sample(s Sample, changes []Change) error {
	i := p.sample
	p.sample++
	for _, c := range changes {
		p.latest[c.Goroutine] = c
	}
	if p.kept[i+1] == p.kept[i] {
		return nil
	}
	p.changes = slices.AppendSeq(p.changes[:0], maps.Values(p.latest))
	clear(p.latest)
	p.numbers = append(p.numbers, int32(i))
	s.Weight = time.Duration(p.weights.Of(i, i+1))
	return p.Builder.Sample(s, p.changes)
}

// lockNames returns the names that locks have in samples that
// are kept. If a lock gets several names from one of these on,
// the last one counts.
func (p *picker) lockNames(names []LockName) []LockName {
	var list []LockName
	for _, n := range names {
		if n.First = p.kept[n.First]; n.First < p.kept[p.sample] {
			list = append(list, n)
		}
	}
	return latestNames(list)
}
