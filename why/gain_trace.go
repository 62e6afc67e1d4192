package why

import (
	"maps"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A target is a cost that may be left out.
type target struct {
	hit func(*situation) bool
	// it is code: who waits for a lock in it waits for the lock's holder
	code bool
	// the collector does less without it, as it allocates
	garbage bool
}

// hitsOfOthers returns what a finding's share counts, and the same of
// the other classes that it names.
func (s *searcher) hitsOfOthers(f *Finding) func(*situation) bool {
	all := []func(*situation) bool{s.hits(f)}
	for _, p := range f.Others {
		of := *f
		of.Class = p.Name
		all = append(all, s.hits(&of))
	}
	return func(at *situation) bool {
		return slices.ContainsFunc(all, func(hit func(*situation) bool) bool { return hit(at) })
	}
}

// copies reports whether most of what a finding allocates is for the
// runtime's copies.
func (s *searcher) copies(f *Finding) bool {
	return f.Kind == AllocationKind && s.doing(f, copiers) >= isSign
}

// awaitsOthers reports whether a situation is a wait that takes no
// CPU, but for a lock, whose holder may be in the same code.
func (s *situation) awaitsOthers() bool {
	switch s.state.Doing {
	case views.AwaitingLock, views.InSystemCall, views.AwaitingCollector:
		return false
	}
	return s.waits()
}

// awaits returns the waits for a lock.
func awaits(lock string) func(*situation) bool {
	return func(at *situation) bool {
		return at.state.Doing == views.AwaitingLock && at.lock == lock
	}
}

// mostHolders limits the chain of goroutines that one waits for,
// and mostWaits the waits in it for others than a lock's
// holders.
const (
	mostHolders = 5
	mostWaits   = 3
)

// A tracer attributes the time of goroutines to a target, moment
// by moment. Who waits for a lock waits for what its holder
// does; who is ready, for those that run; and who waits for
// others, for what the others do (wPerf, OSDI '18).
type tracer struct {
	*moments
	code      bool
	target    []bool  // by situation
	onCPU     []tally // by class: its time on CPUs
	waited    []tally // by class: its waits; nil if these are not why it is ready to run
	collector float64 // the share of the allocations that is the target's
	locks     bool    // the target has waits for locks, but no code
	under     bool    // what is done under these goes away, too

	// of one moment
	workers []worker
	of      []int32 // by goroutine: its worker, plus 1
	holds   []bool  // by worker: it holds a lock, the waits for which are the target, too
	ready   float64 // the share of those that run that is the target's
	busy    []tally // by class: those that others may wait for
	all     tally   // the sum of busy
	summed  bool
}

// A tally counts goroutines, and how much of their time is the target's.
type tally struct{ count, target float64 }

func (t *tally) add(share float64) { t.count++; t.target += share }

func (t tally) mean() float64 { return t.target / max(t.count, 1) }

func (m *moments) tracer(t target) *tracer {
	b := &tracer{moments: m, code: t.code, target: m.s.e.matching(t.hit),
		of: make([]int32, m.s.e.r.Goroutines.Len()), busy: make([]tally, len(m.s.e.classes)),
		onCPU: make([]tally, len(m.s.e.classes))}
	for i, at := range m.s.e.situations {
		if at.state.Doing != views.Executing {
			continue
		}
		its := &b.onCPU[at.class]
		its.count += at.weight
		if b.target[i] {
			its.target += at.weight
		}
	}
	if !t.code && m.s.ran+m.s.noCPU+m.s.scheduling() < busy*m.s.e.processors {
		b.waited = b.waitsFor()
	}
	b.locks = !t.code && slices.ContainsFunc(m.s.e.situations,
		func(at *situation) bool { return at.state.Doing == views.AwaitingLock && t.hit(at) })
	if t.code || t.garbage {
		var garbage tally
		for i, at := range m.s.e.situations {
			if !at.usesCPU() || !m.s.kinds.on(at.state.Stack, allocKind) {
				continue
			}
			garbage.count += at.weight
			if b.target[i] {
				garbage.target += at.weight
			}
		}
		b.collector = garbage.mean()
	}
	return b
}

// waitsFor returns how much of each class's waits is the target's. If
// there are free processors, goroutines are ready to run because a wait
// has ended for many at once.
func (b *tracer) waitsFor() []tally {
	all := make([]tally, len(b.s.e.classes))
	for i, at := range b.s.e.situations {
		if d := at.state.Doing; at.idle || d.Executes() || d == views.Ready {
			continue
		}
		its := &all[at.class]
		if its.count += at.weight; b.target[i] {
			its.target += at.weight
		}
	}
	return all
}

// enter begins with a moment. It returns those that use CPUs.
func (b *tracer) enter(moment int) (uses tally) {
	for _, w := range b.workers {
		b.of[w.goroutine] = 0
	}
	b.workers, b.summed = b.moments.workers[moment], false
	for i := range b.workers {
		b.of[b.workers[i].goroutine] = int32(i) + 1
	}
	b.findHolders()
	running := tally{} // those that have a processor, with or without a CPU
	for i := range b.workers {
		w := &b.workers[i]
		if does := b.at(w).state.Doing; does.Executes() {
			share := b.share(w, 0)
			running.add(share)
			if does == views.Executing {
				uses.add(share)
			}
		}
	}
	b.ready = running.mean()
	return uses
}

// findHolders finds out who holds locks, the waits for which are
// the target, if what they do under the lock is, too.
func (b *tracer) findHolders() {
	b.holds = slices.Grow(b.holds[:0], len(b.workers))[:len(b.workers)]
	clear(b.holds)
	for i := range b.workers {
		w := &b.workers[i]
		if !b.under || !w.certain || !b.target[w.situation] || b.at(w).state.Doing != views.AwaitingLock {
			continue
		}
		for _, g := range b.s.e.r.HolderSets[w.holders] {
			if k := b.of[g]; k > 0 {
				b.holds[k-1] = true
			}
		}
	}
}

func (b *tracer) at(w *worker) *situation { return b.s.e.situations[w.situation] }

// share returns the share of a goroutine's time in this moment
// that is the target's. Who waits for a CPU of the machine needs it
// for all that the class computes: threads often wait for one where
// they were woken, and seldom where they compute.
func (b *tracer) share(w *worker, depth int) float64 {
	at, hit := b.at(w), b.target[w.situation]
	does := at.state.Doing
	switch {
	case does == views.WithoutCPU && b.onCPU[at.class].count > 0 && !b.s.e.classes[at.class].collector:
		return b.onCPU[at.class].mean()
	case hit && !(b.code && does == views.AwaitingLock), b.holds[b.of[w.goroutine]-1]:
		return 1
	case does.Executes():
		if b.s.e.classes[at.class].collector {
			return b.collector
		}
		return 0
	case does == views.Ready && b.waited != nil:
		return b.waited[at.class].mean()
	case does == views.Ready:
		return b.ready
	case does == views.AwaitingLock:
		if held, known := b.held(w, depth); known {
			return held
		}
		if hit {
			return 1
		}
		return b.ready
	case b.collects[w.situation]:
		return b.collector
	case outside(does), b.asks[w.situation] && b.others, depth >= mostWaits:
		return 0
	}
	if ends, known := b.held(w, depth); known {
		return ends
	}
	return b.awaited(w.situation, depth)
}

// outside reports whether nobody in the program ends a wait, as
// far as is known.
func outside(does views.Doing) bool {
	return does == views.Sleeping || does == views.InSystemCall || does == views.AwaitingIO
}

// held returns the share of what the holders do of the lock that
// a goroutine waits for, or those that may end its wait. A
// lock's holder that is none of the workers waits for work or
// has not moved: it does nothing of the target.
func (b *tracer) held(w *worker, depth int) (share float64, known bool) {
	if w.free || depth >= mostHolders {
		return 0, false
	}
	var holders tally
	for _, g := range b.awaitedBy(w, depth) {
		if i := b.of[g]; i > 0 && g != w.goroutine {
			holders.add(b.share(&b.workers[i-1], depth+1))
		}
	}
	locked := b.at(w).state.Doing == views.AwaitingLock && len(b.s.e.r.HolderSets[w.holders]) > 0
	return holders.mean(), holders.count > 0 || locked
}

// mostMembers limits the goroutines of a group that count one by one.
const mostMembers = 10_000

// awaitedBy returns the goroutines that a goroutine waits for, or may wait
// for: those that the recording names or, for a group, those that it has
// started. Those that are waited for may wait for groups in turn: that is
// not followed, since it may be for one another.
func (b *tracer) awaitedBy(w *worker, depth int) []sampledata.GoroutineID {
	set := b.s.e.r.HolderSets[w.holders]
	if len(set) > 0 || depth > 0 || b.at(w).state.Doing != views.AwaitingGroup {
		return set
	}
	return lists.Made(b.members, w.run, func() []sampledata.GoroutineID {
		b.s.e.indexRuns()
		run := b.s.e.r.Runs.At(int(w.run))
		all, _ := newBlamed(b.s.e).members(run, run.First, run.Last)
		if len(all) > mostMembers {
			return nil
		}
		return all
	})
}

// awaited returns the share of what those do that goroutines
// wait for, if the recording does not name them: the classes at
// the other end of the channel, those that have what is shared
// or, if neither is known, all other classes. If these have no
// work, and none wakes up for it, it is its own class, which may start
// goroutines for parts.
func (b *tracer) awaited(situation int32, depth int) float64 {
	at := b.s.e.situations[situation]
	peers, has := b.peers[at.state.Channel], []bool(nil)
	if p := b.pool(situation); p != nil {
		has = p.has
	}
	if len(peers) > 1 || has != nil {
		var those tally
		for i := range b.workers {
			w := &b.workers[i]
			class := b.at(w).class
			if has != nil && has[w.situation] || class != at.class && slices.Contains(peers, class) {
				those.add(b.share(w, max(depth+1, mostWaits)))
			}
		}
		return those.mean()
	}
	b.sumUp()
	own := b.busy[at.class]
	others := tally{b.all.count - own.count, b.all.target - own.target}
	wakes := slices.ContainsFunc(b.waking, func(class int32) bool { return class != at.class })
	if others.count > 0 || wakes || b.asks[situation] {
		return others.mean()
	}
	return own.mean()
}

// sumUp sums up the goroutines that others may wait for: the
// program's goroutines that don't wait for others themselves.
func (b *tracer) sumUp() {
	if b.summed {
		return
	}
	b.summed, b.all = true, tally{}
	clear(b.busy)
	for i := range b.workers {
		at := b.at(&b.workers[i])
		does := at.state.Doing
		if does.Waits() && !outside(does) && (b.own || !b.asks[b.workers[i].situation]) || b.s.e.classes[at.class].runtimes {
			continue
		}
		share := b.share(&b.workers[i], mostWaits)
		b.busy[at.class].add(share)
		b.all.add(share)
	}
}

// A traced is what the moments say of a class and a target.
type traced struct {
	// of the goroutines of the class at work (Base), those that
	// go through the target
	through []hotspots.Observation
	cpu     []hotspots.Observation // the same of all that use CPUs
	centres []*centre
	foreign float64                           // the share of other classes in the CPU time, without the target's
	left    sums                              // by situation of the class: the time that is not the target's
	each    map[sampledata.GoroutineID]visits // of the class
}

// trace attributes the time of a class to the target.
func (b *tracer) trace(class int32) *traced {
	e, n := b.s.e, len(b.samples)
	t := &traced{through: make([]hotspots.Observation, n), cpu: make([]hotspots.Observation, n),
		left: make(sums), each: make(map[sampledata.GoroutineID]visits)}
	own, cpus, along := newCentre(n), newCentre(n), b.along(class)
	held := &heldLocks{b.moments, make(map[uint64]*centre)}
	goroutines := e.mean(e.classes[class].life)
	others := tally{}
	for i, sample := range b.samples {
		weight, uses := b.weight(i), b.enter(i)
		t.cpu[i] = hotspots.Observation{Weight: weight, Hits: uses.target, Base: uses.count}
		processors := float64(e.cpus.Processors[sample])
		own.enter(i, weight, min(goroutines, processors))
		cpus.enter(i, weight, max(float64(e.cpus.Used[sample]), processors-float64(e.cpus.NoCPU[sample])))
		through := &t.through[i]
		through.Weight = weight
		others.count += weight * uses.count
		for k := range b.workers {
			w := &b.workers[k]
			at := b.at(w)
			runs, share := at.state.Doing.Executes(), b.share(w, 0)
			if at.state.Doing == views.Executing && along[at.class] {
				cpus.add(i, share)
			}
			if at.class != class {
				if at.state.Doing == views.Executing && !e.classes[at.class].runtimes {
					others.target += weight * (1 - share)
				}
				continue
			}
			through.Base++
			through.Hits += share
			its := t.each[w.goroutine]
			its.see(w.run, share)
			t.each[w.goroutine] = its
			t.left[w.situation] += weight * (1 - share)
			if runs {
				own.add(i, share)
			}
			if at.state.Doing == views.AwaitingLock && !b.target[w.situation] {
				if share, known := b.held(w, 0); known {
					held.add(i, w.lock, at.lock, share)
				}
			}
		}
	}
	own.next, cpus.next = Next{Centre: Goroutines}, Next{Centre: Processors}
	t.foreign, t.centres = others.mean(), held.centres()
	if goroutines < e.processors {
		t.centres = append(t.centres, own)
	}
	t.centres = append(t.centres, cpus)
	return t
}

func newCentre(moments int) *centre {
	return &centre{used: make([]hotspots.Observation, moments),
		target: make([]hotspots.Observation, moments)}
}

// enter begins with a moment, in which the centre has a number of servers.
func (c *centre) enter(moment int, weight, servers float64) {
	o := hotspots.Observation{Weight: weight, Base: servers}
	c.used[moment], c.target[moment] = o, o
}

// add adds a goroutine that uses the centre in a moment, with the target's
// share of that.
func (c *centre) add(moment int, share float64) {
	c.used[moment].Hits++
	c.target[moment].Hits += share
}

// hits returns how many of the moments' goroutines were seen to
// use the centre.
func (c *centre) hits() float64 {
	return lists.Sum(c.used, func(o hotspots.Observation) float64 { return o.Hits })
}

// heldLocks are the locks that a class waits for, as centres. A
// lock is known to be held only while somebody waits for it.
type heldLocks struct {
	*moments
	by map[uint64]*centre
}

const (
	mostLocks = 100  // the first ones that are seen
	leastHeld = 0.05 // the share of the time in which a lock is held that may be full
)

// add adds that a lock is held in a moment, with the target's
// share of what the holders do.
func (h *heldLocks) add(moment int, lock uint64, name string, share float64) {
	c := h.by[lock]
	if c == nil {
		if len(h.by) == mostLocks {
			return
		}
		c = newCentre(len(h.samples))
		for i := range c.used {
			c.enter(i, h.weight(i), 1)
		}
		c.next = Next{Centre: ALock, Name: name}
		h.by[lock] = c
	}
	c.used[moment].Hits, c.target[moment].Hits = 1, share
}

// centres returns the locks that may be full.
func (h *heldLocks) centres() (all []*centre) {
	for _, lock := range slices.Sorted(maps.Keys(h.by)) {
		if c := h.by[lock]; hotspots.RatioOf(c.used, 1).Value >= leastHeld {
			all = append(all, c)
		}
	}
	return all
}
