package sampledata

import (
	"fmt"
	"math"
	"time"
)

// A Marking says which goroutines can never run again. The
// program's heap was marked, as the garbage collector does it:
// what a goroutine waits for was not reached.
type Marking struct {
	Time       time.Duration // when it was found, as Sample.Time
	Goroutines int           // of the program
	Proved     bool          // at one moment, in a halt
	Passes     int           // number of readings of the heap, the proof included
	Took       time.Duration // all of them
	Apart      time.Duration // from the first reading to the last
	Halted     time.Duration // the target, in all of them
	MaxHalt    time.Duration // the longest of these halts
	Heap       int64         // bytes in use

	// What a proof would take; 0 if there is one, or if it needs none.
	NeedsHalt   time.Duration
	NeedsMemory int64

	Doubt  string // why nothing is claimed; "" if there is no reason
	Groups []MarkedGroup
	Edges  []MarkedEdge
	Whole  bool // the edges are all that there are
}

// A MarkedEdge is what the code of goroutines says of who ends a wait.
type MarkedEdge struct {
	From  int64  // goid of the goroutine that waits
	To    int64  // goid of the one that would end the wait, or holds the lock; 0 for none
	At    uint64 // address of the lock, channel, group or condition
	Sure  bool   // otherwise that is likely
	Taken string // the function that has taken the lock; "" if it is no lock
}

// A MarkedGroup is goroutines that wait at one place, with one
// verdict. Those that are live are there if they have waited for
// minutes.
type MarkedGroup struct {
	Count   int     `json:"goroutines"`
	IDs     []int64 `json:"ids"`    // goids, ascending; not all if there are very many
	Reason  string  `json:"reason"` // as State.Reason
	Verdict Verdict `json:"verdict"`
	Doubt   string  `json:"doubt,omitempty"` // why its verdict is no more than NotMoved
	Calls   []Call  `json:"frames"`          // innermost first
	Wait    Wait    `json:"-"`
	// of what they wait for, as LockName.Name; "" if not known
	Name    string        `json:"-"`
	Waited  time.Duration `json:"-"` // the longest wait, at least; 0 if not known
	Kept    int64         `json:"-"` // bytes that only these goroutines keep; -1 if not known
	Creator Call          `json:"-"` // of the first goroutine; empty if not known
	// where functions can return with the lock that they wait
	// for, if no goroutine holds it
	Left []Call `json:"left,omitempty"`
}

// A Call is a place in the code.
type Call struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int32  `json:"line,omitempty"`
}

// A Verdict is what is known of a goroutine that waits.
type Verdict uint8

// Verdicts, from the one that claims nothing to the one that claims most.
const (
	Live      Verdict = iota // something that can run reaches what it waits for
	NotMoved                 // it has not moved, and a doubt forbids to say more
	Suspected                // readings have not reached what it waits for
	Stuck                    // proved: nothing that can run again reaches that
)

func (v Verdict) String() string { return nameOf(verdictNames, int(v)) }

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

var verdictNames = []string{"live", "not moved", "suspected", "stuck for good"}

// A Wait is what a goroutine waits for.
type Wait uint8

const (
	ForGroup     Wait = iota // a sync.WaitGroup, or another semaphore
	ForLock                  // to take a lock
	ForReadLock              // to take a lock for reading
	ForReceiver              // of a channel
	ForSender                // to a channel
	ForChannels              // of a select
	ForCondition             // a sync.Cond
	ForNil                   // a nil channel
	ForNothing               // a select without cases
)

func (w Wait) String() string { return nameOf(waitNames, int(w)) }

var waitNames = []string{"group", "lock", "read-lock", "receiver", "sender", "channels",
	"condition", "nil-channel", "no-cases"}

// Number returns how many goroutines have a verdict; 0 if there
// is no marking.
func (m *Marking) Number(v Verdict) (n int) {
	if m == nil {
		return 0
	}
	for i := range m.Groups {
		if m.Groups[i].Verdict == v {
			n += m.Groups[i].Count
		}
	}
	return n
}

// Waits returns how long goroutines wait, at most, that wait at
// the same place as one does, by goid. It lacks goroutines of
// which that is not known, and those that are live and have not
// waited for minutes.
func (m *Marking) Waits() map[int64]time.Duration {
	waits := map[int64]time.Duration{}
	if m == nil {
		return waits
	}
	for i := range m.Groups {
		for _, id := range m.Groups[i].IDs {
			waits[id] = m.Groups[i].Waited
		}
	}
	return waits
}

// Verdicts returns the verdicts of goroutines, by goid. It has
// no goroutine that is live.
func (m *Marking) Verdicts() map[int64]Verdict {
	if m == nil {
		return nil
	}
	verdicts := map[int64]Verdict{}
	for i := range m.Groups {
		for _, id := range m.Groups[i].IDs {
			if m.Groups[i].Verdict != Live {
				verdicts[id] = m.Groups[i].Verdict
			}
		}
	}
	return verdicts
}

// The limits of a marking.
const (
	MaxMarkedGroups = 4096
	MaxMarkedCalls  = 128     // of a group
	MaxMarkedLeft   = 16      // of a group
	MaxMarked       = 1 << 17 // goids
	MaxMarkedEdges  = 1 << 18
)

// check accepts nil, which is no marking.
func (m *Marking) check() error {
	if m == nil {
		return nil
	}
	for _, n := range []int64{int64(m.Time), int64(m.Goroutines), int64(m.Passes), int64(m.Took),
		int64(m.Apart), int64(m.Halted), int64(m.MaxHalt), m.Heap, int64(m.NeedsHalt),
		m.NeedsMemory} {
		if n < 0 {
			return fmt.Errorf("marking with the negative number %d", n)
		}
	}
	if len(m.Groups) > MaxMarkedGroups {
		return fmt.Errorf("marking with %d groups, more than %d", len(m.Groups), MaxMarkedGroups)
	}
	ids := 0
	for i := range m.Groups {
		g := &m.Groups[i]
		if err := g.check(); err != nil {
			return fmt.Errorf("group %d of the marking: %w", i, err)
		}
		ids += len(g.IDs)
	}
	if ids > MaxMarked {
		return fmt.Errorf("marking with %d goroutines, more than %d", ids, MaxMarked)
	}
	if len(m.Edges) > MaxMarkedEdges {
		return fmt.Errorf("marking with %d edges, more than %d", len(m.Edges), MaxMarkedEdges)
	}
	for _, e := range m.Edges {
		if e.From < 1 || e.To < 0 {
			return fmt.Errorf("edge from goroutine %d to %d", e.From, e.To)
		}
	}
	return nil
}

func (g *MarkedGroup) check() error {
	switch {
	case g.Verdict > Stuck:
		return fmt.Errorf("unknown verdict %d", g.Verdict)
	case g.Wait > ForNothing:
		return fmt.Errorf("unknown wait %d", g.Wait)
	case g.Count < 1 || g.Count > math.MaxInt32 || len(g.IDs) > g.Count:
		return fmt.Errorf("%d goroutines, %d of them listed", g.Count, len(g.IDs))
	case g.Waited < 0:
		return fmt.Errorf("negative wait %v", g.Waited)
	case g.Kept < -1:
		return fmt.Errorf("%d bytes kept", g.Kept)
	case len(g.Calls) > MaxMarkedCalls:
		return fmt.Errorf("%d calls, more than %d", len(g.Calls), MaxMarkedCalls)
	case len(g.Left) > MaxMarkedLeft:
		return fmt.Errorf("%d places of returns, more than %d", len(g.Left), MaxMarkedLeft)
	}
	for i, id := range g.IDs {
		if id < 1 || i > 0 && g.IDs[i-1] >= id {
			return fmt.Errorf("goroutine %d is none or not in order", id)
		}
	}
	for _, calls := range [][]Call{g.Calls, g.Left} {
		for i := range calls {
			if err := calls[i].check(); err != nil {
				return err
			}
		}
	}
	return checkLine(g.Creator.Line)
}

func (c *Call) check() error {
	if c.Function == "" {
		return fmt.Errorf("call of a function without a name")
	}
	return checkLine(c.Line)
}
