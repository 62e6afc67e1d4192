package why

import (
	"cmp"
	"math"
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

// Compare searches a recording for what is slower than in an
// earlier one of the same program: findings with a higher share,
// beyond both intervals, and code that takes more of the
// processors. Each has what it was before. What is slower in the
// earlier recording has improved.
func Compare(r, earlier *sampledata.Recording, o Options) (*Answer, error) {
	o.Views = o.Views.WithWrappers(r, earlier)
	now, err := search(r, o)
	if err != nil {
		return nil, err
	}
	old, err := search(earlier, o)
	switch {
	case err != nil:
		return nil, err
	case now.State == TooLittle:
		return now.Answer, nil
	case old.State == TooLittle:
		return old.Answer, nil
	}
	for _, a := range []*searched{now, old} {
		if err := a.searchPhases(a.e.r, o); err != nil {
			return nil, err
		}
	}
	now.readClock(r)
	before, after := old.seen(), now.seen()
	now.slowerThan(before)
	old.slowerThan(after)
	now.gains()
	now.measure(r)
	now.Improved = old.Findings
	now.Resting, now.Work = nil, nil // what isn't slower may still be slow
	if old.HeapGrows != nil {
		now.HeapGrows = nil
	}
	if len(now.Findings) == 0 {
		now.State = Unchanged
	}
	return now.Answer, nil
}

// A seen recording has what the search found before it was compared.
type seen struct {
	*searched
	findings map[string]*Finding // by key
	shares   map[string]float64  // see codeShares
}

func (a *searched) seen() *seen {
	s := &seen{a, make(map[string]*Finding), a.codeShares()}
	for _, f := range a.Findings {
		s.findings[f.key] = f
	}
	return s
}

// slowerThan leaves the findings that another recording lacks or
// has less of. How many goroutines stand still depends on when a
// recording was made, and says nothing if they do in both.
func (a *searched) slowerThan(other *seen) {
	a.Findings = slices.DeleteFunc(a.Findings, func(f *Finding) bool {
		return f.IsCode() || f.stands() && other.findings[f.key] != nil
	})
	a.grown(other.shares)
	other.remember(a.Findings)
	for _, f := range a.Findings {
		if was := other.findings[f.key]; f.Phase && was != nil { // perhaps of a phase, too
			f.Before = &Before{was.Share, was.Severity}
		}
	}
	a.Findings = slices.DeleteFunc(a.Findings, func(f *Finding) bool {
		return f.Before != nil && f.Share.Low <= f.Before.Share.High
	})
	a.conclude()
}

// codeShares returns the shares of the processors that functions
// of the program have, with all that they call, by name.
func (s *searcher) codeShares() map[string]float64 {
	shares := make(map[string]float64)
	for f, w := range s.codeWeights(s.ranStacks()) {
		shares[s.e.r.Functions[f].Name] += w / (s.e.length * s.e.processors)
	}
	return shares
}

// codeWeights returns the weights of the stacks that have a function.
func (s *searcher) codeWeights(stacks []ranStack) map[sampledata.FunctionID]float64 {
	weights := make(map[sampledata.FunctionID]float64)
	for _, st := range stacks {
		for i, f := range st.path {
			if slices.Index(st.path, f) == i {
				weights[f] += st.weight
			}
		}
	}
	return weights
}

// grown adds the functions whose share of the processors grew
// most. Of a caller and its callee that both grew, it is the
// callee if that has nearly all of the growth.
func (a *searched) grown(before map[string]float64) {
	ran := a.ranStacks()
	stacks := slices.Clone(ran)
	a.garbageApart = false
	var all []*candidate
	for len(all) < maxHot {
		best, most := noFunction, 0.0
		growth := make(map[sampledata.FunctionID]float64)
		for f, w := range a.codeWeights(stacks) {
			growth[f] = w/(a.e.length*a.e.processors) - before[a.e.r.Functions[f].Name]
			if d := growth[f]; best == noFunction ||
				cmp.Or(cmp.Compare(d, most), cmp.Compare(best, f)) > 0 {
				best, most = f, d
			}
		}
		if best == noFunction || most < a.o.Threshold/2 {
			break
		}
		best = a.deepest(best, growth, stacks)
		c := a.computing(best, stacks, ran)
		c.bar = 0
		all = append(all, c)
		stacks = slices.DeleteFunc(stacks,
			func(st ranStack) bool { return slices.Contains(st.path, best) })
	}
	a.test(all)
	for _, c := range all {
		a.judge(c, a.searcher)
	}
}

// deepest goes from a function down to callees that have nearly
// all of its growth.
func (a *searched) deepest(f sampledata.FunctionID, growth map[sampledata.FunctionID]float64,
	stacks []ranStack) sampledata.FunctionID {
	least := descends * growth[f]
	passed := map[sampledata.FunctionID]bool{f: true}
	for {
		next := noFunction
		for _, st := range stacks {
			i := slices.Index(st.path, f)
			if i < 0 || i+1 == len(st.path) {
				continue
			}
			callee := st.path[i+1]
			if !passed[callee] && growth[callee] >= least &&
				(next == noFunction || growth[callee] > growth[next]) {
				next = callee
			}
		}
		if next == noFunction {
			return f
		}
		f, passed[next] = next, true
	}
}

// remember tests the hypotheses of later findings on an earlier recording.
func (s *searched) remember(later []*Finding) {
	var questions []question
	var of []*Finding
	for _, f := range later {
		if !f.stands() {
			questions, of = append(questions, s.question(f)), append(of, f)
		}
	}
	for i, all := range s.e.observe(questions) {
		e := hotspots.Estimated(all, 1)
		if e.Samples == 0 { // the class was not there
			e = hotspots.Assumed(0, s.Samples)
		}
		severity, weight := 0.0, 0.0
		for _, o := range all {
			severity += o.Weight * o.Hits
			weight += o.Weight
		}
		of[i].Before = &Before{e, severity / math.Max(weight, 1)}
	}
}
