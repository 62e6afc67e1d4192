// Package stuck finds out why goroutines can never run again,
// and whose fault that is.
//
// A marking knows who they are, and who would end their waits:
// who holds the lock, and who would use the channel, group or
// condition if it went on. Nothing live reaches any of that, so
// only stuck goroutines can be at fault, or some that have
// ended.
//
//	waits.go     which goroutines one waits for
//	roots.go     those that wait for nobody else
//	findings.go  what is said of them: one finding for each cause, however often it is there
package stuck

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Fault is why a wait never ends.
type Fault string

// The faults, in the order in which the package searches for
// them.
const (
	Circle    Fault = "circle"         // goroutines wait for one another
	Recursive Fault = "recursive read" // a read lock is taken again, behind a writer
	// a goroutine waits for what only itself would do: it holds
	// the lock
	Itself     Fault = "itself"
	HolderGone Fault = "holder gone" // nobody that is left holds the lock
	NobodyLeft Fault = "nobody left" // nobody that is left can end the wait
	NilChannel Fault = "nil channel"
	NoCases    Fault = "no cases"
	Unknown    Fault = "unknown"
)

// A Finding is one cause.
type Finding struct {
	Fault   Fault
	Verdict sampledata.Verdict
	Groups  []*sampledata.MarkedGroup // the goroutines at fault; of a circle, all its members
	// what each of the groups waits for, by name; "" if it has
	// none
	Lock []string
	// the function in which each has taken the lock that others,
	// or itself, wait for
	Taken []string
	// it is sure who holds the locks. Otherwise they may hold
	// them
	Sure   bool
	Behind []*sampledata.MarkedGroup // goroutines that wait for these
	Count  int                       // of goroutines, with those behind
	Kept   int64                     // bytes that only these keep; -1 if not known
	Waited time.Duration             // at least so long; 0 if not known
}

// Endless reports whether the goroutines wait for nothing: to
// receive from a nil channel, as the one of a context that
// nobody can cancel, or in a select without cases.
func (f *Finding) Endless() bool { return views.WaitingFor(f.Groups[0].Reason) == views.Forever }

// MayBeMeant reports whether a single goroutine may wait for
// ever on purpose: for nothing or, if it is the main one, for
// others that never come. The program lives on that way.
func (f *Finding) MayBeMeant() bool {
	return f.Count == 1 && (f.Endless() || f.parksMain())
}

func (f *Finding) parksMain() bool {
	g := f.Groups[0]
	nobody := f.Fault == NobodyLeft || f.Fault == Unknown || f.Endless()
	lasts := g.Wait == sampledata.ForSender || g.Wait == sampledata.ForChannels ||
		g.Wait == sampledata.ForGroup || g.Wait == sampledata.ForNil
	return nobody && lasts && len(g.Calls) > 0 && g.Calls[len(g.Calls)-1].Function == "runtime.main"
}

// An Answer is all that is known.
type Answer struct {
	Findings []Finding
	Marking  *sampledata.Marking
	Stuck    int // goroutines that are stuck for good
	Others   int // goroutines that are only suspected, or have not moved
}

// Find returns what is stuck, the largest cause first; nil if
// the recording has no marking.
func Find(r *sampledata.Recording) *Answer {
	if r.Marking == nil {
		return nil
	}
	a := &Answer{Marking: r.Marking, Findings: newFinder(r).findings()}
	a.Stuck = r.Marking.Number(sampledata.Stuck)
	a.Others = r.Marking.Number(sampledata.Suspected) + r.Marking.Number(sampledata.NotMoved)
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(int(b.Verdict)-int(a.Verdict), b.Count-a.Count)
	})
	return a
}
