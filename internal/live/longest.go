package live

import (
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// longestCalls is a Sink in front of another one. It adds a
// monitor for each of some functions: the time so far of the
// longest call that is under way, or has ended since the sample
// before.
//
// It sees the calls as views/calls does in the samples alone: a
// goroutine that has the function on its stack, called from the
// same place. If the function's calls are timed one by one, too,
// these count, from when they become known; what the samples
// show is then for calls that have not returned.
type longestCalls struct {
	sampledata.Sink
	functions []*longestCall
	goids     map[sampledata.GoroutineID]int64
	latest    time.Duration // the last sample
}

// A longestCall follows one function.
type longestCall struct {
	name    string
	monitor sampledata.MonitorID
	ids     map[sampledata.FunctionID]bool
	parents []sampledata.NodeID                    // by node
	outer   []sampledata.NodeID                    // by node: the outermost frame of the function
	open    map[sampledata.GoroutineID]*activation // calls under way
	timed   *timedUpTo                             // nil if only samples show the calls
}

// An activation is a call that samples show.
type activation struct {
	begin  time.Duration
	caller sampledata.NodeID
}

// timedUpTo is what is known of calls that are timed.
type timedUpTo struct {
	from, to time.Duration           // the last window without a gap
	ended    map[int64]time.Duration // by goid: the end of the last call
	longest  time.Duration           // as of to
}

func newLongestCalls(sink sampledata.Sink, names []string) *longestCalls {
	l := &longestCalls{Sink: sink, goids: make(map[sampledata.GoroutineID]int64)}
	for _, name := range names {
		l.functions = append(l.functions, &longestCall{
			name: name, ids: make(map[sampledata.FunctionID]bool),
			open: make(map[sampledata.GoroutineID]*activation),
			monitor: sink.Monitor(sampledata.Monitor{Name: callsMonitor(name),
				Layer: sampledata.Sampled, Kind: sampledata.Level, Unit: "ns",
				Source: "the longest call so far"}),
		})
	}
	return l
}

func (l *longestCalls) Function(f sampledata.Function) sampledata.FunctionID {
	id := l.Sink.Function(f)
	for _, c := range l.functions {
		if f.Name == c.name {
			c.ids[id] = true
		}
	}
	return id
}

func (l *longestCalls) Node(n sampledata.Node) sampledata.NodeID {
	id := l.Sink.Node(n)
	for _, c := range l.functions {
		if int(id) != len(c.outer) {
			continue
		}
		at := sampledata.NoStack
		if n.Parent != sampledata.NoStack {
			at = c.outer[n.Parent]
		}
		if at == sampledata.NoStack && c.ids[n.Function] {
			at = id
		}
		c.outer, c.parents = append(c.outer, at), append(c.parents, n.Parent)
	}
	return id
}

func (l *longestCalls) Goroutine(g sampledata.Goroutine) sampledata.GoroutineID {
	id := l.Sink.Goroutine(g)
	l.goids[id] = g.ID
	return id
}

// Calls takes the calls that were timed.
func (l *longestCalls) Calls(t sampledata.CallTable) {
	for _, c := range l.functions {
		if c.name == t.Function {
			c.take(&t, l.goids)
		}
	}
	l.Sink.Calls(t)
}

func (c *longestCall) take(t *sampledata.CallTable, goids map[sampledata.GoroutineID]int64) {
	if c.timed == nil {
		c.timed = &timedUpTo{ended: make(map[int64]time.Duration)}
	}
	u := c.timed
	for _, w := range t.Windows {
		if w.From > u.to {
			u.from = w.From
		}
		u.to = w.To
	}
	u.longest = 0
	for _, one := range t.Calls {
		u.longest = max(u.longest, one.End-one.Begin)
		u.ended[one.Goroutine] = max(u.ended[one.Goroutine], one.End)
	}
	for g, a := range c.open {
		u.longest = max(u.longest, u.to-max(u.from, a.begin, u.ended[goids[g]]))
	}
}

func (l *longestCalls) Sample(s sampledata.Sample, changes []sampledata.Change) error {
	for _, c := range l.functions {
		longest := c.step(changes, s.Time, (l.latest+s.Time)/2)
		if c.timed != nil {
			longest = c.timed.longest
		}
		l.Sink.Measure(c.monitor, sampledata.Number(int64(longest)))
	}
	for _, c := range changes {
		if c.Gone {
			for _, f := range l.functions {
				if f.timed != nil {
					delete(f.timed.ended, l.goids[c.Goroutine])
				}
			}
			delete(l.goids, c.Goroutine)
		}
	}
	l.latest = s.Time
	return l.Sink.Sample(s, changes)
}

// step takes what changes in a sample. Calls begin and end
// halfway between the sample and the one before it.
func (c *longestCall) step(changes []sampledata.Change, at, halfway time.Duration) (longest time.Duration) {
	for _, change := range changes {
		if change.State.Torn && !change.Gone {
			continue // it says nothing
		}
		caller, inside := sampledata.NoStack, false
		if stack := change.State.Stack; !change.Gone && stack != sampledata.NoStack {
			if outer := c.outer[stack]; outer != sampledata.NoStack {
				caller, inside = c.parents[outer], true
			}
		}
		a := c.open[change.Goroutine]
		if a != nil && (!inside || a.caller != caller) {
			longest = max(longest, halfway-a.begin)
			delete(c.open, change.Goroutine)
			a = nil
		}
		if inside && a == nil {
			c.open[change.Goroutine] = &activation{halfway, caller}
		}
	}
	for _, a := range c.open {
		longest = max(longest, at-a.begin)
	}
	return longest
}
