package why

import "github.com/cpprof/cpprof/sampledata"

// gosched is what loops call that spin: they give way to others, if there are
// any, and look again.
const gosched = "runtime.Gosched"

// givesWay reports whether a stack has that function.
func (p *places) givesWay(stack sampledata.NodeID) bool {
	return p.spins && p.above(stack, func(name string) bool { return name == gosched })
}

// spinCandidates returns a hypothesis for each function of the program that
// gives way: that goroutines spin there.
func (s *searcher) spinCandidates() (all []*candidate) {
	byPlace := make(map[string]sums)
	for i := range s.e.situations {
		at := &s.e.situations[i]
		if s.e.classes[at.class].runtimes || !s.e.places.givesWay(at.state.Stack) {
			continue
		}
		place := s.e.places.at(at.state.Stack)
		if byPlace[place] == nil {
			byPlace[place] = make(sums)
		}
		byPlace[place][at.class] += at.weight
	}
	for place, by := range byPlace {
		f := &Finding{Kind: SpinKind, specific: 1, key: key(SpinKind, place)}
		all = append(all, s.suffering(f, by, func(at *situation) bool {
			return s.e.places.givesWay(at.state.Stack) && s.e.places.at(at.state.Stack) == place
		}))
	}
	return all
}

func (s *searcher) spinHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), func(at *situation) bool {
		return s.e.places.givesWay(at.state.Stack) && s.on(at, f.Where.Function)
	})
}

func (s *searcher) spinMeasure(f *Finding) *Measure {
	return measureOf(f.Class, through(f.Where.Function)+" .."+gosched)
}

// foldSpins leaves out what a loop computes that gives way again and again.
func (a *searched) foldSpins() {
	a.fold(func(f, other *Finding) bool {
		return f.spins() && other.Kind == SpinKind && f.Kind != SpinKind && f.Class == other.Class
	}, func(*Finding, *Finding) {})
}
