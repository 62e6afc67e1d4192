package why

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// sums are weights by class.
type sums map[int32]float64

func newSums() sums { return make(sums) }

// byClass returns the weights of some situations.
func (e *evidence) byClass(of func(*situation) bool) sums {
	by := make(sums)
	for _, at := range e.situations {
		if of(at) {
			by[at.class] += at.weight
		}
	}
	return by
}

// grouped returns the weights of the situations that have a key,
// by their keys.
func grouped[K comparable](e *evidence, keyOf func(*situation) (k K, ok bool)) map[K]sums {
	groups := make(map[K]sums)
	for _, at := range e.situations {
		if k, ok := keyOf(at); ok {
			lists.Made(groups, k, newSums)[at.class] += at.weight
		}
	}
	return groups
}

// ordered returns the keys of weights, the largest weight first.
func ordered[K cmp.Ordered](weights map[K]float64) []K {
	return slices.SortedFunc(maps.Keys(weights), func(a, b K) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
}

// most returns the class with the largest weight; -1 if there is none.
func (by sums) most() int32 { return append(ordered(by), -1)[0] }

func (by sums) total() (sum float64) {
	for _, w := range by {
		sum += w
	}
	return sum
}

// others returns the shares of the lives of all classes but one,
// the largest weight first, if they are at least the threshold,
// and the class is not idle all the time, or they are most of the
// time in which it is not.
func (s *searcher) others(by sums, but int32) []Part {
	list := []Part{}
	for _, class := range ordered(by) {
		weight, c := by[class], &s.e.classes[class]
		if class != but && weight >= s.o.Threshold*c.active && (s.e.mean(weight) >= minMean ||
			weight >= explains*c.active && s.hitsOf(weight) >= leastEach) {
			list = append(list, Part{Name: c.name, Share: weight / c.active})
		}
	}
	return list
}

// active returns a base of hypotheses: the goroutines of a
// class, without the time in which they wait for work.
func active(class int32) func(*situation) bool {
	return func(s *situation) bool { return s.class == class && !s.idle }
}

// ofClass restricts a predicate to a class.
func ofClass(class int32, of func(*situation) bool) func(*situation) bool {
	return func(s *situation) bool { return s.class == class && of(s) }
}

// where returns the place with the most weight of some
// situations of a class, and the reason of most of it.
func (s *searcher) where(class int32, of func(*situation) bool) (Place, string) {
	h, reasons := s.e.places.heaviest(), make(map[string]float64)
	for _, at := range s.members(class) {
		if stack := at.state.Stack; stack != sampledata.NoStack && of(at) {
			h.add(stack, at.weight)
			reasons[at.state.Reason] += at.weight
		}
	}
	return h.place(), append(ordered(reasons), "")[0]
}

// reasons returns the reasons of the waits of a class among some
// situations.
func (s *searcher) reasons(class int32, of func(*situation) bool) (all []string) {
	for _, at := range s.members(class) {
		if of(at) && !slices.Contains(all, at.state.Reason) {
			all = append(all, at.state.Reason)
		}
	}
	slices.Sort(all)
	return all
}

// newFinding begins a finding of a kind. The names tell it from
// others in all recordings of a program.
func newFinding(k Kind, names ...string) *Finding {
	return &Finding{Kind: k, specific: k.row().specific, key: key(k, names...)}
}

// about makes a finding one about a class.
func (f *Finding) about(s *searcher, class int32) *Finding {
	c := &s.e.classes[class]
	f.Class, f.Alive, f.Count = c.name, s.e.mean(c.life), c.goroutines
	return f
}

// suffering makes a candidate for goroutines that wait, of the
// class that waits most.
func (s *searcher) suffering(f *Finding, by sums, of func(*situation) bool) *candidate {
	class := by.most()
	c := &s.e.classes[class]
	f.about(s, class)
	f.Idle, f.Asleep = 1-c.active/c.life, c.sleeps/c.life
	f.InCalls = s.inCalls()
	f.Severity = s.e.mean(by.total())
	f.Others = s.others(by, class)
	f.Where, f.Reason = s.where(class, of)
	if f.row().waits {
		f.reasons = s.reasons(class, of)
	}
	return &candidate{f: f, asks: s.question(f), bar: s.o.Threshold, least: minMean}
}

// lockCandidates returns a hypothesis for each lock: that goroutines wait
// for it.
func (s *searcher) lockCandidates() (all []*candidate) {
	byLock := grouped(s.e, func(at *situation) (string, bool) {
		return at.lock, at.state.Doing == views.AwaitingLock
	})
	for lock, by := range byLock {
		of := awaits(lock)
		f := newFinding(LockKind, lock)
		f.Lock = lock
		c := s.suffering(f, by, of)
		c.refine = func(f *Finding) string {
			if f.Causes = s.e.blameFor(f, of); len(f.Causes) == 0 {
				f.Causes = s.mayHold(f, of)
			}
			if s.takesTurns(f, of) {
				return "it may wait for its turn to get work"
			}
			return ""
		}
		all = append(all, c)
	}
	return all
}

// takesTurns reports whether goroutines wait for a lock with
// which one of them gets work: whoever has it waits for work, in
// the function in which nearly all others wait for the lock.
func (s *searcher) takesTurns(f *Finding, waits func(*situation) bool) bool {
	all, there := weigh(s.e.situations, waits, func(at *situation) bool {
		return s.e.places.at(at.state.Stack) == f.Where.Function
	})
	return there >= mostOf*all && f.holders(func(c *Cause) bool {
		return c.forWork && (c.Taken == f.Where.Function || c.Place.Function == f.Where.Function)
	}) >= isSign
}
