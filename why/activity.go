package why

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// An Activity is what a goroutine does, or waits for.
type Activity string

// The activities.
const (
	Computing    Activity = "computing"            // it runs
	CallsKernel  Activity = "system call"          // it runs in the kernel, or waits for it
	Ready        Activity = "ready"                // it could run, but others have the processors
	NoCPU        Activity = "no CPU"               // it has a processor, but its thread no CPU of the machine
	Locked       Activity = "lock"                 // it waits for a lock
	IO           Activity = "I/O"                  // it waits for a file, a pipe or the network
	Sleeping     Activity = "sleep"                // it sleeps
	Sending      Activity = "channel send"         // it waits to send to a channel
	Receiving    Activity = "channel receive"      // it waits to receive from a channel, or in a select
	Conditional  Activity = "condition"            // it waits for a sync.Cond or a semaphore
	Joining      Activity = "group"                // it waits for other goroutines to end
	Collecting   Activity = "collector"            // it waits for the garbage collector
	WaitsForWork Activity = "waits for work"       // nobody needs it
	OtherWait    Activity = "other wait"           // it waits for something else
	Nobody       Activity = "nobody"               // the lock is free, and somebody was woken to take it
	Unknown      Activity = "an unknown goroutine" // nothing is known of who holds the lock
)

// activities has the activities of what goroutines do. Other waits are OtherWait.
var activities = [views.NumDoings]Activity{
	views.Executing: Computing, views.WithoutCPU: NoCPU, views.Ready: Ready, views.AwaitingLock: Locked, views.AwaitingIO: IO,
	views.InSystemCall: CallsKernel, views.Sleeping: Sleeping, views.Sending: Sending, views.Receiving: Receiving,
	views.Selecting: Receiving, views.AwaitingCondition: Conditional, views.AwaitingSemaphore: Conditional,
	views.AwaitingGroup: Joining, views.AwaitingCollector: Collecting,
}

// activity returns what the goroutines of a situation do.
func (e *evidence) activity(s *situation) Activity {
	does := s.state.Doing
	switch {
	case does == views.Executing && e.places.inKernel(s.state.Stack):
		return CallsKernel
	case s.idle && does != views.Sleeping:
		return WaitsForWork
	}
	return cmp.Or(activities[does], OtherWait)
}

// Words says what a goroutine with the activity does: "waits for I/O".
func (a Activity) Words() string {
	if a == WaitsForWork {
		return string(a)
	}
	return views.Doing(max(0, slices.Index(activities[:], a))).Words()
}

// inKernel reports whether a stack ends in a system call.
func (p *places) inKernel(stack sampledata.NodeID) bool {
	for depth := 0; stack != sampledata.NoStack && depth < 4; depth++ {
		if isSystemCall(p.function(stack)) {
			return true
		}
		stack = p.r.Nodes[stack].Parent
	}
	return false
}
