package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A Still is goroutines of one class that have not moved during
// the whole recording, and are not known to wait for work.
type Still struct {
	Class    string `json:"class"`
	Count    int    `json:"count"`
	Reason   string `json:"reason"`   // in the runtime's words
	Function string `json:"function"` // of the program's own
	// it waits until a process ends
	Process bool `json:"process,omitempty"`
	// it waits for a place that others give back, in a semaphore
	Place bool `json:"place,omitempty"`
	// others of the class were seen to get through: it is a queue
	Queue bool `json:"queue,omitempty"`
	// the longest wait of them, at least; 0 if it is less than
	// minutes, or not known
	Waited time.Duration `json:"waited,omitempty"`
}

// HeldUp reports whether others must do something for the goroutines
// to go on: receive what they send, or give back a lock or a place. It
// is false if a queue moves.
func (s Still) HeldUp() bool {
	does := views.WaitingFor(s.Reason)
	return !s.Queue && (does == views.Sending || does == views.AwaitingLock || s.Place && s.Count > 1)
}

// still returns the goroutines that have not moved, without those that
// findings are about: first those that wait for processes, then most first.
func (e *evidence) still(findings []*Finding) (all []Still) {
	found := make(map[int64]bool)
	for _, f := range findings {
		if f.Stuck == nil {
			continue
		}
		for _, group := range slices.Concat(f.Stuck.Groups, f.Stuck.Behind) {
			for _, id := range group.IDs {
				found[id] = true
			}
		}
	}
	moves := e.queues()
	counts := make(map[Still]int)
	waits, longest := e.r.Marking.Waits(), make(map[Still]time.Duration)
	counted := make([]bool, e.r.Goroutines.Len())
	stands := func(at *situation) bool { return at.still && !e.classes[at.class].runtimes }
	for run, at := range e.runs(stands) {
		id := e.r.Goroutines.At(run.Goroutine).ID
		if counted[run.Goroutine] || found[id] {
			continue
		}
		counted[run.Goroutine] = true
		is := Still{Class: e.name(at), Reason: at.state.Reason,
			Function: e.places.at(at.state.Stack), Process: e.places.matches(at.state.Stack, processEnd),
			Place: e.places.through(at.state.Stack, semaphoreAcquire)}
		is.Queue = moves[queue{is.Class, is.Function, 0}] || moves[queue{channel: at.state.Channel}]
		counts[is]++
		longest[is] = max(longest[is], waits[id])
	}
	for s, n := range counts {
		s.Count, s.Waited = n, longest[s]
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Still) int {
		switch {
		case a.Process && !b.Process:
			return -1
		case b.Process && !a.Process:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// A queue is where goroutines of a class wait, or a channel, whose
// senders get through in turn.
type queue struct {
	class, function string
	channel         uint64
}

// queues returns the queues in which goroutines get through.
func (e *evidence) queues() map[queue]bool {
	moves := make(map[queue]bool)
	for _, at := range e.situations {
		if (at.waits() || at.state.Doing == views.AwaitingLock) && !at.still {
			moves[queue{e.name(at), e.places.at(at.state.Stack), 0}] = true
			if at.state.Doing == views.Sending && at.state.Channel != 0 {
				moves[queue{channel: at.state.Channel}] = true
			}
		}
	}
	return moves
}

// HeldUp returns the goroutines that others hold up, if they were seen
// for long enough, and no finding is about them.
func (a *Answer) HeldUp() (all []Still) {
	if a.To-a.From < standstillLength {
		return nil
	}
	for _, s := range a.NotMoved {
		if s.HeldUp() && !slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.names(s) }) {
			all = append(all, s)
		}
	}
	return all
}

// Beside returns the goroutines that have not moved, of classes that do
// not rest, if nothing else says where they stand.
func (a *Answer) Beside() (all []Still) {
	held := a.HeldUp()
	for _, s := range a.NotMoved {
		rests := slices.ContainsFunc(a.Resting, func(r Resting) bool { return r.Class == s.Class })
		named := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.namesPlace(s) })
		if !rests && !named && !s.Queue && !slices.Contains(held, s) {
			all = append(all, s)
		}
	}
	return all
}

// namesPlace reports whether a finding says where goroutines stand.
func (f *Finding) namesPlace(s Still) bool {
	return f.Class == s.Class && f.Where.Function == s.Function ||
		slices.ContainsFunc(slices.Concat(f.Behind, f.Others), func(p Part) bool {
			return p.Name == s.Class && p.Where == s.Function
		})
}

// names reports whether a finding is about goroutines that stand, as far
// as it says where.
func (f *Finding) names(s Still) bool {
	return f.namesPlace(s) ||
		slices.ContainsFunc(slices.Concat(f.Behind, f.Others), func(p Part) bool {
			return p.Name == s.Class && p.Where == ""
		})
}

// A standstill has several goroutines, which have not moved for
// some time.
const (
	minStandstill    = 3
	standstillLength = locks.Standing
)

// standstill returns a finding if none of the goroutines of a
// class has moved, and all wait for answers. One alone may wait
// for its turn.
func (s *searcher) standstill(class int32) *Finding {
	c := &s.e.classes[class]
	of := func(at *situation) bool { return at.still && at.answer }
	weight, _ := weigh(s.members(class), of, anywhere)
	if c.runtimes || c.goroutines < minStandstill || weight < 0.99*c.life ||
		s.e.time(s.e.to-1)-s.e.time(s.e.from) < standstillLength {
		return nil
	}
	f := s.unmoved(StandstillKind, class, c.goroutines)
	f.Where, f.Reason = s.where(class, of)
	return f
}

// leastMoving is how many goroutines at work there are for each that
// waits for a group, if somebody may work for it.
const leastMoving = 0.25

// fewMoves is how often a goroutine was seen to change, at least, if
// it goes round in a loop.
const fewMoves = 4

// leftBehind returns a finding if several goroutines of a class have
// not moved in a wait for a group, while others of the class go
// round. If hardly anybody is at work, nobody works for these.
func (s *searcher) leftBehind(class int32) *Finding {
	left := ofClass(class, func(at *situation) bool {
		return at.still && at.state.Doing == views.AwaitingGroup
	})
	n, c := s.goroutines(left), &s.e.classes[class]
	if n < minStandstill || s.e.time(s.e.to-1)-s.e.time(s.e.from) < standstillLength {
		return nil
	}
	f := s.unmoved(LeftKind, class, n)
	f.Left = n
	f.Where, f.Reason = s.where(class, left)
	_, works := weigh(s.e.situations, anywhere, s.worksOrAsks)
	if c.name == "go:"+f.Where.Function || // it may look after others of the class
		!s.goRound(class, f.Where.Function) || s.e.mean(works) > leastMoving*float64(n) {
		return nil
	}
	return f
}

// goroutines returns how many goroutines were seen in some situations.
func (s *searcher) goroutines(of func(*situation) bool) int {
	seen := make(map[sampledata.GoroutineID]bool)
	for run := range s.e.runs(of) {
		seen[run.Goroutine] = true
	}
	return len(seen)
}

// goRound reports whether a goroutine of a class was there all the
// time, was seen to move several times, and to go through a function:
// it has a loop.
func (s *searcher) goRound(class int32, function string) bool {
	moves, through := make(map[sampledata.GoroutineID]int), make(map[sampledata.GoroutineID]bool)
	for run, at := range s.e.runs(ofClass(class, anywhere)) {
		g := run.Goroutine
		if moves[g] == 0 && run.First > s.e.from {
			continue // it began later
		}
		moves[g]++
		through[g] = through[g] || s.on(at, function)
		if run.Last >= s.e.to-1 && moves[g] >= fewMoves && through[g] {
			return true
		}
	}
	return false
}

// unmoved makes a finding about goroutines of a class that have not
// moved during the whole recording.
func (s *searcher) unmoved(kind Kind, class int32, goroutines int) *Finding {
	f := newFinding(kind, s.e.classes[class].name).about(s, class)
	f.Severity, f.When.Always = float64(goroutines), true
	f.Share = hotspots.Assumed(1, int(s.e.to-s.e.from))
	return f
}

// restless returns the share of their lives in which the
// program's goroutines neither wait for work nor stand still. A
// main goroutine that sleeps leaves the work to others. Streams, and
// what a ticker drives, wait as they are meant to.
func (s *searcher) restless() float64 {
	meant := func(at *situation) bool {
		return slices.ContainsFunc(s.all, func(c *candidate) bool { return (c.note == goesOn || c.note == driven) && c.asks.hit(at) })
	}
	life, active := weigh(s.e.situations,
		func(at *situation) bool { return !s.e.classes[at.class].runtimes },
		func(at *situation) bool {
			asleep := at.state.Doing == views.Sleeping && s.e.name(at) == mainClass
			return !at.idle && !at.still && !asleep && !meant(at)
		})
	return active / max(life, 1)
}

// notMoved is the note of waits that most of a class's
// goroutines there began before the recording.
const notMoved = "it has not moved"

// standsStill returns why a wait of a class is no evidence that
// something is slow, or "".
func (s *searcher) standsStill(class int32, of func(*situation) bool) string {
	weight, still, stays, answers := 0.0, 0.0, 0, 0.0
	for _, at := range s.members(class) {
		if of(at) {
			weight += at.weight
			stays += at.stays
			if at.still {
				still += at.weight
			}
			if at.answer {
				answers += at.weight
			}
		}
	}
	switch {
	case 2*answers > weight && still < weight:
		return "" // an answer is work, and some were seen to come
	case 2*still > weight:
		return notMoved
	case 2*weight > s.e.length*float64(stays):
		return waitedOnce
	}
	return ""
}

// waitedOnce is the note of waits that hardly anybody was seen
// to come back to.
const waitedOnce = "each has waited only once, for more than half of the time"

// getThrough is the share of those that wait to send who get
// through in the recording, if the queue moves.
const getThrough = 0.02

// queues reports whether goroutines of a class mostly wait for
// others of it, as far as is known, or to send while others get
// through: however long the queue is, it moves. One alone is no
// queue: it may have a result that nobody needs yet.
func (s *searcher) queues(class int32, of func(*situation) bool) bool {
	all, sends := weigh(s.members(class), of,
		func(at *situation) bool { return at.state.Doing == views.Sending })
	held := false
	waits := make(map[sampledata.GoroutineID]int32) // the last sample of its wait
	for run := range s.e.runs(ofClass(class, of)) {
		waits[run.Goroutine] = run.Last
		held = held || run.Evidence == sampledata.Likely
	}
	through := 0
	for _, last := range waits {
		if last < s.e.to-1 {
			through++
		}
	}
	if len(waits) > 1 && sends >= mostOf*all && float64(through) >= getThrough*float64(len(waits)) {
		return through > 0
	}
	own := 0.0
	if held {
		causes, _ := s.e.blame(ofClass(class, of))
		own = shareWhere(causes, func(c *Cause) bool {
			return c.Class == s.e.classes[class].name && c.Certainty != Candidate
		})
	}
	return own >= 0.5
}

// stalled is the sign of waits that came to a standstill.
const stalled = "most of that time is of goroutines that were not seen to move in the second half of the recording"

// stalls returns the share of a finding, in the second half of
// the recording, that is of goroutines that neither move nor end
// there; 0 if that half is too short to tell, or only two
// moments of a dump.
func (s *searcher) stalls(f *Finding) float64 {
	e, class, hit := s.e, s.classOf(f), s.hits(f)
	middle := e.from + (e.to-e.from)/2
	if class < 0 || e.r.Header.Sampler.Backend == sampledata.FromDump ||
		e.between(middle, e.to-1) < float64(standstillLength) {
		return 0
	}
	all := make(map[sampledata.GoroutineID]*mover)
	weights := make(map[sampledata.GoroutineID]float64) // of the finding, in that half
	for run, at := range e.runs(ofClass(class, anywhere)) {
		m := lists.Made(all, run.Goroutine,
			func() *mover { return &mover{moved: run.First, run: run} })
		m.see(run)
		if run.Last >= middle && hit(at) {
			weights[run.Goroutine] += e.between(max(run.First, middle), run.Last)
		}
	}
	stands, total := 0.0, 0.0
	for g, weight := range weights {
		if total += weight; all[g].moved <= middle && all[g].run.Last >= e.to-1 {
			stands += weight
		}
	}
	return stands / max(total, 1)
}
