// Package stuck says of goroutines that can never run again whose fault that is.
//
// Package heap knows who they are, and which of them reach what others wait for. A recording knows
// who holds the locks. Nothing live reaches any of that, so only stuck goroutines can be at fault,
// or some that have ended.
package stuck

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Fault is why a wait never ends.
type Fault string

// The faults, in the order in which the package searches for them.
const (
	Circle     Fault = "circle"         // goroutines wait for one another
	Recursive  Fault = "recursive read" // a read lock is taken again, behind a writer
	Itself     Fault = "itself"         // a goroutine waits for the lock that it holds
	HolderGone Fault = "holder gone"    // nobody else that is left reaches the lock
	NobodyLeft Fault = "nobody left"    // nobody that is left can end the wait
	NilChannel Fault = "nil channel"
	NoCases    Fault = "no cases"
	Unknown    Fault = "unknown"
)

// A Finding is one cause.
type Finding struct {
	Fault   Fault
	Verdict sampledata.Verdict
	Groups  []*sampledata.MarkedGroup // the goroutines at fault; of a circle, all its members
	Lock    []string                  // what each of the groups waits for, by name; "" if it has none
	Sure    bool                      // holders are inferred. Otherwise marks tell only who reaches what
	Behind  []*sampledata.MarkedGroup // goroutines that wait for these
	Count   int                       // of goroutines, with those behind
	Kept    int64                     // bytes that only these keep; -1 if not known
	Waited  time.Duration             // at least so long; 0 if not known
}

// An Answer is all that is known.
type Answer struct {
	Findings []Finding
	Marking  *sampledata.Marking
	Stuck    int // goroutines that are stuck for good
	Others   int // goroutines that are only suspected, or have not moved
}

// Find returns what is stuck, the largest cause first; nil if the recording has no marking.
func Find(r *sampledata.Recording) *Answer {
	if r.Marking == nil {
		return nil
	}
	a := &Answer{Marking: r.Marking}
	f := newFinder(r)
	for _, group := range f.roots() {
		a.Findings = append(a.Findings, f.finding(group))
	}
	a.Stuck = r.Marking.Number(sampledata.Stuck)
	a.Others = r.Marking.Number(sampledata.Suspected) + r.Marking.Number(sampledata.NotMoved)
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(int(b.Verdict)-int(a.Verdict), b.Count-a.Count)
	})
	return a
}

// A finder has what is known of the groups.
type finder struct {
	groups []sampledata.MarkedGroup
	names  map[uint64]string // of locks
	of     map[int64]int     // groups by goroutine
	known  map[int64]state   // what the recording says of a goroutine
	ahead  [][]edge          // the groups that a group waits for
	behind [][]int           // the groups that wait for it, the other way round
	root   []int             // the root that a group belongs to; -1: none yet
}

// A state is what the recording says of a goroutine's wait.
type state struct {
	lock    uint64
	holders []int64
	sure    bool
}

// An edge leads to a group that another one waits for.
type edge struct {
	to   int
	sure bool
}

func newFinder(r *sampledata.Recording) *finder {
	f := &finder{groups: r.Marking.Groups, names: map[uint64]string{}, of: map[int64]int{}, known: map[int64]state{}}
	for i, g := range f.groups {
		for _, id := range g.IDs {
			f.of[id] = i
		}
	}
	f.read(r)
	f.ahead, f.behind = make([][]edge, len(f.groups)), make([][]int, len(f.groups))
	for i := range f.groups {
		f.ahead[i] = f.waitsFor(i)
		for _, e := range f.ahead[i] {
			f.behind[e.to] = append(f.behind[e.to], i)
		}
	}
	return f
}

// read takes the holders and names from a recording: for each goroutine, the last.
func (f *finder) read(r *sampledata.Recording) {
	for _, n := range r.LockNames {
		f.names[n.Address] = n.Name
	}
	for _, run := range r.Runs.All() {
		id := r.Goroutines.At(run.Goroutine).ID
		if _, ours := f.of[id]; !ours {
			continue
		}
		s := state{lock: run.Lock, sure: run.Evidence.Blames() && run.Evidence != sampledata.Likely}
		for _, h := range r.HolderSets[run.Holders] {
			s.holders = append(s.holders, r.Goroutines.At(h).ID)
		}
		if len(s.holders) > 0 || len(f.known[id].holders) == 0 {
			f.known[id] = s
		}
	}
}

// waitsFor returns the groups that a group waits for: the holders of its locks, else those that
// reach what it waits for.
func (f *finder) waitsFor(i int) (edges []edge) {
	add := func(e edge) {
		if !slices.ContainsFunc(edges, func(o edge) bool { return o.to == e.to }) {
			edges = append(edges, e)
		}
	}
	for _, id := range f.groups[i].IDs {
		s := f.known[id]
		for _, h := range s.holders {
			if k, stuck := f.of[h]; stuck && (h == id || k != i || f.groups[i].Count > 1) && s.sure {
				add(edge{k, true})
			}
		}
	}
	if len(edges) > 0 {
		return edges
	}
	for k := range f.groups {
		if k != i && slices.Contains(f.groups[k].Reaches, int32(i)) {
			add(edge{k, false})
		}
	}
	return edges
}

// isLock reports whether a group waits for a lock.
func isLock(g *sampledata.MarkedGroup) bool {
	return g.Wait == sampledata.ForLock || g.Wait == sampledata.ForReadLock
}

// holdsItself reports whether the goroutines of a group hold the locks that they wait for.
func (f *finder) holdsItself(i int) bool {
	for _, id := range f.groups[i].IDs {
		if s := f.known[id]; !s.sure || !slices.Contains(s.holders, id) {
			return false
		}
	}
	return true
}
