package views

import (
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// A Doing is what a goroutine does, by its run state and the
// reason of its wait. The tables below say what a state and a
// reason mean. No other package looks at either.
type Doing uint8

// What goroutines do.
const (
	OtherWait         Doing = iota // it waits, and for what is not known
	Executing                      // on a CPU, with or without a processor
	WithoutCPU                     // on a processor, but the thread waits for a CPU of the machine
	Ready                          // it could run
	AwaitingLock                   // of package sync
	Receiving                      // from a channel
	Selecting                      // waiting in a select for channels
	Sending                        // to a channel
	AwaitingCondition              // a sync.Cond
	AwaitingSemaphore              // of the runtime, such as the lock of a socket
	AwaitingGroup                  // a sync.WaitGroup
	AwaitingIO                     // a file, a pipe or the network
	InSystemCall                   // the kernel
	Sleeping                       // until a time
	AwaitingCollector              // the garbage collector
	AwaitingRuntime                // a goroutine of the runtime's own waits for its next work
	Forever                        // nothing ends the wait: select {}, or a nil channel that it receives from

	NumDoings
)

// meanings say what each Doing means: its typed time if that is
// not divided, whether a goroutine at home waits like this for
// its next piece of work, and the words for it. The first word
// is the verb.
var meanings = [NumDoings]struct {
	time  TypedTime
	home  bool
	words string
}{
	OtherWait:         {time: Wait, words: "waits"},
	Executing:         {time: Run, words: "computes"},
	WithoutCPU:        {time: Load, words: "would run, but its thread waits for a CPU"},
	Ready:             {time: Load, words: "is ready to run, but has no processor"},
	AwaitingLock:      {time: Monitor, words: "waits for a lock"},
	Receiving:         {time: Wait, home: true, words: "waits to receive from a channel"},
	Selecting:         {time: Wait, home: true, words: "waits in a select for channels"},
	Sending:           {time: Wait, words: "waits to send to a channel"},
	AwaitingCondition: {time: Wait, home: true, words: "waits for a condition"},
	AwaitingSemaphore: {time: Wait, words: "waits for a semaphore (such as the lock of a socket)"},
	AwaitingGroup:     {time: Wait, words: "waits for others to be done (sync.WaitGroup)"},
	AwaitingIO:        {time: Wait, home: true, words: "waits for I/O"},
	InSystemCall:      {time: Wait, words: "is in a system call"},
	Sleeping:          {time: Wait, home: true, words: "sleeps"},
	AwaitingCollector: {time: Wait, words: "waits for the garbage collector"},
	AwaitingRuntime:   {time: Wait, words: "waits for work of the runtime"},
	Forever:           {time: Wait, words: "waits for what never comes"},
}

// reasons say what a goroutine does that waits for a reason, by
// the runtime's text. The reason of a lock begins with the
// lock's type.
var reasons = map[string]Doing{
	"sync.Mutex.Lock": AwaitingLock, "sync.RWMutex.Lock": AwaitingLock,
	"sync.RWMutex.RLock": AwaitingLock,

	"chan receive": Receiving, "chan receive (durable)": Receiving,
	"chan receive (synctest)": Receiving,
	"chan send":               Sending, "chan send (durable)": Sending,
	"chan send (synctest)": Sending, "chan send (nil chan)": Sending,
	"select" + sampledata.ToSend: Sending,
	"select":                     Selecting, "select (durable)": Selecting,
	"select (synctest)": Selecting,

	"sync.Cond.Wait": AwaitingCondition, "semacquire": AwaitingSemaphore,
	"sync.WaitGroup.Wait": AwaitingGroup, "sync.WaitGroup.Wait (durable)": AwaitingGroup,
	"sync.WaitGroup.Wait (synctest)": AwaitingGroup,

	"IO wait": AwaitingIO, "syscall": InSystemCall, "sleep": Sleeping,
	"chan receive" + sampledata.OnTimer: Sleeping, "select" + sampledata.OnTimer: Sleeping,

	"select (no cases)": Forever, "chan receive (nil chan)": Forever,

	"GC assist wait": AwaitingCollector, "GC assist marking": AwaitingCollector,
	"wait for GC cycle":  AwaitingCollector,
	"garbage collection": AwaitingCollector, "garbage collection scan": AwaitingCollector,
	"flushing proc caches": AwaitingCollector,
	"GC mark termination":  AwaitingCollector, "GC weak to strong wait": AwaitingCollector,
	"GC worker (active)": AwaitingCollector,

	"cleanup wait": AwaitingRuntime, "finalizer wait": AwaitingRuntime,
	"force gc (idle)": AwaitingRuntime, "GC scavenge wait": AwaitingRuntime,
	"GC sweep wait": AwaitingRuntime, "GC worker (idle)": AwaitingRuntime,
	"GOMAXPROCS updater (idle)": AwaitingRuntime,
	"trace reader (blocked)":    AwaitingRuntime,

	"": OtherWait, "coroutine": OtherWait, "debug call": OtherWait, "dumping heap": OtherWait,
	"page trace flush": OtherWait,
	"panicwait":        OtherWait, "preempted": OtherWait, "stopping the world": OtherWait,
	"trace goroutine status": OtherWait,
	"trace proc status":      OtherWait, "synctest.Run": OtherWait, "synctest.Wait": OtherWait,
	"synctest.run":  OtherWait,
	"synctest.wait": OtherWait,
}

// A runKind is what a run state means for the goroutine itself.
type runKind uint8

const (
	waiting   runKind = iota // its reason says for what
	executing                // it has a processor, or runs in C or in the kernel
	ready
	locked // it waits for a lock
)

// runStates say what each run state means. What is not known
// counts as waiting, with a warning.
var runStates = [...]struct {
	kind  runKind
	holds bool // a processor
}{
	sampledata.Unknown: {}, sampledata.Running: {executing, true},
	sampledata.Detached: {kind: executing},
	sampledata.Runnable: {kind: ready}, sampledata.Waiting: {}, sampledata.Blocked: {kind: locked},
}

func kindOf(run sampledata.Run) runKind { return runStates[run.Run].kind }

// isUnknown reports whether the sampler could not find out a run's state.
func isUnknown(run sampledata.Run) bool { return run.Run == sampledata.Unknown }

// DoingOf returns what a goroutine does in a run.
func DoingOf(run sampledata.Run) Doing { return doing(run.Run, run.NoCPU, run.Reason) }

// DoingIn returns what a goroutine does in a state.
func DoingIn(s sampledata.State) Doing { return doing(s.Run, s.NoCPU, s.Reason) }

func doing(state sampledata.RunState, noCPU bool, reason string) Doing {
	switch runStates[state].kind {
	case executing:
		if noCPU {
			return WithoutCPU
		}
		return Executing
	case ready:
		return Ready
	case locked:
		return AwaitingLock
	}
	if does := WaitingFor(reason); does != AwaitingLock {
		return does
	}
	return OtherWait // the run state decides
}

// WaitingFor returns what a goroutine does that waits, given the
// reason in the runtime's words.
func WaitingFor(reason string) Doing { return reasons[reason] }

// inCoroutine reports whether a goroutine waits while its
// coroutine, as one of iter.Pull, goes on in its place.
func inCoroutine(reason string) bool { return reason == "coroutine" }

// OfChannelTimer reports whether a sleep, given its reason, is a
// wait for a timer's channel: a ticker's, perhaps.
func OfChannelTimer(reason string) bool {
	return WaitingFor(reason) == Sleeping && strings.HasSuffix(reason, sampledata.OnTimer)
}

// MayBeStopped reports whether a wait to send, given its reason, is in
// a select: another case may end it.
func MayBeStopped(reason string) bool { return strings.HasSuffix(reason, sampledata.ToSend) }

// Time returns the typed time, if it is not divided: of a
// goroutine that is ready, it is :LOAD.
func (d Doing) Time() TypedTime { return meanings[d].time }

// Executes reports whether the goroutine is on a processor, in C
// or in the kernel, with or without a CPU of the machine.
func (d Doing) Executes() bool { return d == Executing || d == WithoutCPU }

// Waits reports whether the goroutine waits for anything but a
// lock, a processor or a CPU.
func (d Doing) Waits() bool { return meanings[d].time == Wait }

// OfChannel reports whether the goroutine waits for channels.
func (d Doing) OfChannel() bool { return d == Receiving || d == Selecting || d == Sending }

// Words says what the goroutine does: "waits to send to a channel".
func (d Doing) Words() string { return meanings[d].words }

// MarshalText writes it in words.
func (d Doing) MarshalText() ([]byte, error) { return []byte(d.Words()), nil }

// Participle says the same of a wait as a participle: "waiting
// to send to a channel".
func (d Doing) Participle() string { return strings.Replace(d.Words(), "waits", "waiting", 1) }

// LockType returns the type of the lock that a goroutine waits
// for, given the reason in the runtime's words; "" if none is
// known. A goroutine that takes a RWMutex for writing first
// waits for the Mutex in it: the greater type is the lock's.
func LockType(reason string) string {
	if reasons[reason] != AwaitingLock {
		return ""
	}
	return reason[:strings.LastIndexByte(reason, '.')]
}
