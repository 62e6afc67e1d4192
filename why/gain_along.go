package why

import "github.com/cpprof/cpprof/views"

// leastSent is the share of a class's time at work from which it waits
// to send its work: full processors leave little time for that.
const leastSent = 0.01

// along returns which classes' CPU time goes with the work of a class: if
// it gets more done, they get more to do. It is the class's own, and of
// those whose goroutines mostly wait for it when they send, or take
// mostly what it sends. The collector is left out: what a cost leaves
// for it to do is not known.
func (m *moments) along(class int32) []bool {
	sends, takes := make([]tally, len(m.s.e.classes)), make([]tally, len(m.s.e.classes))
	for by, weight := range m.sent {
		of := func(all []tally, side, other int32) {
			all[side].count += weight
			if other == class {
				all[side].target += weight
			}
		}
		of(sends, by.sender, by.taker)
		of(takes, by.taker, by.sender)
	}
	all := make([]bool, len(m.s.e.classes))
	for i := range all {
		waits := sends[i].target >= leastSent*m.s.e.classes[i].active
		awaited := takes[i].target >= leastSent*m.s.e.classes[class].active
		all[i] = int32(i) == class || waits && sends[i].mean() > 0.5 || awaited && takes[i].mean() > 0.5
	}
	return all
}

// A delivery is between two classes: one takes what the other sends.
type delivery struct{ sender, taker int32 }

// sending returns how long goroutines were seen to wait until others
// took what they send.
func (e *evidence) sending() map[delivery]float64 {
	classes := make([]int32, e.r.Goroutines.Len())
	for i, run := range e.r.Runs.All() {
		if at := e.of[i]; at >= 0 {
			classes[run.Goroutine] = e.situations[at].class + 1
		}
	}
	sent := make(map[delivery]float64)
	for run, at := range e.runs(func(at *situation) bool { return at.state.Doing == views.Sending }) {
		takers := e.r.HolderSets[run.Holders]
		for _, g := range takers {
			if taker := classes[g] - 1; taker >= 0 && taker != at.class {
				sent[delivery{at.class, taker}] += e.between(run.First, run.Last) / float64(len(takers))
			}
		}
	}
	return sent
}
