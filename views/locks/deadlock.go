package locks

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Deadlock is a circle of goroutines that wait for one
// another's locks: none can ever continue.
type Deadlock struct {
	Members     []Member // each waits for a lock of the next one, the last for one of the first
	First, Last int32    // first and last sample of the recording that shows it
	Samples     int      // number of samples that show it
	Seems       bool     // it is not proved: of Analysis.Seeming
}

// A Member is a goroutine in a deadlock.
type Member struct {
	Goroutine int64  `json:"goroutine"` // its number in the target
	Class     string `json:"class"`
	Lock      string `json:"lock"` // it waits for this lock
	// from the call that takes the lock outwards, without
	// further frames of package sync and the runtime
	Stack []Frame `json:"frames"`

	address uint64 // of the lock
}

// Rereads returns the goroutine that reads again what it has
// locked for reading, behind a writer, if all wait for that one
// lock; else nil.
func (d *Deadlock) Rereads() *Member {
	reader := -1
	for i, m := range d.Members {
		if m.address == 0 || m.address != d.Members[0].address {
			return nil
		}
		if len(m.Stack) > 0 && m.Stack[0].Function == "sync.(*RWMutex).RLock" {
			reader = i
		}
	}
	if reader < 0 || len(d.Members) < 2 {
		return nil
	}
	return &d.Members[reader]
}

// Involves reports whether a goroutine, by its number, is in the
// deadlock.
func (d *Deadlock) Involves(goroutine int64) bool {
	return slices.ContainsFunc(d.Members, func(m Member) bool { return m.Goroutine == goroutine })
}

// Has reports whether a goroutine of the deadlock waits for a lock,
// by its address: others that wait for the lock wait for ever, too.
func (d *Deadlock) Has(lock uint64) bool {
	return lock != 0 && slices.ContainsFunc(d.Members, func(m Member) bool { return m.address == lock })
}

// A Frame is a call on a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"` // "" if not known
	Line     int32  `json:"line,omitempty"` // being executed, or of the call; 0 if not known
	Inlined  bool   `json:"inlined,omitempty"`
}

// deadlocks describes the deadlocks of the recording, as far as
// the span shows them, in the order in which they began.
func (l *ledger) deadlocks() []*Deadlock {
	var all []*Deadlock
	for _, o := range l.standing {
		d := &Deadlock{First: max(o.first, l.from), Last: l.to - 1}
		if d.Samples = int(d.Last-d.First) + 1; d.Samples <= 0 {
			continue
		}
		for _, g := range o.members {
			run := l.circles.run(g)
			s := run.State()
			d.Members = append(d.Members,
				member(l.r, g, &s, l.classOf(run), l.ids.locks[l.ids.instance(run)].label))
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Deadlock) int {
		return cmp.Or(cmp.Compare(a.First, b.First),
			slices.CompareFunc(a.Members, b.Members, func(x, y Member) int {
				return cmp.Compare(x.Goroutine, y.Goroutine)
			}))
	})
	return all
}

// member describes a goroutine in a deadlock. It uses only the
// recording's tables.
func member(r *sampledata.Recording, g sampledata.GoroutineID, s *sampledata.State,
	class, lock string) Member {
	m := Member{Goroutine: r.Goroutines.At(g).ID, Class: class, Lock: lock, address: s.Lock}
	for at := s.Stack; at != sampledata.NoStack; at = r.Nodes[at].Parent {
		f := FrameAt(r, at)
		if TakesForCallers(f.Function) && TakesForCallers(r.NameAt(r.Nodes[at].Parent)) {
			continue
		}
		m.Stack = append(m.Stack, f)
	}
	return m
}

// FrameAt returns the frame of a node.
func FrameAt(r *sampledata.Recording, node sampledata.NodeID) Frame {
	n := r.Nodes[node]
	f := r.Functions[n.Function]
	return Frame{Function: f.Name, File: f.File, Line: n.Line, Inlined: n.Inlined}
}
