package sampledata

import (
	"cmp"
	"slices"
)

// A Stretch is some consecutive samples of a goroutine, both ends included.
type Stretch struct {
	Goroutine   GoroutineID
	First, Last int32
}

// Restricted says which time of goroutines counts in a
// recording. The other goroutines are there as ever: they hold
// locks and processors.
type Restricted struct {
	List      string // what the stretches have in common: "main.handle > p99"
	Stretches int

	counts []bool // by run
}

// Restrict returns the recording with only the time of some
// stretches, for analyses of a part of a recording. They may be
// in any order, and may overlap. Runs are divided where a
// stretch begins or ends. The result shares memory with the
// recording. It is not written to files: its Restricted, which
// has the given name, would be lost.
func (r *Recording) Restrict(list string, stretches []Stretch) *Recording {
	of := make([][]Stretch, r.Goroutines.Len())
	for _, s := range stretches {
		of[s.Goroutine] = append(of[s.Goroutine], s)
	}
	for g := range of {
		of[g] = merged(of[g])
	}
	type piece struct {
		plainRun
		counts bool
	}
	var pieces []piece
	for i := range r.Runs.Len() {
		run := r.Runs.list.at(i)
		all := of[run.goroutine]
		for len(all) > 0 && all[0].Last < run.first {
			all = all[1:]
		}
		of[run.goroutine] = all // the runs of a goroutine are in order
		for _, s := range all {
			if s.First > run.last {
				break
			}
			if run.first < s.First {
				before := run
				before.last, run.first = s.First-1, s.First
				pieces = append(pieces, piece{before, false})
			}
			within := run
			within.last = min(run.last, s.Last)
			pieces = append(pieces, piece{within, true})
			run.first = within.last + 1
		}
		if run.first <= run.last {
			pieces = append(pieces, piece{run, false})
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.goroutine, b.goroutine))
	})
	only := *r
	only.Runs = Runs{states: r.Runs.states}
	only.Restricted = &Restricted{list, len(stretches), make([]bool, len(pieces))}
	for i, p := range pieces {
		only.Runs.list.add(p.plainRun)
		only.Restricted.counts[i] = p.counts
	}
	return &only
}

// merged returns the stretches of a goroutine in order, without overlap.
func merged(all []Stretch) []Stretch {
	slices.SortFunc(all, func(a, b Stretch) int { return cmp.Compare(a.First, b.First) })
	var list []Stretch
	for _, s := range all {
		if n := len(list); n > 0 && s.First <= list[n-1].Last {
			list[n-1].Last = max(list[n-1].Last, s.Last)
			continue
		}
		list = append(list, s)
	}
	return list
}

// Counts reports whether the time of a run counts, given its number.
func (r *Recording) Counts(run int) bool { return r.Restricted == nil || r.Restricted.counts[run] }
