package why

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// An Activity is what a goroutine does, or waits for.
type Activity string

// The activities.
const (
	Computing   Activity = "computing"   // it runs
	CallsKernel Activity = "system call" // it runs in the kernel, or waits for it
	InC         Activity = "C code"      // it waits in a call of cgo
	Ready       Activity = "ready"       // it could run, but others have the processors
	// it has a processor, but its thread no CPU of the machine
	NoCPU        Activity = "no CPU"
	Locked       Activity = "lock"            // it waits for a lock
	IO           Activity = "I/O"             // it waits for a file, a pipe or the network
	Sleeping     Activity = "sleep"           // it sleeps
	Sending      Activity = "channel send"    // it waits to send to a channel
	Receiving    Activity = "channel receive" // it waits to receive from a channel
	Selecting    Activity = "channels"        // it waits in a select
	Conditional  Activity = "condition"       // it waits for a sync.Cond or a semaphore
	Joining      Activity = "group"           // it waits for a sync.WaitGroup
	Collecting   Activity = "collector"       // it waits for the garbage collector
	WaitsForWork Activity = "waits for work"  // nobody needs it
	OtherWait    Activity = "other wait"      // it waits for something else
	// the lock is free, and somebody was woken to take it
	Nobody  Activity = "nobody"
	Unknown Activity = "an unknown goroutine" // nothing is known of who holds the lock
)

// activities has the activities of what goroutines do. Other waits are
// OtherWait.
var activities = [views.NumDoings]Activity{
	views.Executing: Computing, views.WithoutCPU: NoCPU, views.Ready: Ready,
	views.AwaitingLock: Locked, views.AwaitingIO: IO,
	views.InSystemCall: CallsKernel, views.Sleeping: Sleeping, views.Sending: Sending,
	views.Receiving: Receiving,
	views.Selecting: Selecting, views.AwaitingCondition: Conditional,
	views.AwaitingSemaphore: Conditional,
	views.AwaitingGroup:     Joining, views.AwaitingCollector: Collecting,
}

// activity returns what the goroutines of a situation do.
func (e *evidence) activity(s *situation) Activity {
	does := s.state.Doing
	switch {
	case does == views.AwaitingSemaphore && e.places.inCollector(s.state.Stack):
		return Collecting
	case does == views.Executing && e.places.inKernel(s.state.Stack):
		return CallsKernel
	case does == views.InSystemCall && e.places.inC(s.state.Stack):
		return InC
	case s.idle && does != views.Sleeping:
		return WaitsForWork
	}
	return cmp.Or(activities[does], OtherWait)
}

// Words says what a goroutine with the activity does: "waits for I/O".
func (a Activity) Words() string {
	switch a {
	case WaitsForWork:
		return string(a)
	case InC:
		return "waits in C code"
	}
	return views.Doing(max(0, slices.Index(activities[:], a))).Words()
}

// inC reports whether a stack ends in C code.
func (p *places) inC(stack sampledata.NodeID) bool {
	return stack != sampledata.NoStack && p.function(stack) == "runtime.cgocall"
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

// collecting matches the functions of the runtime that begin and
// end a collection, or help with one.
var collecting = regexp.MustCompile(`^runtime\.(gc[A-Z]\w*|GC|stopTheWorld\w*|ReadMemStats)$`)

// inCollector reports whether a stack ends in the garbage collector.
func (p *places) inCollector(stack sampledata.NodeID) bool {
	n := p.r.Innermost(stack, func(name string) bool {
		return !strings.HasPrefix(name, "runtime.") || collecting.MatchString(name)
	})
	return collecting.MatchString(p.r.NameAt(n))
}

// kernelCalls names the system calls of some situations of a class.
func (s *searcher) kernelCalls(class int32, of func(*situation) bool) []Part {
	calls, total := make(map[string]float64), 0.0
	for _, at := range s.members(class) {
		if call := s.e.places.kernelCall(at.state.Stack); call != "" && of(at) {
			calls[call] += at.weight
			total += at.weight
		}
	}
	return parts(calls, total)
}

// kernelCall names the system call in which a stack ends, and
// the function of the standard library that makes it: "fsync, by
// os.(*File).Sync"; "" if it ends elsewhere.
func (p *places) kernelCall(stack sampledata.NodeID) string {
	if stack == sampledata.NoStack || !p.inKernel(stack) {
		return ""
	}
	call, n := "", stack
	for ; n != sampledata.NoStack; n = p.r.Nodes[n].Parent {
		name := p.function(n)
		if !isSystemCall(name) && !strings.HasPrefix(name, "runtime.") {
			break
		}
		if isSystemCall(name) {
			call = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
		}
	}
	if by := p.library(p.own[stack], n); by != "" {
		call += ", by " + by
	}
	return call
}
