package why

import (
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// maxPhases limits the spans that are searched by themselves.
const maxPhases = 6

// searchPhases searches the phases of the program: spans in
// which what all goroutines do together differs. A bottleneck of
// one phase may be small over the whole recording.
func (a *searched) searchPhases(r *sampledata.Recording, o Options) error {
	known := make(map[string]bool)
	for _, f := range a.Findings {
		known[f.key] = true
	}
	for _, p := range a.phases() {
		o := o
		part := float64(a.e.weights.Of(int(p.from), int(p.to))) / a.e.length
		if part < 0.05 || p.to-p.from < minSamples {
			continue
		}
		o.Views.Span = views.Span{From: a.e.time(p.from), To: a.e.time(p.to)}
		if int(p.to) >= r.Samples.Len() {
			o.Views.Span.To = 0
		}
		s, err := search(r, o)
		if err != nil {
			return err
		}
		for _, f := range s.Findings {
			// several spans are searched: chance has more of them
			small := f.Severity < aProcessor || f.Share.Low < 2*o.Threshold
			// waits change more by chance
			few := p.to-p.from < 2*minSamples && !f.IsCode()
			if known[f.key] || small || few || f.row().outside || f.stands() || a.hasPathOf(f) || a.has(f) ||
				a.without(f, p) >= f.Share.Share {
				continue
			}
			known[f.key] = true
			f.Severity, f.Phase, f.Within = f.Severity*part, true, &o.Views.Span
			all := a.e.observe([]question{a.question(f)})[0]
			f.When = a.e.when(all)
			if len(f.When.Spans) <= 1 { // else it comes again, for less than is searched
				spans := []Span{{From: a.e.time(p.from), To: a.e.time(p.to), Share: f.Share.Share}}
				f.When = When{Spans: spans, Otherwise: a.e.outside(all, spans)}
			}
			a.Findings = append(a.Findings, f)
		}
	}
	return nil
}

// without returns the share of a finding of a phase in the rest of the
// recording, at most; 0 if too little is known of that.
func (a *searched) without(f *Finding, p phase) float64 {
	all := a.e.observe([]question{a.question(f)})[0]
	rest := hotspots.Estimated(slices.Delete(all, int(p.from-a.e.from), int(p.to-a.e.from)), 1)
	if rest.Samples < minSamples {
		return 0
	}
	return rest.High
}

// A phase is the samples from one number up to another.
type phase struct{ from, to int32 }

// phases divides the span where the shares of running, ready,
// blocked and waiting goroutines change. There are none if they
// do not change, or change too often.
func (a *searched) phases() []phase {
	working := func(s *situation) bool { return !s.idle && !a.e.classes[s.class].runtimes }
	questions := []question{
		{hit: func(s *situation) bool { return working(s) && s.usesCPU() }},
		{hit: func(s *situation) bool { return working(s) && isReady(s) }, base: working},
		{hit: func(s *situation) bool { return s.state.Doing == views.AwaitingLock },
			base: working},
		{hit: func(s *situation) bool { return s.waits() && working(s) }, base: working},
	}
	var cuts []int32
	for _, all := range a.e.observe(questions) {
		s := binned(all)
		for _, at := range s.changes() {
			cuts = append(cuts, a.e.from+int32(s.first[at]))
		}
	}
	slices.Sort(cuts)
	near := (a.e.to - a.e.from) / 20
	cuts = slices.CompactFunc(cuts,
		func(later, earlier int32) bool { return later-earlier <= near })
	if len(cuts) == 0 || len(cuts) >= maxPhases {
		return nil
	}
	var all []phase
	from := a.e.from
	for _, at := range append(cuts, a.e.to) {
		all = append(all, phase{from, at})
		from = at
	}
	return all
}

// has reports whether there is a finding about the same class, of
// the same kind, at the same place. Keys differ if another class
// comes first there.
func (a *searched) has(f *Finding) bool {
	return slices.ContainsFunc(a.Findings, func(g *Finding) bool {
		return g.Kind == f.Kind && g.Class == f.Class && g.Where.Function == f.Where.Function && g.Lock == f.Lock && g.Asked == f.Asked
	})
}

// hasPathOf reports whether there is a finding about code on the
// same call path: about a caller, or about what it leads to.
func (a *searched) hasPathOf(f *Finding) bool {
	return f.IsCode() && slices.ContainsFunc(a.Findings, func(g *Finding) bool {
		return g.IsCode() &&
			(slices.Contains(g.Where.Path, f.Where.Function) ||
				slices.Contains(f.Where.Path, g.Where.Function))
	})
}
