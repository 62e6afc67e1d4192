//go:build linux

package main

import (
	"sort"

	"github.com/cpprof/cpprof/internal/lists"
)

// A tally is time by thread class and state.
type tally map[string]*[numStates]float64

func (t tally) add(class string, s state, time float64) {
	lists.Made(t, class, func() *[numStates]float64 { return new([numStates]float64) })[s] += time
}

// total returns the lifetime of a class.
func (t tally) total(class string) (sum float64) {
	if c := t[class]; c != nil {
		for _, x := range c {
			sum += x
		}
	}
	return sum
}

// share returns the share of a class's lifetime in the given states.
func (t tally) share(class string, states ...state) (sum float64) {
	total := t.total(class)
	if total == 0 {
		return 0
	}
	for _, s := range states {
		sum += t[class][s]
	}
	return sum / total
}

// between returns the time of all goroutines between two times,
// which is given in nanoseconds.
func (t *traced) between(from, to int64, classOf func(*life) string) tally {
	all := tally{}
	for _, l := range t.lives {
		class := classOf(l)
		for _, sp := range l.spans {
			if a, b := max(sp.from, from), min(sp.to, to); b > a {
				all.add(class, sp.state, float64(b-a))
			}
		}
	}
	return all
}

// atMoments returns what samplers without any mistake would have
// seen at these moments, in ascending order, each with a weight.
func (t *traced) atMoments(moments []int64, weights []float64, classOf func(*life) string) tally {
	all := tally{}
	for _, l := range t.lives {
		class := classOf(l)
		for _, sp := range l.spans {
			i := sort.Search(len(moments), func(i int) bool { return moments[i] >= sp.from })
			for ; i < len(moments) && moments[i] < sp.to; i++ {
				all.add(class, sp.state, weights[i])
			}
		}
	}
	return all
}
