package weighted

import (
	"math/big"
	"slices"
)

// A part is a fraction of one hit, with the frames below the root.
type part struct {
	frames []string
	hits   *big.Rat
	runs   bool // :RUN of the goroutine itself
}

// parts divides the hit of a thread by its typed time.
func (s *sample) parts(t *thread, accounting string) (all []part) {
	var below []part
	switch t.State {
	case "wait":
		below = []part{{frames: []string{":WAIT", ":" + t.Reason}, hits: big.NewRat(1, 1)}}
	case "monitor":
		below = s.monitor(t, accounting)
	default:
		below = s.compete(t, accounting)
	}
	for _, p := range below {
		all = append(all, part{append(slices.Clone(t.Frames), p.frames...), p.hits, p.runs})
	}
	return all
}

func (s *sample) monitor(t *thread, accounting string) (all []part) {
	if t.Holder == nil {
		return []part{{frames: []string{":MONITOR", ":unknown-holder"}, hits: big.NewRat(1, 1)}}
	}
	holder := s.Threads[*t.Holder]
	for _, p := range s.parts(holder, accounting) {
		all = append(all, part{frames: append([]string{":MONITOR", holder.Class}, p.frames...),
			hits: p.hits})
	}
	return all
}

// compete divides the hit of a thread that runs or could run.
func (s *sample) compete(t *thread, accounting string) (all []part) {
	if accounting == "observed" {
		return s.observed(t)
	}
	var higher, equal []*thread
	for _, o := range s.Threads {
		switch {
		case o.State != "running" && o.State != "runnable", o == t:
		case o.Priority > t.Priority:
			higher = append(higher, o)
		case o.Priority == t.Priority:
			equal = append(equal, o)
		}
	}
	processors := s.Processors
	if accounting == "single" {
		processors = 1
	}
	left, share := processors-len(higher), int64(len(equal)+1)
	if left <= 0 {
		for _, o := range higher {
			all = append(all, part{frames: []string{":PRIO", o.Class},
				hits: big.NewRat(1, int64(len(higher)))})
		}
		return all
	}
	run := big.NewRat(min(int64(left), share), share)
	all = append(all, part{[]string{":RUN"}, run, true})
	rest := new(big.Rat).Sub(big.NewRat(1, 1), run)
	for _, o := range equal {
		if rest.Sign() > 0 {
			all = append(all, part{frames: []string{":LOAD", o.Class},
				hits: new(big.Rat).Quo(rest, big.NewRat(share-1, 1))})
		}
	}
	return all
}

// observed divides the hit by who holds the processors: the
// running threads, and nobody has the rest.
func (s *sample) observed(t *thread) (all []part) {
	if t.State == "running" {
		return []part{{[]string{":RUN"}, big.NewRat(1, 1), true}}
	}
	each := big.NewRat(1, int64(s.Processors))
	idle := s.Processors
	for _, o := range s.Threads {
		if o.State != "running" {
			continue
		}
		idle--
		typed := ":LOAD"
		if o.Priority > t.Priority {
			typed = ":PRIO"
		}
		all = append(all, part{frames: []string{typed, o.Class}, hits: each})
	}
	for range idle {
		all = append(all, part{frames: []string{":LOAD", ":idle-processor"}, hits: each})
	}
	return all
}
