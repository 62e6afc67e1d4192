package locks

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Deadlock is goroutines that wait for one another's locks in a circle: none of them can ever go on.
type Deadlock struct {
	Members     []Member // each waits for a lock that the next one holds, the last for one that the first holds
	First, Last int32    // samples of the recording in which it stands
	Samples     int      // how many of these
}

// A Member is a goroutine in a deadlock.
type Member struct {
	Goroutine int64 // the target's number of it
	Class     string
	Lock      string  // that it waits for
	Address   uint64  // of that lock; 0 where not known
	Reason    string  // the runtime's text: "sync.Mutex.Lock"
	Stack     []Frame // from the call that takes the lock outwards: of package sync and the runtime, that one only
}

// A Frame is a call on a stack.
type Frame struct {
	Function string
	File     string // "" where not known
	Line     int32  // being executed, or of the call; 0 where not known
	Inlined  bool
}

// cycle returns goroutines who wait for one another in a circle that g is in, g first; nil where there is none. holders
// gives those of the lock that a goroutine waits for, as far as they are known.
func cycle(g sampledata.GoroutineID, holders func(sampledata.GoroutineID) []sampledata.GoroutineID) []sampledata.GoroutineID {
	type visit struct {
		g    sampledata.GoroutineID
		next []sampledata.GoroutineID // yet to be visited from there
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
			circle := make([]sampledata.GoroutineID, len(way))
			for i := range way {
				circle[i] = way[i].g
			}
			return circle
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

// turned returns a circle from its least goroutine on, and a key for it.
func turned(circle []sampledata.GoroutineID) ([]sampledata.GoroutineID, string) {
	least := slices.Index(circle, slices.Min(circle))
	circle = slices.Concat(circle[least:], circle[:least])
	var key []byte
	for _, g := range circle {
		key = binary.AppendUvarint(key, uint64(g))
	}
	return circle, string(key)
}

// cycles are the deadlocks found so far.
type cycles struct {
	byKey    map[string]*Deadlock
	standing []standing
}

// standing is a circle that was found, up to its last sample.
type standing struct {
	circle []sampledata.GoroutineID
	last   int32
}

// look looks for the circles of the sample at hand: in what has begun in it, and where one has ended, since who was in
// that may be in another one.
func (c *cycles) look(l *ledger) {
	kept := c.standing[:0]
	for _, s := range c.standing {
		if s.last >= l.now {
			kept = append(kept, s)
		} else {
			l.begun = append(l.begun, s.circle...)
		}
	}
	c.standing = kept
	for _, g := range l.begun {
		if circle := cycle(g, l.holdersOf); circle != nil {
			c.enter(l, circle)
		}
	}
}

// enter takes note of a circle that stands from the sample at hand on.
func (c *cycles) enter(l *ledger, circle []sampledata.GoroutineID) {
	circle, key := turned(circle)
	last := l.to - 1
	for _, g := range circle {
		last = min(last, l.run(g).Last)
	}
	d := c.byKey[key]
	switch {
	case d == nil:
		d = &Deadlock{First: l.now}
		for _, g := range circle {
			run := l.run(g)
			d.Members = append(d.Members, member(l.r, g, &run.State, l.classOf(run), l.ids.locks[l.ids.lock(run)].label))
		}
		if c.byKey == nil {
			c.byKey = make(map[string]*Deadlock)
		}
		c.byKey[key] = d
	case l.now <= d.Last:
		return // it was found from another of its goroutines
	}
	d.Samples += int(last-l.now) + 1
	d.Last = last
	c.standing = append(c.standing, standing{circle, last})
}

// holdersOf returns the holders of the lock that a goroutine waits for in the sample at hand.
func (l *ledger) holdersOf(g sampledata.GoroutineID) []sampledata.GoroutineID {
	run := l.run(g)
	if run == nil || !blames(&run.State) {
		return nil
	}
	return l.r.HolderSets[run.Holders]
}

// deadlocks lists them in the order in which they came.
func (c *cycles) deadlocks() []*Deadlock {
	var all []*Deadlock
	for _, d := range c.byKey {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Deadlock) int {
		return cmp.Or(cmp.Compare(a.First, b.First), slices.CompareFunc(a.Members, b.Members, func(x, y Member) int {
			return cmp.Compare(x.Goroutine, y.Goroutine)
		}))
	})
	return all
}

// member describes a goroutine in a deadlock. Of the recording, its tables are used.
func member(r *sampledata.Recording, g sampledata.GoroutineID, s *sampledata.State, class, lock string) Member {
	m := Member{Goroutine: r.Goroutines[g].ID, Class: class, Lock: lock, Address: s.Lock, Reason: s.Reason}
	for at := s.Stack; at != sampledata.NoStack; at = r.Nodes[at].Parent {
		n := r.Nodes[at]
		f := r.Functions[n.Function]
		if n.Parent != sampledata.NoStack && locksForOthers(f.Name) && locksForOthers(r.Functions[r.Nodes[n.Parent].Function].Name) {
			continue
		}
		m.Stack = append(m.Stack, Frame{Function: f.Name, File: f.File, Line: n.Line, Inlined: n.Inlined})
	}
	return m
}
