package locks

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A circle of goroutines that wait for one another's locks is a
// deadlock only if nothing speaks against it:
//
//   - Each holder is known for sure, and nobody else held the lock since.
//   - No goroutine of the circle has moved since the circle began, up to the
//     last sample.
//   - No other goroutine that waited for one of its locks has stopped waiting:
//     that lock was released.
//   - The circle was seen in two samples. Goroutines may move while one is
//     taken. A recording of one sample is enough, too.
//
// Circles of the same goroutines that once ended are no
// deadlocks, either: what shows them is wrong about these
// goroutines.

// circles finds the deadlocks among goroutines, sample by sample. Its user
// reports every change.
type circles struct {
	holders func(sampledata.HolderSetID) []sampledata.GoroutineID
	stays   map[sampledata.GoroutineID]*stay // of goroutines that wait for locks
	// by lock: the sample in which a goroutine no longer waited
	// for it that had before
	left    map[uint64]int32
	active  []*circle
	refuted map[string]bool          // circles that have ended, by key
	fresh   []sampledata.GoroutineID // goroutines that the current sample shows anew
	pruned  int                      // length of left after it was last pruned
}

// A stay is a goroutine's wait for a lock at one place.
type stay struct {
	sampledata.State // the latest
	first, last      int32
	held             []heldSince
}

// A heldSince is a goroutine that holds the awaited lock, and
// the sample since which nothing speaks against that.
type heldSince struct {
	by    sampledata.GoroutineID
	since int32
}

// A circle is a list of goroutines. Each waits for the next one,
// and the last waits for the first.
type circle struct {
	members []sampledata.GoroutineID
	key     string
	first   int32 // sample in which the last of them began to wait
}

func newCircles(holders func(sampledata.HolderSetID) []sampledata.GoroutineID) *circles {
	return &circles{
		holders: holders, stays: make(map[sampledata.GoroutineID]*stay),
		left: make(map[uint64]int32), refuted: make(map[string]bool),
	}
}

// enter records that a goroutine is in a state from one sample to another.
func (c *circles) enter(run sampledata.Run) {
	old := c.stays[run.Goroutine]
	if old == nil && views.DoingOf(run) != views.AwaitingLock {
		return // most runs
	}
	s := run.State()
	if old != nil && old.State == s && old.last >= run.Last {
		return
	}
	now := &stay{State: s, first: run.First, last: run.Last}
	switch {
	case old != nil && !old.isSamePlace(&s):
		c.leave(run.Goroutine, run.First)
	case old != nil:
		now.first, now.held, now.Lock = old.first, old.held, cmp.Or(s.Lock, old.Lock)
		if s.Torn || s.Stack == sampledata.NoStack {
			now.Stack, now.Torn = old.Stack, old.Torn
		}
	}
	if views.DoingIn(s) != views.AwaitingLock {
		return
	}
	now.observe(run.First, c.holders(s.Holders))
	c.stays[run.Goroutine] = now
	c.fresh = append(c.fresh, run.Goroutine)
}

// leave records that a goroutine has stopped waiting.
func (c *circles) leave(g sampledata.GoroutineID, now int32) {
	if s := c.stays[g]; s != nil {
		delete(c.stays, g)
		if s.Lock != 0 {
			c.left[s.Lock] = max(c.left[s.Lock], now)
		}
	}
}

// isSamePlace reports whether a goroutine that waits has not
// moved, for all that its next state says.
func (s *stay) isSamePlace(next *sampledata.State) bool {
	sameStack := s.Stack == next.Stack || s.Torn || next.Torn || s.Stack == sampledata.NoStack ||
		next.Stack == sampledata.NoStack
	return s.Run == next.Run && s.Reason == next.Reason && sameStack &&
		(s.Lock == next.Lock || s.Lock == 0 || next.Lock == 0)
}

// observe brings the holders up to date. Candidates say nothing:
// a holder may be missing among them for lack of time.
func (s *stay) observe(now int32, named []sampledata.GoroutineID) {
	switch {
	case s.Evidence == sampledata.Free:
		s.held = nil
	case s.Evidence.Blames():
		s.held = slices.DeleteFunc(slices.Clone(s.held),
			func(h heldSince) bool { return !slices.Contains(named, h.by) })
	}
	if !proves(views.DoingIn(s.State), s.Evidence) {
		return
	}
	for _, g := range named {
		if s.heldBy(g) < 0 {
			s.held = append(s.held, heldSince{g, now})
		}
	}
}

// heldBy returns the sample since which a goroutine is known to
// hold the lock,
// -1 if it is not.
func (s *stay) heldBy(g sampledata.GoroutineID) int32 {
	if i := slices.IndexFunc(s.held, func(h heldSince) bool { return h.by == g }); i >= 0 {
		return s.held[i].since
	}
	return -1
}

// update finds the circles after all changes of a sample. A
// circle begins with a change of one of its goroutines. If one
// ends, its goroutines may be in another one.
func (c *circles) update(now int32) {
	search := c.fresh
	c.active = slices.DeleteFunc(c.active, func(o *circle) bool {
		stands, known := c.judge(o, now)
		if !stands {
			c.refuted[o.key] = true
		}
		if !stands || !known {
			search = append(search, o.members...)
		}
		return !stands || !known
	})
	slices.Sort(search)
	for _, g := range slices.Compact(search) {
		if members := cycle(g, func(g sampledata.GoroutineID) []sampledata.GoroutineID {
			return c.holdersOf(g, now)
		}); members != nil {
			c.add(members, now)
		}
	}
	c.fresh = search[:0]
	c.prune()
}

// holdersOf returns the goroutines that hold what another one
// waits for in the current sample.
func (c *circles) holdersOf(g sampledata.GoroutineID, now int32) (all []sampledata.GoroutineID) {
	if s := c.stays[g]; s != nil && s.last >= now {
		for _, h := range s.held {
			all = append(all, h.by)
		}
	}
	return all
}

// add records a circle, unless something speaks against it.
func (c *circles) add(members []sampledata.GoroutineID, now int32) {
	o := &circle{}
	o.members, o.key = rotated(members)
	for i, g := range o.members {
		s := c.stays[g]
		o.first = max(o.first, s.first, s.heldBy(o.members[(i+1)%len(o.members)]))
	}
	isKnown := slices.ContainsFunc(c.active, func(a *circle) bool { return a.key == o.key })
	if stands, _ := c.judge(o, now); stands && !isKnown && !c.refuted[o.key] {
		c.active = append(c.active, o)
	}
}

// judge reports whether a circle has stood still since it began,
// and whether all holders are known since then.
func (c *circles) judge(o *circle, now int32) (stands, known bool) {
	known = true
	for i, g := range o.members {
		s := c.stays[g]
		if s == nil || s.first > o.first || s.last < now || c.left[s.Lock] > o.first {
			return false, false
		}
		since := s.heldBy(o.members[(i+1)%len(o.members)])
		known = known && since >= 0 && since <= o.first
	}
	return true, known
}

// minPruned is the number of locks from which on those are
// forgotten that no circle can ask for any more.
const minPruned = 1 << 14

// prune forgets when locks were left before all present waits began.
func (c *circles) prune() {
	if len(c.left) < max(minPruned, 2*c.pruned) {
		return
	}
	oldest := int32(math.MaxInt32)
	for _, s := range c.stays {
		oldest = min(oldest, s.first)
	}
	maps.DeleteFunc(c.left, func(_ uint64, at int32) bool { return at <= oldest })
	c.pruned = len(c.left)
}

// standing returns the circles that are deadlocks as of a sample.
func (c *circles) standing(now int32) []*circle {
	var all []*circle
	for _, o := range c.active {
		if o.first < now || now == 0 {
			all = append(all, o)
		}
	}
	return all
}

// circlesOf finds the deadlocks in a whole recording.
func circlesOf(r *sampledata.Recording) *circles {
	c := newCircles(func(id sampledata.HolderSetID) []sampledata.GoroutineID { return r.HolderSets[id] })
	next := 0
	// by sample: goroutines whose waits end before it
	ends := make(map[int32][]sampledata.GoroutineID)
	for now := range int32(r.Samples.Len()) {
		for ; next < r.Runs.Len() && r.Runs.At(next).First == now; next++ {
			run := r.Runs.At(next)
			c.enter(run)
			if views.DoingOf(run) == views.AwaitingLock {
				ends[run.Last+1] = append(ends[run.Last+1], run.Goroutine)
			}
		}
		for _, g := range ends[now] {
			if s := c.stays[g]; s != nil && s.last < now {
				c.leave(g, now)
			}
		}
		delete(ends, now)
		c.update(now)
	}
	return c
}

// run returns the wait of a goroutine as a run.
func (c *circles) run(g sampledata.GoroutineID) sampledata.Run {
	s := c.stays[g]
	return sampledata.RunOf(g, s.first, s.last, s.State)
}

// cycle returns the goroutines of a circle of waits that
// contains g, g first, or nil if there is none. holders returns
// the known holders of the lock that a goroutine waits for.
func cycle(g sampledata.GoroutineID,
	holders func(sampledata.GoroutineID) []sampledata.GoroutineID) []sampledata.GoroutineID {
	type visit struct {
		g    sampledata.GoroutineID
		next []sampledata.GoroutineID // holders still to be visited
	}
	var seen map[sampledata.GoroutineID]bool
	way := []visit{{g, holders(g)}}
	for len(way) > 0 {
		at := &way[len(way)-1]
		if len(at.next) == 0 {
			way = way[:len(way)-1]
			continue
		}
		h := at.next[0]
		at.next = at.next[1:]
		if h == g {
			return lists.Each(way, func(v visit) sampledata.GoroutineID { return v.g })
		}
		if !seen[h] {
			if seen == nil {
				seen = make(map[sampledata.GoroutineID]bool)
			}
			seen[h] = true
			way = append(way, visit{h, holders(h)})
		}
	}
	return nil
}

// rotated returns a circle that begins with its least goroutine,
// and a key for it.
func rotated(circle []sampledata.GoroutineID) ([]sampledata.GoroutineID, string) {
	least := slices.Index(circle, slices.Min(circle))
	circle = slices.Concat(circle[least:], circle[:least])
	var key []byte
	for _, g := range circle {
		key = binary.AppendUvarint(key, uint64(g))
	}
	return circle, string(key)
}
