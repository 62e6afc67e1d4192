package why

import (
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// standing returns the findings that need no threshold: goroutines that are
// stuck, deadlocks, and goroutines that never end.
func (s *searcher) standing(r *sampledata.Recording) (all []*Finding, err error) {
	a, err := locks.Summarise(r, s.o.Views)
	if err != nil {
		return nil, err
	}
	all = s.marked(r)
	verdicts := r.Marking.Verdicts()
	proved := func(m locks.Member) bool { return verdicts[m.Goroutine] >= sampledata.Suspected }
	for i, d := range slices.Concat(a.Deadlocks, a.Seeming) {
		if !slices.ContainsFunc(d.Members, proved) {
			f := s.deadlock(d)
			f.Likely = i >= len(a.Deadlocks)
			all = joined(all, f)
		}
	}
	for c := range s.e.classes {
		for _, f := range []*Finding{s.leak(int32(c)), s.standstill(int32(c)), s.leftBehind(int32(c))} {
			if f != nil {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// joined adds a deadlock to findings. Goroutines that wait in one
// place, each for a lock of one name that it holds itself, are one
// finding.
func joined(all []*Finding, f *Finding) []*Finding {
	i := slices.IndexFunc(all, func(other *Finding) bool {
		return f.Itself && other.Itself && f.Likely == other.Likely && f.Class == other.Class && f.Where.Function == other.Where.Function &&
			locks.FieldOf(f.Lock) == locks.FieldOf(other.Lock)
	})
	if i < 0 {
		return append(all, f)
	}
	of := all[i]
	of.Count++
	of.Severity++
	of.Chained = append(of.Chained, f.Lock)
	for _, p := range f.Behind {
		if !slices.Contains(names(of.Behind), p.Name) {
			of.Behind = append(of.Behind, p)
		}
	}
	if of.When.Always = of.When.Always || f.When.Always; of.When.Always {
		of.When.Spans = nil
	}
	return all
}

func (s *searcher) deadlock(d *locks.Deadlock) *Finding {
	first, again := d.Members[0], d.Rereads()
	if again != nil {
		first = *again
	}
	f := &Finding{
		Kind: DeadlockKind, Class: first.Class, Count: len(d.Members), Lock: first.Lock,
		Severity: float64(len(d.Members)),
		Share:    hotspots.Estimate{Share: 1, Low: 1, High: 1, Samples: int(d.Samples)},
		specific: 1e6, Itself: len(d.Members) == 1,
		key:  key(DeadlockKind, first.Lock),
		When: When{Always: d.First <= s.e.from && d.Last >= s.e.to-1},
	}
	if !f.When.Always {
		f.When.Spans = []Span{{From: s.e.time(d.First), To: s.e.time(d.Last), Share: 1}}
	}
	f.Behind = s.behind(d)
	for _, m := range d.Members {
		f.Others = append(f.Others, Part{Name: m.Class, Share: 1})
		if again == nil || len(f.Chained) == 0 {
			f.Chained = append(f.Chained, m.Lock)
		}
	}
	switch c, known := s.e.byName[first.Class]; {
	case f.Itself:
		f.Where = s.lastPlace(first.Goroutine)
	case again != nil:
		f.ReadsAgain, f.Where = true, s.lastPlace(again.Goroutine)
	case known:
		f.Where, _ = s.where(c, awaits(locks.FieldOf(first.Lock)))
	}
	return f
}

// behind returns the classes of the goroutines that wait for a lock
// of a deadlock, and are not in it.
func (s *searcher) behind(d *locks.Deadlock) (all []Part) {
	by := make(sums)
	for run, at := range s.e.runs(anywhere) {
		waits := at.state.Doing == views.AwaitingLock && run.Last >= d.First && d.Has(run.Lock)
		if id := s.e.r.Goroutines.At(run.Goroutine).ID; waits && !d.Involves(id) {
			by[at.class] += s.e.between(run.First, run.Last)
		}
	}
	for _, class := range ordered(by) {
		c := &s.e.classes[class]
		all = append(all, Part{Name: c.name, Share: by[class] / max(c.active, 1)})
	}
	return all
}

// lastPlace returns where a goroutine, by its number, was last seen.
func (s *searcher) lastPlace(id int64) Place {
	h := s.e.places.heaviest()
	for run := range s.e.runs(anywhere) {
		if s.e.r.Goroutines.At(run.Goroutine).ID == id && run.Stack != sampledata.NoStack {
			h = s.e.places.heaviest()
			h.add(run.Stack, 1)
		}
	}
	return h.place()
}

// A leak has at least minGrowth more goroutines at the end than
// at the beginning, and a part of them in each quarter of the
// span.
const (
	minGrowth    = 10
	leakQuarters = 4
)

// leak returns a finding if the goroutines of a class become
// more and more, hardly any ends, and nearly all wait, or are in
// their first sleep. Those that wait for a connection's data,
// sleep again and again, or move, may go on. If others of the
// class end, it is about those that wait in one place.
func (s *searcher) leak(class int32) *Finding {
	c := &s.e.classes[class]
	if c.runtimes || c.goroutines-c.ended < minGrowth {
		return nil
	}
	there := anywhere
	others := 10*c.ended > c.goroutines
	if others {
		if there = s.gathering(class); there == nil {
			return nil
		}
	}
	w := s.waiting(class, there)
	g := s.growthOf(w.counts)
	if g == nil || others && 10*w.left > w.all || 10*w.size < 9*(g.To-w.moving) || 2*w.size < g.To {
		return nil
	}
	g.Waited, g.Alone, g.OthersEnd = w.waited, w.alone, others
	f := s.unmoved(LeakKind, class, g.To)
	f.Share = hotspots.Assumed(float64(w.size)/float64(g.To), int(s.e.to-s.e.from))
	f.Where, f.Reason, f.Growth = w.places.place(), w.reason, g
	return f
}

func anywhere(*situation) bool { return true }

// gathering returns the situations in the place where most
// goroutines of a class wait in the end, but not for work; nil
// if hardly any do.
func (s *searcher) gathering(class int32) func(*situation) bool {
	h, n := s.e.places.heaviest(), 0
	for run := range s.e.runs(ofClass(class, (*situation).waits)) {
		if run.Last >= s.e.to-1 {
			h.add(run.Stack, 1)
			n++
		}
	}
	if n < minGrowth {
		return nil
	}
	function := h.place().Function
	return func(at *situation) bool {
		return at.waits() && s.e.places.at(at.state.Stack) == function
	}
}

// growthOf returns how the number of goroutines grows, given the
// numbers at the quarters; nil if it does not.
func (s *searcher) growthOf(counts [leakQuarters + 1]int) *Growth {
	first, last := counts[0], counts[leakQuarters]
	growth := last - first
	if growth < max(minGrowth, first/5) {
		return nil
	}
	for q := range leakQuarters {
		if leakQuarters*3*(counts[q+1]-counts[q]) < growth {
			return nil
		}
	}
	seconds := (s.e.time(s.e.to-1) - s.e.time(s.e.from)).Seconds()
	return &Growth{From: first, To: last, PerSecond: float64(growth) / max(seconds, 1e-9)}
}

// findGrowth finds out which findings are about waits of a class
// that has more and more goroutines, though some end: more work
// comes than gets done.
func (a *searched) findGrowth() {
	for _, f := range a.Findings[:min(len(a.Findings), mostWho)] {
		class, known := a.e.byName[f.Class]
		if known && f.Growth == nil && (f.row().waits || f.Kind == LockKind || f.Kind == ProcessorKind) {
			f.Growth = a.growthOf(a.waiting(class, anywhere).counts)
		}
	}
}

// A waitingCrowd is goroutines of a class in some situations.
type waitingCrowd struct {
	counts    [leakQuarters + 1]int // of them, at the quarters
	all, left int                   // that ever were, and that ended or were elsewhere since

	// of those that are in the end
	moving int // they go on
	size   int // they wait for others, or are in their first sleep
	places *heaviest
	reason string        // of the last one
	waited time.Duration // the longest, at least; 0 if they sleep
	alone  bool          // no other class was seen at their channels
}

// waiting returns the goroutines of a class in some situations.
func (s *searcher) waiting(class int32, there func(*situation) bool) *waitingCrowd {
	stuck, asleep := &waitingCrowd{places: s.e.places.heaviest(), alone: true},
		&waitingCrowd{places: s.e.places.heaviest()}
	quarters, waits, peers := s.quarters(), s.e.r.Marking.Waits(), s.e.atChannels()
	sleeps := make(map[sampledata.GoroutineID]int)
	moves := make(map[sampledata.GoroutineID]*mover)
	stays := make(map[sampledata.GoroutineID]bool)
	var counts [leakQuarters + 1]int
	moving := 0
	for run, at := range s.e.runs(ofClass(class, anywhere)) {
		does, is := s.e.activity(at), there(at)
		if _, was := stays[run.Goroutine]; is || was {
			stays[run.Goroutine] = is && run.Last >= s.e.to-1
		}
		m := lists.Made(moves, run.Goroutine, func() *mover { return &mover{run: run} })
		m.see(run)
		if does == Sleeping {
			sleeps[run.Goroutine]++
		}
		if !is {
			continue
		}
		for q, at := range quarters {
			if run.First <= at && at <= run.Last {
				counts[q]++
			}
		}
		if run.Last < s.e.to-1 || run.Stack == sampledata.NoStack {
			continue
		}
		w := stuck
		switch does {
		case Ready, Computing, IO, CallsKernel:
			continue
		case Sleeping:
			if sleeps[run.Goroutine] > 1 {
				continue
			}
			w = asleep
		default:
			if m.times >= minMoves && m.moved >= quarters[leakQuarters-1] {
				moving++
				continue
			}
			w.waited = max(w.waited, waits[s.e.r.Goroutines.At(run.Goroutine).ID])
			w.alone = w.alone && len(peers[at.state.Channel]) == 1
		}
		w.size++
		w.reason = run.Reason
		w.places.add(run.Stack, 1)
	}
	w := stuck
	if asleep.size > stuck.size {
		w = asleep
	}
	w.counts, w.moving, w.all = counts, moving, len(stays)
	for _, still := range stays {
		if !still {
			w.left++
		}
	}
	return w
}

// A mover counts how often a goroutine was seen to move.
type mover struct {
	moved int32 // the sample in which it was last seen to move
	times int
	run   sampledata.Run // the last one
}

func (m *mover) see(run sampledata.Run) {
	if views.Moved(m.run, run) {
		m.times++
		m.moved = run.First
	}
	m.run = run
}

// minMoves is how often a goroutine moves at least that goes on:
// also in the last quarter. One that leaks waits for good.
const minMoves = 4

// quarters returns the samples that divide the time of the span
// into quarters, from the first to the last one. On a busy
// machine, there are more samples in one quarter than in
// another.
func (s *searcher) quarters() (at [leakQuarters + 1]int32) {
	from, to := s.e.time(s.e.from), s.e.time(s.e.to-1)
	for q := range at {
		sample := s.e.r.Samples.Search(from + time.Duration(q)*(to-from)/leakQuarters)
		at[q] = min(int32(sample), s.e.to-1)
	}
	return at
}
