package locks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// Goroutines also wait for things that are no locks of package
// sync, but that others have in the same way: a place in a
// channel with a buffer (slots <- struct{}{}), a part of a
// semaphore, a connection of a pool, the lock of a socket, the
// result of a call that another goroutine makes. The recording
// says who likely has such a thing, or who may have it (see
// package sampledata). A channel counts if its users were
// counted at least once. Other channels are for handing over
// values.

// waitFunctions are functions of libraries that wait for such things, by name.
var waitFunctions = map[string]struct {
	kind      string
	libraries []string // the function outside of these is the one that waits
}{
	"golang.org/x/sync/semaphore.(*Weighted).Acquire": {"semaphore",
		[]string{"golang.org/x/sync/semaphore."}},
	"golang.org/x/sync/errgroup.(*Group).Go": {"limit of an errgroup",
		[]string{"golang.org/x/sync/errgroup."}},
	"golang.org/x/sync/singleflight.(*Group).Do": {"call of singleflight",
		[]string{"golang.org/x/sync/singleflight."}},
	"internal/singleflight.(*Group).Do": {"call of singleflight",
		[]string{"internal/singleflight."}},
	"database/sql.(*DB).conn": {"connection pool",
		[]string{"database/sql."}},
	"internal/poll.(*fdMutex).rwlock": {"lock for writing to a file or socket",
		[]string{"internal/poll.", "net.", "os."}},
}

const channel = "channel"

// A sharing sums up the waits of a span for such things.
type sharing struct {
	*ledger
	names   *ChannelNames
	counted map[side]bool              // of channels, if the users were counted at some time
	waitIn  map[uint64]map[string]bool // by address: the functions in which goroutines wait for it
	address func(sampledata.Run) uint64
	shares  map[stackSide]bool // there, such things are waited for
	unread  exact.Sum          // of waits there, for which of these was not read
	places  map[sampledata.NodeID]waitPlace
	index   map[waitPlace]map[uint64]int // by address: in instances
	all     []*shared                    // by field or instance
	of      []*shared                    // by instance: its element of all
	parts   []*Lock                      // instances
	waiting map[sharedWait]int64         // number of goroutines
}

// A shared is one thing, or all of one kind that one function waits for.
type shared struct {
	lock       *Lock
	sums       account
	holders    map[User]*exact.Sum
	candidates map[User]*exact.Sum
}

// A waitPlace is what goroutines wait for: the kind, and its
// name or, if it has none, the function of the program that
// waits.
type waitPlace struct{ kind, name, in string }

// label names what goroutines wait for: "channel main.(*pool).slots", or
// "channel in main.(*pool).Get".
func (p waitPlace) label() string {
	if p.name != "" {
		return p.kind + " " + p.name
	}
	return p.kind + " in " + cmp.Or(p.in, "an unknown function")
}

// A side is what goroutines do that wait for a channel. Senders
// may wait for places in it that others have, while its
// receivers just wait for work.
type side struct {
	channel uint64
	does    views.Doing
}

// A stackSide is what goroutines do that wait at a stack.
type stackSide struct {
	stack sampledata.NodeID
	does  views.Doing
}

func sideOf(run sampledata.Run) stackSide { return stackSide{run.Stack, views.DoingOf(run)} }

// Addresses returns a function that says which address a run
// waits for, 0 if that is not known. If it was not read, it is
// what all others at the stack wait for.
func Addresses(r *sampledata.Recording) func(sampledata.Run) uint64 {
	only := make(map[stackSide]uint64) // 0 if they wait for several
	for _, run := range r.Runs.All() {
		if run.Lock == 0 || !views.DoingOf(run).Waits() {
			continue
		}
		at := sideOf(run)
		if other, known := only[at]; known && other != run.Lock {
			only[at] = 0
		} else {
			only[at] = run.Lock
		}
	}
	return func(run sampledata.Run) uint64 { return cmp.Or(run.Lock, only[sideOf(run)]) }
}

// A sharedWait has everything on which the holders depend.
type sharedWait struct {
	of      *shared
	address uint64
	holders sampledata.HolderSetID
	likely  bool
}

func newSharing(l *ledger) *sharing {
	s := &sharing{
		ledger: l, names: NewChannelNames(l.r), counted: map[side]bool{}, waitIn: map[uint64]map[string]bool{},
		places:  map[sampledata.NodeID]waitPlace{},
		index:   map[waitPlace]map[uint64]int{},
		waiting: map[sharedWait]int64{}, address: Addresses(l.r), shares: map[stackSide]bool{},
	}
	for _, run := range l.r.Runs.All() {
		does := views.DoingOf(run)
		if !does.Waits() || run.Lock == 0 {
			continue
		}
		if run.Evidence == sampledata.Likely {
			s.counted[side{run.Lock, does}] = true
		}
		in := lists.Made(s.waitIn, run.Lock, func() map[string]bool { return map[string]bool{} })
		in[s.placeOf(run.Stack).in] = true
	}
	byPlace := map[waitPlace]*shared{}
	for _, run := range l.r.Runs.All() {
		if run = s.addressed(run); s.counts(run) {
			s.enter(run, byPlace)
			s.shares[sideOf(run)] = true
		}
	}
	s.label()
	return s
}

// addressed returns a run with what it waits for.
func (s *sharing) addressed(run sampledata.Run) sampledata.Run {
	run.Lock = s.address(run)
	return run
}

// counts reports whether a run waits for such a thing.
func (s *sharing) counts(run sampledata.Run) bool {
	does := views.DoingOf(run)
	if !does.Waits() || run.Lock == 0 {
		return false
	}
	kind := s.placeOf(run.Stack).kind
	return kind != channel || s.counted[side{run.Lock, does}] && does.OfChannel()
}

// enter adds the thing that a run waits for.
func (s *sharing) enter(run sampledata.Run, byPlace map[waitPlace]*shared) {
	at := s.thingOf(run)
	index := lists.Made(s.index, at, func() map[uint64]int { return map[uint64]int{} })
	if _, known := index[run.Lock]; known {
		return
	}
	name := at.label()
	part := &Lock{Name: name, Shared: true, Kind: at.kind, Address: run.Lock,
		Instance: len(index) + 1}
	index[run.Lock] = len(s.parts)
	s.parts = append(s.parts, part)
	group := byPlace[at]
	if group == nil || s.ids.by == ByInstance {
		group = &shared{lock: part, holders: map[User]*exact.Sum{},
			candidates: map[User]*exact.Sum{}}
		if s.ids.by == ByField {
			group.lock = &Lock{Name: name, Shared: true, Kind: at.kind, label: name}
		}
		byPlace[at] = group
		s.all = append(s.all, group)
	}
	s.of = append(s.of, group)
}

// label names the instances, and numbers those with the same name.
func (s *sharing) label() {
	number := map[string]int{}
	for _, part := range s.parts {
		number[part.Name]++
	}
	for i, part := range s.parts {
		part.Instances, part.label = number[part.Name], part.Name
		if part.Instances > 1 {
			part.label = fmt.Sprint(part.Name, ofInstance, part.Instance)
		}
		group := s.of[i].lock
		if group.Instances = part.Instances; part.Instances == 1 {
			group.Instance, group.Address = 1, part.Address
		}
	}
}

// thingOf returns what the goroutine of a run waits for.
func (s *sharing) thingOf(run sampledata.Run) waitPlace {
	at := s.placeOf(run.Stack)
	if name := s.names.At(run.Stack, run.Lock).Name; name != "" {
		return waitPlace{kind: at.kind, name: name}
	}
	return at
}

// placeOf returns the kind of what goroutines wait for at a
// stack, and the function that waits.
func (s *sharing) placeOf(stack sampledata.NodeID) waitPlace {
	if p, ok := s.places[stack]; ok {
		return p
	}
	p := waitPlace{kind: channel}
	var libraries []string
	for at := stack; at != sampledata.NoStack; at = s.r.Nodes[at].Parent {
		name := s.r.NameAt(at)
		if TakesForCallers(name) || words.HasPrefix(name, libraries...) {
			continue
		}
		if f, ok := waitFunctions[name]; ok && libraries == nil {
			p.kind, libraries = f.kind, f.libraries
			continue
		}
		p.in = name
		break
	}
	s.places[stack] = p
	return p
}

// begin records that a goroutine enters a state. It reports
// whether it waits for such a thing, and others are named.
func (s *sharing) begin(run sampledata.Run, n, time int64) bool {
	run = s.addressed(run)
	if !s.counts(run) {
		if run.Lock == 0 && s.shares[sideOf(run)] {
			s.unread.Add(n, time, 1, 1)
		}
		return false
	}
	i := s.index[s.thingOf(run)][run.Lock]
	a := &s.of[i].sums
	s.count(a, i, run, s.placeOf(run.Stack).in, n, time)
	if run.Evidence == sampledata.Likely {
		a.by[sampledata.Likely].Add(n, time, 1, 1)
	} else if run.Evidence != sampledata.Ambiguous {
		return false
	}
	s.waiting[s.waitOf(run)]++
	return true
}

func (s *sharing) waitOf(run sampledata.Run) sharedWait {
	i := s.index[s.thingOf(run)][run.Lock]
	return sharedWait{s.of[i], run.Lock, run.Holders, run.Evidence == sampledata.Likely}
}

// end records that a goroutine leaves a state for which begin
// returned true.
func (s *sharing) end(run sampledata.Run) {
	w := s.waitOf(s.addressed(run))
	if s.waiting[w]--; s.waiting[w] == 0 {
		delete(s.waiting, w)
	}
}

// sample divides the hits of a sample among those that have the
// things, or may have them.
func (s *sharing) sample() {
	for w, n := range s.waiting {
		sums := w.of.candidates
		if w.likely {
			sums = w.of.holders
		}
		set := s.r.HolderSets[w.holders]
		for _, g := range set {
			run, exists := s.run(g)
			if !exists {
				continue
			}
			u := User{Class: s.classOf(run), In: s.userAt(run.Stack, w.address)}
			lists.Made(sums, u, newSum).Add(s.hits, s.time, n, int64(len(set)))
		}
	}
}

// analysis returns what goroutines waited for in the span, most first.
func (s *sharing) analysis() (list []*Lock, sums Evidence) {
	var all account
	for _, g := range s.all {
		if g.sums.sumUp(g.lock, s.parts, &all) {
			g.lock.Holders = sortedUsers(g.holders)
			g.lock.Candidates = sortedUsers(g.candidates)
			list = append(list, g.lock)
		}
	}
	sortLocks(list)
	return list, all.evidence()
}

// userAt returns the function at a stack that uses a thing: the
// innermost in which goroutines have waited for the thing, else
// the outermost. A function that it calls may have nothing to do
// with the thing.
func (s *sharing) userAt(stack sampledata.NodeID, address uint64) (function string) {
	for at := stack; at != sampledata.NoStack; at = s.r.Nodes[at].Parent {
		name := s.r.NameAt(at)
		if s.waitIn[address][name] {
			return name
		}
		if !TakesForCallers(name) {
			function = name
		}
	}
	return function
}

// sortedUsers lists users, those first for which the sum is largest.
func sortedUsers(sums map[User]*exact.Sum) (list []UserTotal) {
	for u, sum := range sums {
		list = append(list, UserTotal{u, calltree.TotalOf(sum)})
	}
	sortUsers(list)
	return list
}

func sortUsers(list []UserTotal) {
	slices.SortFunc(list, func(x, y UserTotal) int {
		return cmp.Or(y.Weight.Cmp(x.Weight), cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.In, y.In), cmp.Compare(x.Reason, y.Reason))
	})
}

// sortLocks puts those first for which goroutines waited longest.
func sortLocks(list []*Lock) {
	slices.SortFunc(list, func(x, y *Lock) int {
		return cmp.Or(y.Weight.Cmp(x.Weight), cmp.Compare(x.label, y.label),
			cmp.Compare(x.Address, y.Address))
	})
}
