package why

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
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

var reasonsOf = []struct {
	activity Activity
	reasons  []string
}{
	{IO, []string{"IO wait"}},
	{CallsKernel, []string{"syscall"}},
	{Sleeping, []string{"sleep"}},
	{Sending, []string{"chan send"}},
	{Receiving, []string{"chan receive", "select"}},
	{Conditional, []string{"sync.Cond.Wait", "semacquire"}},
	{Joining, []string{"sync.WaitGroup.Wait"}},
	{Collecting, []string{"GC assist wait", "GC assist marking", "wait for GC cycle", "garbage collection"}},
}

// activity returns what the goroutines of a situation do.
func (e *evidence) activity(s *situation) Activity {
	switch s.state.Run {
	case sampledata.Running, sampledata.Detached:
		switch {
		case s.state.NoCPU:
			return NoCPU
		case e.places.inKernel(s.state.Stack):
			return CallsKernel
		}
		return Computing
	case sampledata.Runnable:
		return Ready
	case sampledata.Blocked:
		return Locked
	}
	if s.idle && !s.parked && s.state.Reason != "sleep" {
		return WaitsForWork
	}
	for _, a := range reasonsOf {
		if slices.Contains(a.reasons, s.state.Reason) {
			return a.activity
		}
	}
	return OtherWait
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
