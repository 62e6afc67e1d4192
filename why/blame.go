package why

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Certainty says how it is known whom goroutines wait for.
type Certainty string

// The certainties.
const (
	Known Certainty = "known" // the holders of a lock
	// of all goroutines, only these are where they may hold what
	// the others wait for
	Likely    Certainty = "likely"
	Candidate Certainty = "candidate" // they may end the wait; others may, too
	// whoever waits for a group has started them, in the same function
	Started Certainty = "started"
	// they wait for the same channel from its other side at other times
	OtherSide Certainty = "peer"
	// the goroutine that started them for one piece of work, in
	// the same function as these, waits for all
	Sibling Certainty = "sibling"
	// the goroutines that they have started in the function in
	// which they wait
	Child Certainty = "child"
	// the goroutines that they have started elsewhere, which begin
	// and end with the wait
	Meanwhile Certainty = "meanwhile"
	// others of the class, which are further on in a function in
	// which these wait
	Fellow Certainty = "fellow"
)

// isGuess reports whether others may wait for somebody else just
// as well.
func (c Certainty) isGuess() bool { return c == Fellow || c == Meanwhile }

// A Cause is what the goroutines do that others wait for.
type Cause struct {
	Class     string    `json:"class,omitempty"`
	Activity  Activity  `json:"activity"`
	Place     Place     `json:"place"`
	Within    float64   `json:"within"`         // the share of it that has the place's function
	Lock      string    `json:"lock,omitempty"` // that they wait for themselves
	Share     float64   `json:"share"`          // of the time of the goroutines that wait for them
	Certainty Certainty `json:"certainty"`
	// the function that took the lock, if others wait for it in
	// the same one; of a Fellow at something else, the one in
	// which it is further on
	Taken string `json:"taken,omitempty"`
	// of those who wait for a lock that is no finding: who holds that
	Behind *Cause `json:"behind,omitempty"`

	forWork bool // they have a lock, and wait for work
}

// maxOverlaps limits the work to find causes: how many states of
// holders are compared with states of waiters.
const maxOverlaps = 2_000_000

// A doer is goroutines of a class with one activity.
type doer struct {
	class    string
	activity Activity
	lock     string
	certain  Certainty
	taken    string
	forWork  bool
}

// blamed sums up what the goroutines do that others wait for.
type blamed struct {
	e      *evidence
	total  float64
	weight map[doer]float64
	where  map[doer]*heaviest
	takers map[string]bool              // the functions in which goroutines wait for the lock
	takes  map[sampledata.NodeID]string // by stack: the taker on it
	stacks map[sampledata.NodeID]bool   // with waits for which candidates are named
	sends  bool                         // some wait to send to a channel
	visits int
}

func newBlamed(e *evidence) *blamed {
	return &blamed{e: e, weight: make(map[doer]float64), where: make(map[doer]*heaviest),
		takers: make(map[string]bool), takes: make(map[sampledata.NodeID]string), stacks: make(map[sampledata.NodeID]bool)}
}

// blame finds out what the goroutines do that those in the
// situations wait for, by the holders and candidates that the
// recording names. The first causes have the largest share. Of
// the candidates of one wait each gets an equal part of it. known
// is the share of the waits in which somebody is known to end
// them, or likely to.
func (e *evidence) blame(of func(*situation) bool) (causes []Cause, known float64) {
	return e.blameNamed(of, leastNamed)
}

// blameNamed does so, if candidates are named for a part of the waits for
// channels that stands for the others.
func (e *evidence) blameNamed(of func(*situation) bool, least float64) (causes []Cause, known float64) {
	b := newBlamed(e)
	e.indexRuns()
	for _, at := range e.situations {
		if at.state.Doing == views.AwaitingLock && of(at) {
			b.takers[e.places.at(at.state.Stack)] = true
		}
	}
	var unnamed []sampledata.Run
	for run, at := range e.runs(of) {
		if b.visits >= maxOverlaps {
			break // the first ones stand for all
		}
		b.total += e.between(run.First, run.Last)
		b.add(run)
		switch {
		case !at.state.Doing.OfChannel():
		case run.Holders == 0:
			unnamed, b.sends = append(unnamed, run), b.sends || at.state.Doing == views.Sending
		default:
			b.stacks[run.Stack] = true
		}
	}
	b.addUnnamed(unnamed, least)
	return b.causes(), b.known()
}

// known returns the share of the waits in which somebody is known
// to end them, or likely to.
func (b *blamed) known() float64 {
	sum := 0.0
	for d, w := range b.weight {
		if d.certain != Candidate {
			sum += w
		}
	}
	return sum / max(b.total, 1)
}

// matching returns which situations a predicate holds for.
func (e *evidence) matching(of func(*situation) bool) []bool {
	return lists.Each(e.situations, of)
}

// runs yields the runs in some situations, with these.
func (e *evidence) runs(of func(*situation) bool) iter.Seq2[sampledata.Run, *situation] {
	return func(yield func(sampledata.Run, *situation) bool) {
		hit := e.matching(of)
		for i, run := range e.r.Runs.All() {
			if at := e.of[i]; at >= 0 && hit[at] && !yield(run, e.situations[at]) {
				return
			}
		}
	}
}

// between returns the weight of the span's samples from first to last.
func (e *evidence) between(first, last int32) float64 {
	return float64(e.weights.Of(int(max(first, e.from)), int(min(last, e.to-1))+1))
}

// indexRuns lists the runs of each goroutine that others wait for.
func (e *evidence) indexRuns() {
	if e.runsOf != nil {
		return
	}
	wanted := e.r.Held()
	for _, members := range e.startedBy() {
		for _, g := range members {
			wanted[g] = true
		}
	}
	e.runsOf = make([][]int32, e.r.Goroutines.Len())
	for i, run := range e.r.Runs.All() {
		if e.of[i] != -1 && wanted[run.Goroutine] {
			e.runsOf[run.Goroutine] = append(e.runsOf[run.Goroutine], int32(i))
		}
	}
}

// startedBy lists what a goroutine has started, by its number,
// if it waits for a group or for channels, or has started one
// that waits for a group. It makes the list on first use.
func (e *evidence) startedBy() map[int64][]sampledata.GoroutineID {
	if e.started != nil {
		return e.started
	}
	e.started = make(map[int64][]sampledata.GoroutineID)
	for i, run := range e.r.Runs.All() {
		if e.of[i] == -1 {
			continue
		}
		g := e.r.Goroutines.At(run.Goroutine)
		switch does := views.DoingOf(run); {
		case does == views.AwaitingGroup:
			e.started[g.ID], e.started[g.Parent] = nil, nil
		case does.OfChannel() && !e.in(e.of[i]).idle:
			e.started[g.ID] = nil
		}
	}
	for g, one := range e.r.Goroutines.All() {
		if members, waits := e.started[one.Parent]; waits {
			e.started[one.Parent] = append(members, g)
		}
	}
	return e.started
}

// members returns the goroutines that a wait for a group
// probably waits for: those that the goroutine has started in a
// function in which it is still, or in a method of the group. A
// goroutine that has started none may only close a channel after
// the others that were started with it, and end.
func (b *blamed) members(run sampledata.Run, first, last int32) ([]sampledata.GoroutineID, Certainty) {
	within := make(map[string]bool)
	for n := run.Stack; n != sampledata.NoStack; n = b.e.r.Nodes[n].Parent {
		name := b.e.places.function(n)
		within[name] = true
		if receiver, ok := strings.CutSuffix(name, ").Wait"); ok {
			within[receiver+").Go"] = true
		}
	}
	own := b.e.r.Goroutines.At(run.Goroutine)
	if all := b.startedIn(own.ID, func(function string) bool { return within[function] }, first, last); len(all) > 0 {
		return all, Started
	}
	if own.Parent == 0 { // it is not known who has started it
		return nil, Sibling
	}
	all := b.startedIn(own.Parent, func(function string) bool { return function == own.Site.Function }, first, last)
	return slices.DeleteFunc(all, func(g sampledata.GoroutineID) bool {
		return g == run.Goroutine || b.outlives(g, run)
	}), Sibling
}

// startedIn returns the goroutines that another one has started
// in some functions, and that live in some samples.
func (b *blamed) startedIn(parent int64, in func(function string) bool, first, last int32) (all []sampledata.GoroutineID) {
	for _, g := range b.e.startedBy()[parent] {
		b.visits++
		if len(b.e.runsOf[g]) == 0 {
			continue
		}
		from, to := b.e.life(g)
		if from <= last && to >= first && in(b.e.r.Goroutines.At(g).Site.Function) {
			all = append(all, g)
		}
	}
	return all
}

// outlives reports whether a goroutine lives on when another one
// goes on after a wait: it did not wait for the end of that
// goroutine.
func (b *blamed) outlives(g sampledata.GoroutineID, wait sampledata.Run) bool {
	_, last := b.e.life(g)
	_, waits := b.e.life(wait.Goroutine)
	return min(last, waits) > wait.Last
}

// life returns the first and the last sample with a goroutine
// that indexRuns lists.
func (e *evidence) life(g sampledata.GoroutineID) (first, last int32) {
	runs := e.runsOf[g]
	return e.r.Runs.At(int(runs[0])).First, e.r.Runs.At(int(runs[len(runs)-1])).Last
}

// add adds what the goroutines do that a run waits for.
func (b *blamed) add(run sampledata.Run) {
	if run.Evidence == sampledata.Free {
		b.weight[doer{activity: Nobody, certain: Known}] += b.e.between(run.First, run.Last)
		return
	}
	b.addHolders(run, run.First, run.Last, Known, 1, maxBehind)
}

// maxBehind limits how many waits are followed to who ends them.
const maxBehind = 8

// addHolders adds what those do that a run waits for, for a part
// of the run, and returns the weight for which they are known. What is
// so far certain may get less so.
func (b *blamed) addHolders(run sampledata.Run, first, last int32, certain Certainty,
	part float64, depth int) (known float64) {
	set, how := b.e.r.HolderSets[run.Holders], certaintyOf(run.Evidence)
	if len(set) == 0 && views.DoingOf(run) == views.AwaitingGroup {
		set, how = b.members(run, first, last)
	}
	for _, g := range set {
		known += b.overlap(g, run.Lock, first, last, weaker(certain, how), part/float64(len(set)), depth)
	}
	return known
}

func certaintyOf(e sampledata.Evidence) Certainty {
	switch {
	case isKnown(e):
		return Known
	case e == sampledata.Likely:
		return Likely
	}
	return Candidate
}

// weaker returns the certainty of what follows from two others.
func weaker(a, b Certainty) Certainty {
	for _, c := range []Certainty{Sibling, Meanwhile, Child, Candidate, Likely, Started} {
		if a == c || b == c {
			return c
		}
	}
	return Known
}

// overlap adds what a goroutine does in some samples that others
// wait for. A writer that waits for earlier readers keeps later
// ones waiting, but does not have the lock: who has it is the
// one that the writer waits for. One that waits for others to
// end is as slow as they are, as long as these are known. It returns the
// weight that was added.
func (b *blamed) overlap(g sampledata.GoroutineID, lock uint64, first, last int32,
	certain Certainty, part float64, depth int) (added float64) {
	runs := b.e.runsOf[g]
	at, _ := slices.BinarySearchFunc(runs, first, func(i, first int32) int {
		return cmp.Compare(b.e.r.Runs.At(int(i)).Last, first)
	})
	for ; at < len(runs); at++ {
		run := b.e.r.Runs.At(int(runs[at]))
		if run.First > last {
			break
		}
		b.visits++
		s := b.e.in(b.e.of[runs[at]])
		from, to := max(first, run.First), min(last, run.Last)
		does := s.state.Doing
		behind := does == views.AwaitingGroup || does == views.AwaitingLock && certain == Known &&
			run.Lock == lock && isKnown(run.Evidence)
		all := part * b.e.between(from, to)
		added += all
		if behind && depth > 0 && b.visits <= maxOverlaps {
			all -= b.addHolders(run, from, to, certain, part, depth-1)
		}
		if all > 1 { // a nanosecond
			b.do(s, certain, all)
		}
	}
	return added
}

// isKnown reports whether it is known who holds the lock.
func isKnown(e sampledata.Evidence) bool {
	return e == sampledata.Inferred || e == sampledata.Recorded
}

// do adds a weight to what the goroutines of a situation do.
func (b *blamed) do(s *situation, certain Certainty, weight float64) {
	d := doer{b.e.name(s), b.e.activity(s), s.lock, certain, b.taker(s.state.Stack), false}
	if d.activity == WaitsForWork && len(b.takers) > 0 && certain != Candidate { // not with a lock that others wait for
		d.activity, d.forWork = cmp.Or(activities[s.state.Doing], OtherWait), true
	}
	b.weight[d] += weight
	lists.Made(b.where, d, b.e.places.heaviest).add(s.state.Stack, weight)
}

// taker returns the innermost function on a holder's stack in
// which others wait for the lock; "" if it waits itself there.
func (b *blamed) taker(stack sampledata.NodeID) string {
	if len(b.takers) == 0 || stack == sampledata.NoStack {
		return ""
	}
	return lists.Made(b.takes, stack, func() string {
		above := b.e.r.Nodes[b.e.places.own[stack]].Parent
		return b.e.r.NameAt(b.e.r.Innermost(above, func(name string) bool { return b.takers[name] }))
	})
}

// minCause is the least share of a cause.
const minCause = 0.05

// mergeMembers adds what the members of a group do to the same
// of members that are known in the other way: both are waited
// for.
func (b *blamed) mergeMembers() {
	for d, w := range b.weight {
		likely := d
		if likely.certain = Likely; d.certain == Started && b.weight[likely] > 0 {
			b.weight[likely] += w
			delete(b.weight, d)
		}
	}
}

// causes returns the sums, the largest first.
func (b *blamed) causes() []Cause {
	b.mergeMembers()
	var all []Cause
	for d, w := range b.weight {
		if b.total == 0 || w < minCause*b.total {
			continue
		}
		c := Cause{Class: d.class, Activity: d.activity, Lock: d.lock, Share: w / b.total,
			Certainty: d.certain, Taken: d.taken, forWork: d.forWork}
		if h := b.where[d]; h != nil {
			c.Place = h.place()
			c.Within = h.within(c.Place.Function)
			if h.calls(&c.Place) < explains {
				c.Place.Library = "" // it calls others, too
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.Activity, y.Activity), cmp.Compare(x.Lock, y.Lock), cmp.Compare(x.Taken, y.Taken))
	})
	return all
}

// shareWhere returns the share of a wait that causes of a kind have.
func shareWhere(causes []Cause, is func(*Cause) bool) (share float64) {
	for i := range causes {
		if is(&causes[i]) {
			share += causes[i].Share
		}
	}
	return share
}

// sharesOf returns the share of a wait that some causes have.
func sharesOf(causes []Cause) float64 {
	return lists.Sum(causes, func(c Cause) float64 { return c.Share })
}

// doing returns the causes with one of some activities.
func doing(these ...Activity) func(*Cause) bool {
	return func(c *Cause) bool { return slices.Contains(these, c.Activity) }
}

// minCandidates is the share of the waits from which goroutines
// are named that may end them. Nobody is known to end the
// others.
const minCandidates = 0.25

// blameFor returns what those do that goroutines wait for, but for guesses.
func (e *evidence) blameFor(f *Finding, of func(*situation) bool) []Cause {
	all, known := e.blame(of)
	all = slices.DeleteFunc(all, func(c Cause) bool { return c.unlikely(f) })
	candidates := shareWhere(all, func(c *Cause) bool { return c.Certainty == Candidate })
	if candidates < minCandidates {
		all = slices.DeleteFunc(all, func(c Cause) bool { return c.Certainty == Candidate })
		candidates = 0
	}
	if known += candidates; known > 0 {
		f.Unknown = max(0, 1-known)
	}
	return all
}

// unlikely reports whether what may end a wait is no more than a
// guess: goroutines that wait for work themselves, that are in
// no code of the program, or that wait in the same class.
func (c *Cause) unlikely(f *Finding) bool {
	return c.Certainty == Candidate &&
		(c.Activity == WaitsForWork || !views.IsOwn(c.Place.Function) ||
			c.Class == f.Class && f.Kind != LockKind)
}
