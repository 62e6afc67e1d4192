package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
)

// busy is the share of the processors that is held, by
// goroutines or by the runtime's scheduler, if the program has
// more to do than they can.
const busy = 0.7

func isReady(s *situation) bool { return s.state.Doing == views.Ready }

// wantsProcessor reports whether goroutines are ready to run, and do not spin.
func (e *evidence) wantsProcessor(s *situation) bool { return isReady(s) && !e.spinsAt(s) }

// readyCandidates returns the hypothesis that more goroutines are ready to
// run than there are processors.
func (s *searcher) readyCandidates() []*candidate {
	by := s.e.byClass(func(at *situation) bool {
		return s.e.wantsProcessor(at) && !s.e.classes[at.class].runtimes
	})
	own := maps.Clone(by)
	maps.DeleteFunc(own, func(class int32, _ float64) bool { return !s.isOwn(class) })
	if s.e.mean(own.total()) >= minMean { // else these are hardly ready
		by = own
	}
	if len(by) == 0 {
		return nil
	}
	f := newFinding(ProcessorKind)
	c := s.suffering(f, by, s.e.wantsProcessor)
	// If the threads have no CPUs, goroutines are ready because of that.
	f.Severity *= 1 - s.noCPU/max(s.ran+s.noCPU, 1e-9)
	c.least = 5 * minMean
	if s.ran+s.noCPU+s.scheduling() < busy*s.e.processors {
		c.note = "there are free processors: they are about to run"
		if s.crowded() {
			c.note = "they come in bursts, and then wait for the processors"
		}
	}
	c.refine = func(f *Finding) string {
		f.Causes = s.holders()
		return ""
	}
	return []*candidate{c}
}

// isOwn reports whether goroutines of a class began in code of
// the program, or were seen there: they are not only what the
// standard library needs.
func (s *searcher) isOwn(class int32) bool {
	return views.IsOwn(strings.TrimPrefix(s.e.classes[class].name, "go:")) ||
		slices.ContainsFunc(s.members(class), func(at *situation) bool { return views.IsOwn(s.e.places.at(at.state.Stack)) })
}

// scheduling returns how many CPUs the runtime itself uses. While
// it wakes a thread it holds a processor, but sleeps; the
// kernel's clock tells, if it is known.
func (s *searcher) scheduling() float64 {
	own, known := s.e.monitors().MeanRate("process.cpu", int(s.e.from), int(s.e.to))
	if !known {
		return s.e.runtimes
	}
	return min(s.e.runtimes, max(0, own-s.ran))
}

// crowded reports whether goroutines hold the processors while
// others are ready.
func (s *searcher) crowded() bool {
	held, all := 0.0, 0.0
	ready := s.e.observe([]question{{hit: s.e.wantsProcessor}})[0]
	for i, o := range ready {
		sample, cpus := int(s.e.from)+i, s.e.cpus
		held += o.Weight * o.Hits * float64(cpus.Used[sample]+cpus.NoCPU[sample])
		all += o.Weight * o.Hits * float64(cpus.Processors[sample])
	}
	return held >= busy*all
}

// holders returns who has the processors, and where: as shares
// of the time in which somebody has one.
func (s *searcher) holders() []Cause {
	b := newBlamed(s.e)
	for _, at := range s.e.situations {
		if at.state.Doing.Executes() {
			b.total += at.weight
			b.do(at, Known, at.weight)
		}
	}
	byClass := make(map[string]*Cause)
	var all []*Cause
	for _, c := range b.causes() {
		if old := byClass[c.Class]; old != nil {
			old.Share += c.Share
			continue
		}
		c.Activity = Computing
		byClass[c.Class] = &c
		all = append(all, &c)
	}
	slices.SortStableFunc(all, func(x, y *Cause) int { return cmp.Compare(y.Share, x.Share) })
	return lists.Each(all, func(c *Cause) Cause { return *c })
}

// machineCandidates returns the hypothesis that threads wait for CPUs.
func (s *searcher) machineCandidates() []*candidate {
	if s.noCPU == 0 {
		return nil
	}
	is := (*situation).lacksCPU
	by := s.e.byClass(is)
	class := by.most()
	f := newFinding(MachineKind).about(s, class)
	f.Severity, f.Others = s.noCPU, s.heldUp(by)
	f.Where, _ = s.where(class, is)
	return []*candidate{s.starved(&candidate{f: f, asks: question{hit: is}, bar: s.o.Threshold,
		least: minMean})}
}

// heldUp returns the program's classes whose threads most lack
// CPUs, with the share of their own time at work.
func (s *searcher) heldUp(lack sums) (all []Part) {
	lack = maps.Clone(lack)
	maps.DeleteFunc(lack, func(class int32, _ float64) bool { return s.e.classes[class].runtimes })
	for _, class := range ordered(lack) {
		if c := &s.e.classes[class]; lack[class] >= s.o.Threshold*lack.total() && lack[class] >= hardlyAny*c.active {
			all = append(all, Part{Name: c.name, Share: lack[class] / c.active})
		}
	}
	return all
}

// manyStarted is how many goroutines of a class end at least if
// they are started again and again.
const manyStarted = 100

// longWork is the CPU time of a goroutine, in nanoseconds, beside
// which its start costs nothing.
const longWork = 1e6

// spawns returns the share of a class's goroutines that end, if they
// are many, and most of the processor time goes to them, to others
// that are started where they are, and to starting goroutines. Each
// has little of it.
func (s *searcher) spawns(f *Finding) float64 {
	class := s.classOf(f)
	if class < 0 || !s.e.classes[class].isBrief() || handling.MatchString(f.Class) {
		return 0
	}
	sites, started := make(map[string]bool), make(map[int32]bool)
	for run := range s.e.runs(ofClass(class, anywhere)) {
		sites[s.e.r.Goroutines.At(run.Goroutine).Site.Function] = true
	}
	delete(sites, "")
	for run, at := range s.e.runs(func(at *situation) bool { return s.e.classes[at.class].isBrief() }) {
		started[at.class] = started[at.class] || sites[s.e.r.Goroutines.At(run.Goroutine).Site.Function]
	}
	all, have := weigh(s.e.situations, func(at *situation) bool { return at.state.Doing.Executes() && !s.e.classes[at.class].runtimes },
		func(at *situation) bool {
			return at.class == class || started[at.class] || s.e.places.matches(at.state.Stack, startsGoroutine)
		})
	if begun := s.e.goroutinesBegun(); have < explains*all || begun > 0 && have > longWork*float64(begun) {
		return 0
	}
	return float64(s.e.classes[class].ended) / float64(s.e.classes[class].goroutines)
}

// goroutinesBegun returns how many goroutines began in the span, by their
// IDs, which rise, but for a few: most end before they are seen.
func (e *evidence) goroutinesBegun() int {
	first, last := int64(0), int64(0)
	for _, run := range e.r.Runs.All() {
		id := e.r.Goroutines.At(run.Goroutine).ID
		if run.First <= e.from {
			first = max(first, id)
		}
		if run.First < e.to {
			last = max(last, id)
		}
	}
	return int(last - first)
}

// isBrief reports whether the goroutines of a class are started again
// and again, and soon end.
func (c *class) isBrief() bool { return c.ends() && c.ended >= manyStarted }
