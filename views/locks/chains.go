package locks

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Chain is goroutines that wait for one another: a goroutine
// of the first link's class waits for that link's lock. A
// goroutine of the second link's class holds it while it waits
// for the second lock, and so on.
type Chain struct {
	Links []Link   // two or more
	End   ChainEnd // what is known of the last lock's holder
	// of the last lock's holder, if End is HolderGoesOn, InDeadlock or InCircle
	Class          string
	calltree.Total // of the goroutines that wait at the chain's beginning
}

// A Link is the class of a goroutine and the lock that it waits for.
type Link struct {
	Class string
	Lock  *Lock
}

// ChainEnd is the reason why a chain ends.
type ChainEnd uint8

const (
	HolderGoesOn  ChainEnd = iota // the last lock's holder waits for no lock
	UnknownHolder                 // the last lock's holder is not known
	InDeadlock                    // the last lock's holder is in the chain already: a deadlock
	InCircle                      // the same, but that proves no deadlock: see Analysis.Deadlocks
	Cut                           // the chain is longer, but the analysis stops here
)

var chainEnds = []string{"goes on", "unknown holder", "deadlock", "circle", "cut"}

func (e ChainEnd) String() string { return chainEnds[e] }

// These limit the chains of one waiter in one sample, as in the views.
const (
	maxChain   = 64
	maxVisited = 20_000
)

// A link is a Link with numbers for its class and lock.
type link struct {
	class string
	lock  int
}

// A chain is a Chain with numbers for its classes and locks.
type chain struct {
	links []link
	end   ChainEnd
	class string
	total exact.Sum
}

// A part is the fraction num/den of what was observed of one
// goroutine in some samples.
type part struct{ num, den int64 }

// trace divides a part equally among the holders of the last
// link's lock. It extends the chain by each holder that waits
// for a lock itself.
func (l *ledger) trace(set []sampledata.GoroutineID, p part) {
	n := int64(len(set))
	if p.den > math.MaxInt64/n {
		l.note(Cut, "", p)
		return
	}
	each := part{p.num, p.den * n}
	for _, g := range set {
		l.visited++
		run, exists := l.run(g)
		switch {
		case !exists:
			l.note(UnknownHolder, "", each)
		case slices.Contains(l.path, g):
			l.note(l.endAt(g), l.classOf(run), each)
		case len(l.path) >= maxChain || l.visited > maxVisited:
			l.note(Cut, "", each)
		case views.DoingOf(run) != views.AwaitingLock:
			l.note(HolderGoesOn, l.classOf(run), each)
		default:
			l.links = append(l.links, link{l.classOf(run), l.ids.lock(run)})
			l.path = append(l.path, g)
			if blames(views.DoingOf(run), run.Evidence) {
				l.trace(l.r.HolderSets[run.Holders], each)
			} else {
				l.note(UnknownHolder, "", each)
			}
			l.path, l.links = l.path[:len(l.path)-1], l.links[:len(l.links)-1]
		}
	}
}

// endAt returns how the chain ends that comes back to a
// goroutine of the path.
func (l *ledger) endAt(g sampledata.GoroutineID) ChainEnd {
	path := l.path[slices.Index(l.path, g):]
	isPath := func(o *circle) bool {
		return o.first <= l.now && len(o.members) == len(path) &&
			!slices.ContainsFunc(path,
				func(g sampledata.GoroutineID) bool { return !slices.Contains(o.members, g) })
	}
	if slices.ContainsFunc(l.standing, isPath) {
		return InDeadlock
	}
	return InCircle
}

// note adds a part to the chain of the current links.
func (l *ledger) note(end ChainEnd, class string, p part) {
	if len(l.links) < 2 {
		return
	}
	key := l.key[:0]
	for _, k := range l.links {
		key = append(strconv.AppendInt(append(append(key, k.class...), 0), int64(k.lock), 10), 0)
	}
	key = append(append(key, class...), byte(end))
	l.key = key
	c := l.chains[string(key)]
	if c == nil {
		c = &chain{links: slices.Clone(l.links), end: end, class: class}
		l.chains[string(key)] = c
	}
	c.total.Add(l.hits, l.time, p.num, p.den)
}

func (l *ledger) sortedChains() []*Chain {
	var all []*Chain
	for key, c := range l.chains {
		delete(l.chains, key) // there can be very many: the memory is used again
		chain := &Chain{End: c.end, Class: c.class, Total: calltree.TotalOf(&c.total)}
		for _, k := range c.links {
			chain.Links = append(chain.Links, Link{k.class, l.ids.all[k.lock]})
		}
		all = append(all, chain)
	}
	slices.SortFunc(all, func(a, b *Chain) int {
		return cmp.Or(cmp.Compare(len(b.Links), len(a.Links)), b.Weight.Cmp(a.Weight),
			cmp.Compare(a.End, b.End), cmp.Compare(a.Class, b.Class),
			slices.CompareFunc(a.Links, b.Links, func(x, y Link) int {
				return cmp.Or(cmp.Compare(x.Class, y.Class),
					cmp.Compare(x.Lock.label, y.Lock.label))
			}))
	})
	return all
}
