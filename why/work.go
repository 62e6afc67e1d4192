package why

import (
	"slices"

	"github.com/cpprof/cpprof/views"
)

// A Work is what goroutines of a program that is not slow mostly do when
// they are at work.
type Work struct {
	Class    string   `json:"class"`
	Alive    float64  `json:"alive"`    // mean number of goroutines
	Active   float64  `json:"active"`   // the share of their life that is not idle
	Activity Activity `json:"activity"` // what they mostly do then
	Share    float64  `json:"share"`    // of that time, in which they do that there
	Function string   `json:"function"` // where, on their stack
}

const (
	leastWork = 30  // samples with a goroutine of the class at work, if it is worth telling
	mostly    = 0.5 // of their lives, for which they rest, or of what they do at work
)

// work returns what most of the work is of a program without findings
// that is mostly idle, or waits; nil if it is little, or not mostly one
// thing.
func (a *searched) work() *Work {
	if a.State != Idle && a.State != Unmoved && a.State != Waiting {
		return nil
	}
	by := make(sums)
	for i := range a.e.classes {
		if c := &a.e.classes[i]; !c.runtimes && c.active <= mostly*c.life {
			by[int32(i)] = c.active - c.still
		}
	}
	if class := by.most(); class >= 0 && a.samplesOf(a.works(class)) >= leastWork {
		return a.workOf(class)
	}
	return nil
}

// works returns the situations of a class at work, which no hypothesis
// says are a rest.
func (s *searcher) works(class int32) func(*situation) bool {
	timed := func(at *situation) bool { // a timer drives it, but it is work
		return !at.idle && slices.ContainsFunc(s.all, func(c *candidate) bool { return c.note == byTimer && c.asks.hit(at) })
	}
	return ofClass(class, func(at *situation) bool { return !at.still && (s.isAtWork(at) || timed(at)) })
}

// workOf returns what goroutines of a class mostly do when they are not
// idle, and the innermost function of the program in which they do that.
// It returns nil if nothing is most of it, or much of it may be a rest.
func (a *searched) workOf(class int32) *Work {
	works, by, total := a.works(class), make(map[Activity]float64), 0.0
	for _, at := range a.members(class) {
		if works(at) {
			by[a.e.activity(at)] += at.weight
			total += at.weight
		}
	}
	c := &a.e.classes[class]
	if total == 0 || total < mostOf*c.active {
		return nil
	}
	does, there := ordered(by)[0], a.e.places.heaviest()
	for _, at := range a.members(class) {
		if works(at) && a.e.activity(at) == does {
			there.add(at.state.Stack, at.weight)
		}
	}
	for _, function := range slices.Backward(there.place().Path) {
		share := by[does] / c.active * there.within(function)
		if share >= mostly && views.IsOwn(function) && c.name != "go:"+function {
			return &Work{c.name, a.e.mean(c.life), c.active / c.life, does, share, function}
		}
	}
	return nil
}
