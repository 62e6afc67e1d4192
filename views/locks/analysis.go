package locks

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// By says what one Lock of an analysis is.
type By uint8

const (
	ByInstance By = iota // one lock
	ByField              // all locks of one name: a variable, or a field in all values of its type
)

// An Analysis describes all locks that goroutines waited for in
// a span of a recording.
type Analysis struct {
	By        By            // what one of the Locks is
	Samples   int           // of the span
	Observed  time.Duration // time that the samples of the span stand for
	Length    time.Duration // of the span
	Locks     []*Lock       // in order of the waiting, most first
	Evidence  Evidence      // the sums over all locks
	Chains    []*Chain      // of two or more links: the longest first, then by the time, most first
	Deadlocks []*Deadlock   // in order of the first sample that shows them
	Seeming   []*Deadlock   // of goroutines that seem to wait for themselves; it is not proved

	// Shared is what else goroutines waited for that others had:
	// channels used as locks, semaphores, pools. SharedEvidence
	// has the sums. SharedUnread is of waits in the same places,
	// but for which of several was not read.
	Shared         []*Lock
	SharedEvidence Evidence
	SharedUnread   calltree.Total

	// AtWork is how long the goroutines of each class did not
	// wait for work, in nanoseconds; nil after Summarise.
	AtWork map[string]*big.Rat

	// Held is the view of views.Holders. Its root is "*". Below
	// the root is each lock by its String. Below a lock is the
	// part of a Thread View that is below :MONITOR: the holder's
	// class, its stack, and its typed time. A chain continues
	// from the typed time.
	Held *views.View
}

// A Lock is one lock that goroutines waited for.
type Lock struct {
	// Name is the lock's name in the recording: a variable
	// ("main.server.mu"), a field of a type
	// ("main.(*cache).mu"). If the recording has no name for it,
	// the name comes from the function in which most waiters
	// took it ("lock taken in main.(*journal).add"), and Guessed
	// is set.
	Name    string
	Guessed bool

	// Instance numbers the locks of one name from 1, in the
	// order of the first wait for each in the whole recording.
	// Instances is the number of these locks. By field, Instance
	// is 0 if there are several.
	Instance, Instances int

	Address uint64 // 0 if not known, or if there are several
	// "sync.Mutex", "sync.RWMutex"; "" if not known. If it is no lock:
	// "channel", "semaphore", ...
	Kind   string
	Shared bool // it is no lock, but in Analysis.Shared
	Evidence
	// by field: the instances that goroutines waited for in the
	// span, the longest time first
	Parts   []Part
	Waiters []UserTotal // most time first; they sum to Total
	Holders []UserTotal // by class, most time first; they sum to Attributed
	// Candidates may have what is shared, if it is not known who
	// does. They share each hit equally.
	Candidates []UserTotal
	// that begin with a goroutine that waits for this lock, in
	// order of Analysis.Chains
	Chains []*Chain

	label string
}

// String returns the lock's name; if other locks have the same
// name, with its number: "main.(*cache).mu of instance 3".
func (l *Lock) String() string { return l.label }

// A Part is one of the locks of a field.
type Part struct {
	Lock     string // its name among all instances: "main.(*cache).mu of instance 3"
	Instance int
	Address  uint64
	calltree.Total
}

// A User is all goroutines of one class that wait for a lock in
// one function, for one reason; or that hold a lock, or have
// what is shared, or may.
type User struct {
	Class string
	// the function that takes the lock, outside of package sync,
	// or that uses what is shared; "" if there is none, or if it
	// holds a lock
	In     string
	Reason string // of a wait, in the runtime's text: "sync.RWMutex.RLock"
}

// String returns the class, and the function if there is one.
func (u User) String() string {
	if u.In == "" {
		return u.Class
	}
	return u.Class + " in " + u.In
}

// A UserTotal is the waiting of a user, or the waiting for one.
type UserTotal struct {
	User
	calltree.Total
}

// Evidence says for how much of the waiting the holders are
// known, and how.
type Evidence struct {
	// Total has the time of waiting in nanoseconds, summed over
	// the goroutines, and the hits: goroutines that wait, summed
	// over the samples.
	calltree.Total

	// The following sum to Total. None also has the part of
	// waiters with a recorded holder that does not exist at that
	// time.
	Recorded, Inferred, Likely, Ambiguous, Free, None calltree.Total

	Woken calltree.Total // the part Free, times the goroutines that were woken to take the lock
}

// Known returns the part with holders that are known for sure.
func (e *Evidence) Known() calltree.Total { return e.Recorded.Plus(e.Inferred) }

// Attributed returns the part that has holders, known or likely.
func (e *Evidence) Attributed() calltree.Total { return e.Known().Plus(e.Likely) }

// Share returns a part as a fraction of the time of waiting, or
// 0 if nothing waited.
func (e *Evidence) Share(part calltree.Total) *big.Rat { return exact.Quo(part.Weight, e.Weight) }

// Waited returns the time of waiting, summed over the goroutines.
func (e *Evidence) Waited() time.Duration { return waited(e.Total) }

// Waited returns the time of waiting, summed over the goroutines.
func (p *Part) Waited() time.Duration { return waited(p.Total) }

func waited(t calltree.Total) time.Duration {
	if !t.Weight.Num().IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(t.Weight.Num().Int64()) // goroutines wait for whole nanoseconds
}

// Mean returns the number of goroutines that waited, on average
// over the time.
func (a *Analysis) Mean(e *Evidence) *big.Rat {
	return exact.Quo(e.Weight, new(big.Rat).SetInt64(int64(a.Observed)))
}

// ShareOf returns for which share of their time at work the
// goroutines of a class waited for a lock; nil if that is not
// known.
func (a *Analysis) ShareOf(l *Lock, class string) *big.Rat {
	work := a.AtWork[class]
	if work == nil || work.Sign() == 0 {
		return nil
	}
	waits := new(big.Rat)
	for _, w := range l.Waiters {
		if w.Class == class {
			waits.Add(waits, w.Weight)
		}
	}
	return waits.Quo(waits, work)
}

// Analyse analyses a span of a recording that Recording.Check accepts. The
// options Accounting and Granularity affect only Held.
func Analyse(r *sampledata.Recording, o views.Options, by By) (*Analysis, error) {
	return analyseIn(r, o, by, withChains)
}

// AnalyseHolders is Analyse without Chains. If goroutines wait
// for one another in many ways, it takes much less memory.
func AnalyseHolders(r *sampledata.Recording, o views.Options, by By) (*Analysis, error) {
	return analyseIn(r, o, by, withShared)
}

func analyseIn(r *sampledata.Recording, o views.Options, by By, detail detail) (*Analysis, error) {
	ids := newIdentities(r, by)
	v, err := views.Holders(r, ids.label, o)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	s, err := sweep(r, o, ids, detail)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a := s.analysis()
	a.Held = v
	o.LeaveOutIdle = true
	classes, err := views.Classes(r, o)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	a.AtWork = make(map[string]*big.Rat, len(classes))
	for _, c := range classes {
		a.AtWork[c.Class] = c.Time
	}
	a.readHolders()
	return a, nil
}

// Summarise returns the locks with their evidence and waiters,
// and the deadlocks. It leaves out Holders, Held, Chains and
// Shared. It takes a fraction of the time of Analyse.
func Summarise(r *sampledata.Recording, o views.Options) (*Analysis, error) {
	s, err := sweep(r, o, newIdentities(r, ByInstance), waitsOnly)
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
				l.Holders = append(l.Holders,
					UserTotal{User{Class: t.Symbols().Name(t.Funcs()[c])}, t.Main().Through(c)})
			}
		}
		sortUsers(l.Holders)
	}
}
