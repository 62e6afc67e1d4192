package why

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why/stuck"
)

// marked returns a finding for each cause of goroutines that can
// never run again, as far as the recording's marking knows.
func (s *searcher) marked(r *sampledata.Recording) (all []*Finding) {
	a := stuck.Find(r)
	if a == nil {
		return nil
	}
	runs := s.lastRuns(r.Marking)
	for i := range a.Findings {
		one := &a.Findings[i]
		if one.Verdict < sampledata.Suspected {
			continue
		}
		f := s.markedFinding(one, runs)
		if meant := one.MayBeMeant() && (one.Endless() || f.When.Always && s.livesOn()); !meant {
			all = append(all, f)
		} else if one.Verdict == sampledata.Stuck {
			s.meant = append(s.meant, f.Class)
		}
	}
	return all
}

// livesOn reports whether goroutines of the program other than
// the main one wait for work, or do some.
func (s *searcher) livesOn() bool {
	return slices.ContainsFunc(s.e.situations, func(at *situation) bool {
		return !at.still && !s.e.classes[at.class].runtimes && s.e.name(at) != mainClass
	})
}

// lastRuns returns the last runs of the goroutines that a
// marking lists, by goid.
func (s *searcher) lastRuns(m *sampledata.Marking) map[int64]int32 {
	runs := map[int64]int32{}
	for _, g := range m.Groups {
		for _, id := range g.IDs {
			runs[id] = -1
		}
	}
	for i, run := range s.e.r.Runs.All() {
		id := s.e.r.Goroutines.At(run.Goroutine).ID
		if _, listed := runs[id]; listed && s.e.of[i] >= 0 {
			runs[id] = int32(i)
		}
	}
	return runs
}

func (s *searcher) markedFinding(one *stuck.Finding, runs map[int64]int32) *Finding {
	first := one.Groups[0]
	f := &Finding{
		Kind: StuckKind, Count: one.Count, Mean: float64(one.Count), Severity: float64(one.Count),
		Reason: first.Reason,
		Share:  hotspots.Assumed(1, int(s.e.to-s.e.from)), When: When{Always: true}, Stuck: one,
		specific: 1e9,
	}
	h := s.e.places.heaviest()
	since := s.e.to // the first sample in which one of them waited
	for i, group := range slices.Concat(one.Groups, one.Behind) {
		for _, id := range group.IDs {
			run, seen := runs[id]
			if !seen || run < 0 {
				continue
			}
			since = min(since, s.e.r.Runs.At(int(run)).First)
			class := s.e.classes[s.e.situations[s.e.of[run]].class].name
			f.Class = cmp.Or(f.Class, class)
			if !slices.ContainsFunc(f.Others, func(p Part) bool { return p.Name == class }) {
				f.Others = append(f.Others, Part{Name: class, Share: 1})
			}
			if i == 0 {
				h.add(s.e.r.Runs.At(int(run)).Stack, 1)
			}
		}
	}
	if f.Where = h.place(); f.Where.Function == "?" && len(first.Calls) > 0 {
		c := first.Calls[0]
		f.Where = Place{Function: c.Function, File: c.File, ShortFile: c.File, Line: c.Line}
	}
	if since > s.e.from && since < s.e.to {
		f.When = When{Spans: []Span{{From: s.e.time(since), To: s.e.time(s.e.to - 1), Share: 1}}}
	}
	f.Lock = one.Lock[0]
	f.key = key(StuckKind, string(one.Fault), f.Class, f.Where.Function)
	return f
}

// foldStuck leaves out what findings of goroutines that can
// never run again explain: their waits, and that there are more
// and more of them.
func (a *searched) foldStuck() {
	a.leaveOut(func(f, of *Finding) bool {
		same := f.Kind != StuckKind && f.Kind != DeadlockKind &&
			(f.row().waits || f.stands() || f.Kind == LockKind) &&
			of.Kind == StuckKind && of.concerns(f)
		if same {
			of.Growth = cmp.Or(f.Growth, of.Growth)
		}
		return same
	})
}

// concerns reports whether goroutines of a class that can never
// run again are at the place of another finding about that
// class.
func (f *Finding) concerns(other *Finding) bool {
	return slices.ContainsFunc(f.Others, func(p Part) bool { return p.Name == other.Class }) &&
		slices.ContainsFunc(slices.Concat(f.Stuck.Groups,
			f.Stuck.Behind), func(g *sampledata.MarkedGroup) bool {
			return slices.ContainsFunc(g.Calls,
				func(c sampledata.Call) bool { return c.Function == other.Where.Function })
		})
}
