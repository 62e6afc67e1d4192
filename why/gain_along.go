package why

import "github.com/cpprof/cpprof/views"

// along returns, by class, how much of the CPU time of its goroutines
// goes with the work of a class: they get more to do if it gets more
// done. Of the class, and of those that mostly take what it sends, or
// send what it takes, it is all; of the collector, what is for the
// memory that these allocate.
func (m *moments) along(class int32) []float64 {
	all := m.partners(class)
	var allocates tally
	for _, at := range m.s.e.situations {
		if at.usesCPU() && !m.s.e.classes[at.class].runtimes && m.s.kinds.on(at.state.Stack, allocKind) {
			allocates.count += at.weight
			allocates.target += at.weight * all[at.class]
		}
	}
	for i := range all {
		if m.s.e.classes[i].collector {
			all[i] = allocates.mean()
		}
	}
	return all
}

// leastSent is the share of a class's time at work from which it waits
// to send its work: full processors leave little time for that.
const leastSent = 0.01

// partners returns 1 for a class, and for those whose goroutines mostly
// wait for it when they send, or take mostly what it sends.
func (m *moments) partners(class int32) []float64 {
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
	all := make([]float64, len(m.s.e.classes))
	for i := range all {
		waits := sends[i].target >= leastSent*m.s.e.classes[i].active
		awaited := takes[i].target >= leastSent*m.s.e.classes[class].active
		if int32(i) == class || waits && sends[i].mean() > 0.5 || awaited && takes[i].mean() > 0.5 {
			all[i] = 1
		}
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
