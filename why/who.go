package why

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

// Outliers are goroutines that have most of a finding about
// their class, though they are few: they behave unlike the
// others.
type Outliers struct {
	// their numbers in the program; the first ones if they are many
	Goroutines []int64 `json:"goroutines"`
	Count      int     `json:"count"`
	Of         int     `json:"of"`    // goroutines of the class
	Share      float64 `json:"share"` // of the finding
}

// A Labelled is the goroutines with a label, if they have most
// of a finding, though a small part of the class's life.
type Labelled struct {
	Label string  `json:"label"` // "tenant=acme"
	Share float64 `json:"share"` // of the finding
	Life  float64 `json:"life"`  // the share of the class's life
}

const (
	mostShare   = 0.8  // of a finding that few goroutines, or a label, have at least
	outstanding = 2    // how many times their share of the class's life that is, at least
	leastClass  = 3    // the number of goroutines from which one of them can stand out
	mostClass   = 5000 // and up to which goroutines are counted one by one
	fewOf       = 10   // the part of the class that is few: a tenth
	leastHits   = 20   // that they have in a finding, in as many samples
	leastEach   = 10   // hits that each of several goroutines has on average
	mostNamed   = 3    // goroutines
	mostWho     = 10   // findings

	// if there are more, labels number requests rather than name
	// what is common to them
	mostLabelSets = 10_000
)

// A suspect is a goroutine in a finding.
type suspect struct {
	g          sampledata.GoroutineID
	hits, life float64 // weights
}

// who finds out if a few goroutines of a class, or those with a
// label, have most of the findings.
func (s *searcher) who(all []*candidate) {
	all = slices.DeleteFunc(slices.Clone(all),
		func(c *candidate) bool { return c.f.LacksCPU() })
	all = all[:min(len(all), mostWho)]
	hits := make([][]bool, len(all))
	of := make(map[int32][]int)                                 // by class: the findings
	lives := make(map[int32]map[sampledata.GoroutineID]float64) // by class and goroutine
	by := make([]map[sampledata.GoroutineID]float64, len(all))  // by finding and goroutine
	for i, c := range all {
		class, ok := s.e.byName[c.f.Class]
		if !ok {
			continue
		}
		hits[i] = s.e.matching(ofClass(class, c.asks.hit))
		c.f.Label = s.labelled(class, c.asks.hit)
		// Some short-lived goroutines, such as a request's, have most of the
		// hits by chance.
		seen := &s.e.classes[class]
		if n := seen.goroutines; n >= leastClass && n <= mostClass &&
			float64(n) <= 2*s.e.mean(seen.life) {
			of[class] = append(of[class], i)
			by[i], lives[class] = make(map[sampledata.GoroutineID]float64),
				make(map[sampledata.GoroutineID]float64)
		}
	}
	if len(of) == 0 {
		return
	}
	for r, run := range s.e.r.Runs.All() {
		at := s.e.of[r]
		if at < 0 || of[s.e.situations[at].class] == nil {
			continue
		}
		class := s.e.situations[at].class
		weight := s.e.between(run.First, run.Last)
		lives[class][run.Goroutine] += weight
		for _, i := range of[class] {
			if hits[i][at] {
				by[i][run.Goroutine] += weight
			}
		}
	}
	for class, findings := range of {
		for _, i := range findings {
			var suspects []suspect
			for g, life := range lives[class] {
				suspects = append(suspects, suspect{g, by[i][g], life})
			}
			all[i].f.Outliers = s.few(suspects)
		}
	}
}

// hitsOf returns the number of hits that a weight stands for, on average.
func (s *searcher) hitsOf(weight float64) float64 {
	return weight / max(1, s.e.length) * float64(s.e.to-s.e.from)
}

// few returns the goroutines that have most of a finding, if
// they are few, and have more of it than of the class's life.
func (s *searcher) few(all []suspect) *Outliers {
	slices.SortFunc(all,
		func(a, b suspect) int {
			return cmp.Or(cmp.Compare(b.hits, a.hits),
				cmp.Compare(a.g, b.g))
		})
	hits, life := 0.0, 0.0
	for _, one := range all {
		hits += one.hits
		life += one.life
	}
	f := &Outliers{Of: len(all)}
	theirs, lived := 0.0, 0.0
	for ; f.Count < max(1, len(all)/fewOf) && theirs < mostShare*hits; f.Count++ {
		one := all[f.Count]
		theirs += one.hits
		lived += one.life
		if f.Count < mostNamed {
			f.Goroutines = append(f.Goroutines, s.e.r.Goroutines.At(one.g).ID)
		}
	}
	if hits == 0 || theirs < mostShare*hits || theirs/hits < outstanding*lived/life ||
		s.hitsOf(theirs) < max(leastHits, leastEach*float64(f.Count)) {
		return nil
	}
	f.Share = theirs / hits
	return f
}

// labelled returns the label whose goroutines have most of some
// situations of a class, if they have more of it than of the
// class's life.
func (s *searcher) labelled(class int32, is func(*situation) bool) *Labelled {
	if len(s.e.r.LabelSets) > mostLabelSets {
		return nil
	}
	type sum struct{ hits, life float64 }
	sums := make(map[sampledata.Label]sum)
	hits, life := 0.0, 0.0
	for _, at := range s.members(class) {
		weight := 0.0
		if is(at) {
			weight = at.weight
		}
		hits += weight
		life += at.weight
		for _, l := range s.e.r.LabelSets[at.state.Labels] {
			old := sums[l]
			sums[l] = sum{old.hits + weight, old.life + at.weight}
		}
	}
	var best *Labelled
	var label sampledata.Label
	for l, sum := range sums {
		if sum.hits < mostShare*hits || sum.hits/hits < outstanding*sum.life/life ||
			s.hitsOf(sum.hits) < leastHits {
			continue
		}
		one := &Labelled{Label: l.Key + "=" + l.Value, Share: sum.hits / hits,
			Life: sum.life / life}
		if best == nil || cmp.Or(cmp.Compare(one.Share, best.Share),
			cmp.Compare(best.Label, one.Label)) > 0 {
			best, label = one, l
		}
	}
	if best == nil || s.samplesOf(func(at *situation) bool {
		return at.class == class && is(at) &&
			slices.Contains(s.e.r.LabelSets[at.state.Labels], label)
	}) < leastHits {
		return nil // many goroutines in few samples are little evidence
	}
	return best
}

// samplesOf returns the number of samples that have one of some situations.
func (s *searcher) samplesOf(is func(*situation) bool) int {
	return lists.Count(s.e.observe([]question{{hit: is}})[0],
		func(o hotspots.Observation) bool { return o.Hits > 0 })
}
