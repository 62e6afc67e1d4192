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

// An Analysis describes all locks that goroutines waited for in a span of a recording.
type Analysis struct {
	Samples   int           // of the span
	Length    time.Duration // of the span
	Locks     []*Lock       // in order of the waiting, most first
	Evidence  Evidence      // the sums over all locks
	Chains    []*Chain      // of two or more links: the longest first, then by hits, most first
	Deadlocks []*Deadlock   // in order of the first sample that shows them

	// Held is the view of views.Holders. Its root is "*". Below the root is each lock by its String, and below a lock is
	// the part of a Thread View that is below :MONITOR: the holder's class, its stack, and its typed time, from which a
	// chain continues.
	Held *views.View
}

// A Lock is one lock that goroutines waited for.
type Lock struct {
	// Name is the lock's name in the recording: a variable ("main.server.mu"), a field of a type ("main.(*cache).mu").
	// If the recording has no name for it, the name comes from the function in which most waiters took it ("lock taken
	// in main.(*journal).add"), and Guessed is set.
	Name    string
	Guessed bool

	// Instance numbers the locks of one name from 1, in the order of the first wait for each in the whole recording;
	// Instances is their number.
	Instance, Instances int

	Address     uint64 // 0 if not known
	Kind        string // "sync.Mutex", "sync.RWMutex"; "" if not known
	First, Last int32  // the first and last sample of the span in which a goroutine waits for it
	Evidence
	Waiters []Waiter // most hits first; they sum to Hits
	Holders []Holder // by class, most hits first; they sum to Attributed
	Chains  []*Chain // that begin with a goroutine that waits for this lock, in order of Analysis.Chains

	label string
}

// String returns the lock's name; if other locks have the same name, with its number: "main.(*cache).mu of instance 3".
func (l *Lock) String() string { return l.label }

// A Waiter is all goroutines of one class that wait for a lock in one function, for one reason.
type Waiter struct {
	Class  string
	In     string // the function outside of package sync that takes the lock; "" if there is none
	Reason string // the runtime's text: "sync.RWMutex.RLock"
	Hits   int64
}

// A Holder is all goroutines of one class that hold a lock.
type Holder struct {
	Class string
	Hits  *big.Rat // of the goroutines that wait for them
}

// Evidence says in how many of the hits the holders are known, and how.
type Evidence struct {
	Hits int64 // goroutines that wait, summed over the samples

	// These sum to Hits. None also has the hits of waiters whose recorded holder does not exist at that time.
	Recorded, Inferred, Likely, Ambiguous, None *big.Rat
}

// Known returns the hits whose holders are known for sure.
func (e *Evidence) Known() *big.Rat { return new(big.Rat).Add(e.Recorded, e.Inferred) }

// Attributed returns the hits that have holders, known or likely.
func (e *Evidence) Attributed() *big.Rat { return new(big.Rat).Add(e.Known(), e.Likely) }

// Share returns a part of the hits as a fraction, or 0 if there are no hits.
func (e *Evidence) Share(part *big.Rat) *big.Rat {
	if e.Hits == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(part, new(big.Rat).SetInt64(e.Hits))
}

// Mean returns the number of goroutines that waited for a lock, on average over the samples.
func (a *Analysis) Mean(hits int64) *big.Rat {
	if a.Samples == 0 {
		return new(big.Rat)
	}
	return big.NewRat(hits, int64(a.Samples))
}

// Waited returns the waiting time for a number of hits: each hit is the mean time between two samples.
func (a *Analysis) Waited(hits int64) time.Duration {
	mean, _ := a.Mean(hits).Float64()
	return time.Duration(mean * float64(a.Length))
}

// Analyse analyses a span of a recording that Recording.Check accepts. The options Accounting and Granularity affect
// only Held.
func Analyse(r *sampledata.Recording, o views.Options) (*Analysis, error) {
	s, err := sweep(r, o, true)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a := s.analysis()
	v, err := views.Holders(r, func(run sampledata.Run) string { return s.ids.locks[s.ids.lock(run)].label }, o)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a.Held = v
	a.readHolders()
	return a, nil
}

// Summarise returns the locks with their evidence and waiters, and the deadlocks, but no Holders, no Held and no Chains.
// It takes a fraction of the time of Analyse.
func Summarise(r *sampledata.Recording, o views.Options) (*Analysis, error) {
	s, err := sweep(r, o, false)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	return s.analysis(), nil
}

// HeldAt returns the node of a lock in Held, or -1 if there is none.
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

// readHolders sums Held by the holders' classes.
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
