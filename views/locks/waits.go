package locks

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A ledger sums up the waits of a span during a walk. It is a
// views.Visitor.
type ledger struct {
	r        *sampledata.Recording
	o        views.Options
	detail   detail
	ids      *identities
	classOf  func(sampledata.Run) string
	from, to int32

	locks   []account // by lock
	weights sampledata.Weights
	now     int32

	// What is observed of one goroutine in the current samples:
	// a hit in each, and the time that they stand for.
	hits, time int64

	at       []int32              // by goroutine: the run that it last began; -1 before its first
	isHeld   []bool               // by goroutine: whether a holder set contains it
	waiting  map[waitingFor]int64 // number of waiting goroutines
	path     []sampledata.GoroutineID
	links    []link
	visited  int
	key      []byte
	chains   map[string]*chain // by key
	circles  *circles
	standing []*circle // the deadlocks of the whole recording
	shared   *sharing  // nil if only locks are of interest
}

// An account has the sums for a lock.
type account struct {
	waits   exact.Sum
	by      [sampledata.Free + 1]exact.Sum // parts of them, by evidence
	woken   exact.Sum
	waiters map[User]*exact.Sum // nil if there are none
	parts   map[int]*exact.Sum  // by instance, if locks are analysed by field
}

// waitingFor has everything on which the blame for a wait depends.
type waitingFor struct {
	link
	holders  sampledata.HolderSetID
	evidence sampledata.Evidence
	who      sampledata.GoroutineID // the goroutine, if others may wait for it; else nobody
}

const nobody sampledata.GoroutineID = -1

// A detail is how much a sweep finds out. Each has what those
// before it have.
type detail int

const (
	waitsOnly  detail = iota
	withShared        // waits for what is no lock
	withChains
)

// sweep walks through the span in the options.
func sweep(r *sampledata.Recording, o views.Options, ids *identities,
	detail detail) (*ledger, error) {
	from, to, err := o.Span.Samples(r)
	if err != nil {
		return nil, err
	}
	l := &ledger{
		r: r, o: o, detail: detail, ids: ids, classOf: views.ClassOf(r, o), from: from, to: to,
		weights: r.Weights(), isHeld: r.Held(),
		at:      slices.Repeat([]int32{-1}, r.Goroutines.Len()),
		waiting: make(map[waitingFor]int64), chains: make(map[string]*chain),
	}
	l.locks = make([]account, len(l.ids.all))
	l.circles = circlesOf(r)
	l.standing = l.circles.standing(int32(r.Samples.Len() - 1))
	if detail >= withShared {
		l.shared = newSharing(l)
	}
	return l, views.Walk(r, from, to, l)
}

// blames reports whether a goroutine waits for a lock with
// holders that the recording names.
func blames(does views.Doing, e sampledata.Evidence) bool {
	return does == views.AwaitingLock && e.Blames()
}

// proves reports whether a goroutine waits for a lock with
// holders that are known for sure. Only such waits make a
// deadlock.
func proves(does views.Doing, e sampledata.Evidence) bool {
	return blames(does, e) && e != sampledata.Likely
}

// Begin records that a goroutine enters a state.
func (l *ledger) Begin(i int32, run sampledata.Run, first, samples int32) bool {
	l.at[run.Goroutine] = i
	if !l.r.Counts(int(i)) {
		return false
	}
	n, time := int64(samples), l.weights.Of(int(first), int(first+samples))
	if views.DoingOf(run) != views.AwaitingLock {
		return l.shared != nil && l.shared.begin(run, n, time)
	}
	a := &l.locks[l.ids.lock(run)]
	l.count(a, l.ids.instance(run), run, l.ids.function(l.ids.takerAt(run.Stack)), n, time)
	if run.Evidence == sampledata.Free {
		a.by[sampledata.Free].Add(n, time, 1, 1)
		a.woken.Add(n, time, int64(len(l.r.HolderSets[run.Holders])), 1)
	}
	if !blames(views.DoingOf(run), run.Evidence) {
		return false
	}
	l.waiting[l.waitingFor(run)]++
	return true
}

// count adds a wait to an account, by who waits in which function.
func (l *ledger) count(a *account, instance int, run sampledata.Run, in string, n, time int64) {
	if a.waiters == nil {
		a.waiters, a.parts = make(map[User]*exact.Sum), make(map[int]*exact.Sum)
	}
	a.waits.Add(n, time, 1, 1)
	if l.ids.by == ByField {
		lists.Made(a.parts, instance, newSum).Add(n, time, 1, 1)
	}
	lists.Made(a.waiters, User{l.classOf(run), in, run.Reason}, newSum).Add(n, time, 1, 1)
	if run.Evidence == sampledata.Ambiguous {
		a.by[sampledata.Ambiguous].Add(n, time, 1, 1)
	}
}

func (l *ledger) waitingFor(run sampledata.Run) waitingFor {
	w := waitingFor{link: link{l.classOf(run), l.ids.lock(run)}, holders: run.Holders,
		evidence: run.Evidence, who: nobody}
	if l.isHeld[run.Goroutine] {
		w.who = run.Goroutine
	}
	return w
}

// End records that a waiter leaves its state.
func (l *ledger) End(run sampledata.Run) {
	if views.DoingOf(run) != views.AwaitingLock {
		l.shared.end(run)
		return
	}
	w := l.waitingFor(run)
	if l.waiting[w]--; l.waiting[w] == 0 {
		delete(l.waiting, w)
	}
}

// Sample divides the hits of a sample among the holders.
func (l *ledger) Sample(s, alike int32) error {
	l.now, l.hits, l.time = s, int64(alike), l.weights.Of(int(s), int(s+alike))
	for w, n := range l.waiting {
		l.divide(&w, n)
	}
	if l.shared != nil {
		l.shared.sample()
	}
	return nil
}

// divide adds a number of waiters to their lock, and traces the
// chains from its holders. Only holders that exist count.
func (l *ledger) divide(w *waitingFor, waiters int64) {
	set := l.r.HolderSets[w.holders]
	known := int64(lists.Count(set, l.exists))
	l.locks[w.lock].by[w.evidence].Add(l.hits, l.time, waiters*known, int64(len(set)))
	if l.detail < withChains {
		return
	}
	l.visited, l.links, l.path = 0, append(l.links[:0], w.link), l.path[:0]
	if w.who != nobody {
		l.path = append(l.path, w.who)
	}
	l.trace(set, part{waiters, 1})
}

// run returns the run that a goroutine is in; false if it
// doesn't exist in this sample.
func (l *ledger) run(g sampledata.GoroutineID) (run sampledata.Run, exists bool) {
	i := l.at[g]
	if i < 0 {
		return run, false
	}
	run = l.r.Runs.At(int(i))
	return run, run.Last >= l.now
}

func (l *ledger) exists(g sampledata.GoroutineID) bool {
	_, exists := l.run(g)
	return exists
}

// analysis returns the sums.
func (l *ledger) analysis() *Analysis {
	a := &Analysis{
		By:       l.ids.by,
		Samples:  int(l.to - l.from),
		Observed: time.Duration(l.weights.Of(int(l.from), int(l.to))), Length: l.length(),
		Deadlocks: l.deadlocks(), Seeming: l.seeming(),
	}
	var all account
	for i, lock := range l.ids.all {
		if l.locks[i].sumUp(lock, l.ids.locks, &all) {
			a.Locks = append(a.Locks, lock)
		}
	}
	sortLocks(a.Locks)
	if l.shared != nil {
		a.Shared, a.SharedEvidence = l.shared.analysis()
		a.SharedUnread = calltree.TotalOf(&l.shared.unread)
	}
	a.Evidence = all.evidence()
	a.Chains = l.sortedChains()
	for _, c := range a.Chains {
		first := c.Links[0].Lock
		first.Chains = append(first.Chains, c)
	}
	return a
}

// length returns the duration of the span.
func (l *ledger) length() time.Duration {
	end := l.r.Stats().Duration
	if to := l.o.Span.To; to != 0 {
		end = min(end, to)
	}
	return max(0, end-l.o.Span.From)
}

// evidence returns the waits by evidence. Holders that do not
// exist at the time of a wait count as none.
func (a *account) evidence() Evidence {
	by := func(e sampledata.Evidence) calltree.Total { return calltree.TotalOf(&a.by[e]) }
	e := Evidence{
		Total: calltree.TotalOf(&a.waits), Recorded: by(sampledata.Recorded),
		Inferred: by(sampledata.Inferred), Likely: by(sampledata.Likely),
		Ambiguous: by(sampledata.Ambiguous), Free: by(sampledata.Free), Woken: calltree.TotalOf(&a.woken),
	}
	e.None = e.Minus(e.Recorded).Minus(e.Inferred).Minus(e.Likely).Minus(e.Ambiguous).Minus(e.Free)
	return e
}

// sumUp sets the sums of a lock, and adds them to the sums of all.
// It returns false if nobody waited for the lock.
func (a *account) sumUp(l *Lock, instances []*Lock, all *account) bool {
	if a.waiters == nil {
		return false
	}
	l.Evidence = a.evidence()
	l.Waiters, l.Parts = sortedUsers(a.waiters), partsOf(a, instances)
	all.add(a)
	return true
}

func newSum() *exact.Sum { return new(exact.Sum) }

// partsOf lists the instances of a field, those first for which
// goroutines waited longest.
func partsOf(a *account, instances []*Lock) (parts []Part) {
	for instance, sum := range a.parts {
		lock := instances[instance]
		parts = append(parts, Part{Lock: lock.label, Instance: lock.Instance,
			Address: lock.Address, Total: calltree.TotalOf(sum)})
	}
	slices.SortFunc(parts, func(x, y Part) int {
		return cmp.Or(y.Weight.Cmp(x.Weight), cmp.Compare(x.Instance, y.Instance))
	})
	return parts
}

func (a *account) add(b *account) {
	a.waits.AddSum(&b.waits)
	for e := range a.by {
		a.by[e].AddSum(&b.by[e])
	}
	a.woken.AddSum(&b.woken)
}
