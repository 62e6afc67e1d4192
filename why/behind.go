package why

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A recording names who ends a wait only if the sampler had time to look.
// Whoever ends it may wait for others in turn.

// The least share of the waits for which somebody is named, if these stand
// for the others: of a finding, and of those that it waits for.
const (
	leastNamed       = minCandidates
	leastNamedBehind = 0.1
)

// addUnnamed adds causes to waits for channels for which nobody is named.
// If those that are named for others with the same stacks are of one
// class, its goroutines may end these, too.
func (b *blamed) addUnnamed(unnamed []sampledata.Run, least float64) {
	by, named := make(map[string]float64), 0.0
	for d, w := range b.weight {
		if d.certain == Candidate {
			by[d.class] += w
			named += w
		}
	}
	class, exists := b.e.byName[append(ordered(by), "")[0]]
	if !exists || named < least*b.total || by[b.e.classes[class].name] < mostOf*named {
		return
	}
	unnamed = slices.DeleteFunc(unnamed, func(run sampledata.Run) bool { return !b.stacks[run.Stack] })
	spans, waits, long, does := []phase(nil), 0.0, 0.0, 0.0
	for _, run := range unnamed {
		spans = append(spans, phase{run.First, run.Last + 1})
		waits += b.e.between(run.First, run.Last)
	}
	spans = union(spans)
	for _, s := range spans {
		long += b.e.between(s.from, s.to-1)
	}
	its := func(at *situation) bool { return at.class == class }
	for run := range b.e.runs(its) {
		does += b.e.weightIn(run, spans)
	}
	for run, at := range b.e.runs(its) {
		if w := b.e.weightIn(run, spans); w > 0 && (b.sends || at.state.Doing != views.Sending) {
			b.do(at, Candidate, w*waits/max(long, does))
		} // who waits to send would end a wait to receive at once: it sends somewhere else
	}
}

// inTheEnd returns what those do for whom others wait in the end, if these
// mostly wait for one class whose goroutines live for one piece of work,
// and wait for others themselves.
func (e *evidence) inTheEnd(f *Finding) []Cause {
	passed := map[string]bool{f.Class: true}
	all := f.Causes
	for range maxBehind {
		i := slices.IndexFunc(all, func(c Cause) bool {
			class, known := e.byName[c.Class]
			return c.Certainty == Candidate && c.Share >= explains && known && e.classes[class].ends() && !passed[c.Class] &&
				doing(Sending, Receiving, Selecting)(&c)
		})
		if i < 0 {
			break
		}
		through := &all[i]
		class := e.byName[through.Class]
		behind, _ := e.blameNamed(ofClass(class, func(at *situation) bool { return e.activity(at) == through.Activity }), leastNamedBehind)
		behind = slices.DeleteFunc(behind, func(c Cause) bool { return c.unlikely(f) || passed[c.Class] })
		passed[through.Class] = true
		if sharesOf(behind) < explains {
			break
		}
		for k := range behind {
			behind[k].Share *= through.Share
			behind[k].Certainty = Candidate
		}
		through.Share -= sharesOf(behind)
		all = append(all, behind...)
	}
	all = merged(all)
	slices.SortStableFunc(all, func(x, y Cause) int { return cmp.Compare(y.Share, x.Share) })
	return all
}

// merged returns causes in which those that say the same are one, and none
// is too small.
func merged(all []Cause) (list []Cause) {
	for _, c := range all {
		i := slices.IndexFunc(list, func(other Cause) bool {
			return other.Class == c.Class && other.Activity == c.Activity && other.Lock == c.Lock && other.Certainty == c.Certainty &&
				other.Place.Function == c.Place.Function && other.Place.Library == c.Place.Library
		})
		if i < 0 {
			list = append(list, c)
			continue
		}
		list[i].Share += c.Share
	}
	return slices.DeleteFunc(list, func(c Cause) bool { return c.Share < minCause })
}

// otherLock is what helps if the holder of a lock waits for another.
const otherLock = "hold the other lock for less time, or wait for it before this one is taken"

// followLocks finds out who mostly holds the locks for which the holders
// of others wait, if that is no finding of its own.
func (a *searched) followLocks() {
	found := func(lock string) bool {
		return slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Lock == lock })
	}
	for _, f := range a.Findings {
		if f.Kind != LockKind || len(f.Causes) == 0 {
			continue
		}
		c := &f.Causes[0]
		if c.Activity != Locked || c.Lock == "" || c.Share < explains || found(c.Lock) {
			continue
		}
		waits := awaits(c.Lock)
		behind, _ := a.e.blame(func(at *situation) bool {
			return waits(at) && a.e.name(at) == c.Class && a.e.places.at(at.state.Stack) == c.Place.Function
		})
		if len(behind) == 0 || behind[0].Certainty != Known || behind[0].Activity == Nobody || behind[0].Share < explains {
			continue
		}
		c.Behind = &behind[0]
		c.Behind.Share *= c.Share
		if f.Remedy == f.Words().Remedy {
			f.Remedy = otherLock
		}
	}
}
