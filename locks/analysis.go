package locks

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// An Analysis tells of all locks that goroutines were seen waiting for in a span of a recording.
type Analysis struct {
	Samples   int           // of the span
	Length    time.Duration // of the span
	Locks     []*Lock       // the one that was waited for most first
	Evidence  Evidence      // of all waits: the sums over the locks
	Chains    []*Chain      // of two links and more: the longest first, then the one of most hits
	Deadlocks []*Deadlock   // in order of the sample that was first to show them

	// Held is the view of views.Holders: root "*", below it each lock by its String, below a lock what stands below
	// :MONITOR in a Thread View: the holder's class, its stack, and its typed time, with which a chain goes on.
	Held *views.View
}

// A Lock is one lock that goroutines waited for.
type Lock struct {
	// Name is what the recording calls the lock: a variable ("main.server.mu"), a field of a type
	// ("main.(*cache).mu"). Where it calls it nothing, the name is made of the function that most waiters were taking
	// it in ("lock taken in main.(*journal).add"), and Guessed is set.
	Name    string
	Guessed bool

	// Instance numbers the locks of one name from 1, in the order in which they are first waited for in the whole
	// recording; Instances is how many there are.
	Instance, Instances int

	Address     uint64 // 0 where not known
	Kind        string // "sync.Mutex", "sync.RWMutex"; "" where not known
	First, Last int32  // samples of the span with a goroutine that waits for it
	Evidence
	Waiters []Waiter // the most hits first; they sum to Hits
	Holders []Holder // by class, the most hits first; they sum to Attributed
	Chains  []*Chain // that begin with a goroutine that waits for this lock, in order of Analysis.Chains

	label string
}

// String is the lock's name; with its number where others have the name too: "main.(*cache).mu of instance 3".
func (l *Lock) String() string { return l.label }

// A Waiter is the goroutines of one class that wait for a lock in one function, for one reason.
type Waiter struct {
	Class  string
	In     string // the function outside of package sync that takes the lock; "" where there is none
	Reason string // the runtime's text: "sync.RWMutex.RLock"
	Hits   int64
}

// A Holder is the goroutines of one class that hold a lock.
type Holder struct {
	Class string
	Hits  *big.Rat // of the goroutines that wait for them
}

// Evidence says how much is known of the holders, in hits.
type Evidence struct {
	Hits int64 // goroutines that wait, summed over the samples

	// These sum to Hits. None has the hits of waiters whose named holder is not there, too.
	Recorded, Inferred, Ambiguous, None *big.Rat
}

// Attributed is the hits whose holders are known.
func (e *Evidence) Attributed() *big.Rat { return new(big.Rat).Add(e.Recorded, e.Inferred) }

// Share is a part of the hits as a fraction; 0 where there are no hits.
func (e *Evidence) Share(part *big.Rat) *big.Rat {
	if e.Hits == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(part, new(big.Rat).SetInt64(e.Hits))
}

// Mean is the number of goroutines that waited for a lock, on average over the samples.
func (a *Analysis) Mean(hits int64) *big.Rat {
	if a.Samples == 0 {
		return new(big.Rat)
	}
	return big.NewRat(hits, int64(a.Samples))
}

// Waited is the time that hits stand for: that many goroutines, each for the time between two samples on average.
func (a *Analysis) Waited(hits int64) time.Duration {
	mean, _ := a.Mean(hits).Float64()
	return time.Duration(mean * float64(a.Length))
}

// Analyse analyses a span of a recording that Recording.Check finds no fault with. Of the options, Accounting and
// Granularity matter for Held only.
func Analyse(r *sampledata.Recording, o views.Options) (*Analysis, error) {
	s, err := sweep(r, o, true)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a := s.analysis()
	v, err := views.Holders(r, func(run *sampledata.Run) string { return s.ids.locks[s.ids.lock(run)].label }, o)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a.Held = v
	a.readHolders()
	return a, nil
}

// Summarise returns the locks with their evidence and waiters, and the deadlocks, in a fraction of the time of Analyse;
// but no Holders, no Held and no Chains.
func Summarise(r *sampledata.Recording, o views.Options) (*Analysis, error) {
	s, err := sweep(r, o, false)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	return s.analysis(), nil
}

// HeldAt returns the node of Held that stands for a lock, -1 where there is none.
func (a *Analysis) HeldAt(l *Lock) int32 {
	t := a.Held.Tree
	if f := t.Named(l.String()); f != calltree.None {
		for n := int32(1); int(n) < t.Len(); n = t.Ends()[n] {
			if t.Funcs()[n] == f {
				return n
			}
		}
	}
	return -1
}

// readHolders sums up Held by the holders' classes.
func (a *Analysis) readHolders() {
	t := a.Held.Tree
	byName := make(map[string]*Lock)
	for _, l := range a.Locks {
		byName[l.String()] = l
	}
	for n := int32(1); int(n) < t.Len(); n = t.Ends()[n] {
		l := byName[t.Symbols().Name(t.Funcs()[n])]
		for c := n + 1; c < t.Ends()[n]; c = t.Ends()[c] {
			if t.Symbols().Kind(t.Funcs()[c]) == calltree.Class {
				l.Holders = append(l.Holders, Holder{t.Symbols().Name(t.Funcs()[c]), t.Main().Cum(c)})
			}
		}
		slices.SortFunc(l.Holders, func(x, y Holder) int {
			return cmp.Or(y.Hits.Cmp(x.Hits), cmp.Compare(x.Class, y.Class))
		})
	}
}
