package locks

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Deadlock is goroutines that wait for one another's locks in a circle: none of them can ever continue.
type Deadlock struct {
	Members     []Member // each waits for a lock of the next one, the last for one of the first
	First, Last int32    // first and last sample of the recording that shows it
	Samples     int      // number of samples that show it
}

// A Member is a goroutine in a deadlock.
type Member struct {
	Goroutine int64 // its number in the target
	Class     string
	Lock      string  // it waits for this lock
	Address   uint64  // of that lock; 0 if not known
	Reason    string  // the runtime's text: "sync.Mutex.Lock"
	Stack     []Frame // from the call that takes the lock outwards, without further frames of package sync and the runtime
}

// A Frame is a call on a stack.
type Frame struct {
	Function string
	File     string // "" if not known
	Line     int32  // being executed, or of the call; 0 if not known
	Inlined  bool
}

// cycle returns the goroutines of a circle of waits that contains g, g first, or nil if there is none. holders returns
// the known holders of the lock that a goroutine waits for.
func cycle(g sampledata.GoroutineID, holders func(sampledata.GoroutineID) []sampledata.GoroutineID) []sampledata.GoroutineID {
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

// rotated returns a circle that begins with its least goroutine, and a key for it.
func rotated(circle []sampledata.GoroutineID) ([]sampledata.GoroutineID, string) {
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
	byKey  map[string]*Deadlock
	active []activeCircle
}

// An active circle was found in the current sample or before, and lasts until a known sample.
type activeCircle struct {
	circle []sampledata.GoroutineID
	last   int32
}

// update finds the circles of the current sample. It searches from the goroutines whose waits began in it, and from
// those whose circle ended before it, since these may be in another circle.
func (c *cycles) update(l *ledger) {
	kept := c.active[:0]
	for _, s := range c.active {
		if s.last >= l.now {
			kept = append(kept, s)
		} else {
			l.begun = append(l.begun, s.circle...)
		}
	}
	c.active = kept
	for _, g := range l.begun {
		if circle := cycle(g, l.holdersOf); circle != nil {
			c.add(l, circle)
		}
	}
}

// add records a circle that begins in the current sample.
func (c *cycles) add(l *ledger, circle []sampledata.GoroutineID) {
	circle, key := rotated(circle)
	last := l.to - 1
	for _, g := range circle {
		run, _ := l.run(g)
		last = min(last, run.Last)
	}
	d := c.byKey[key]
	switch {
	case d == nil:
		d = &Deadlock{First: l.now}
		for _, g := range circle {
			run, _ := l.run(g)
			s := run.State()
			d.Members = append(d.Members, member(l.r, g, &s, l.classOf(run), l.ids.locks[l.ids.instance(run)].label))
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
	c.active = append(c.active, activeCircle{circle, last})
}

// holdersOf returns the known holders of the lock that a goroutine waits for in the current sample.
func (l *ledger) holdersOf(g sampledata.GoroutineID) []sampledata.GoroutineID {
	run, exists := l.run(g)
	if !exists || !proves(views.DoingOf(run), run.Evidence) {
		return nil
	}
	return l.r.HolderSets[run.Holders]
}

// deadlocks returns all deadlocks in the order in which they began.
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

// member describes a goroutine in a deadlock. It uses only the recording's tables.
func member(r *sampledata.Recording, g sampledata.GoroutineID, s *sampledata.State, class, lock string) Member {
	m := Member{Goroutine: r.Goroutines.At(g).ID, Class: class, Lock: lock, Address: s.Lock, Reason: s.Reason}
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
