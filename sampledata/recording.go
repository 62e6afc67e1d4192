package sampledata

import (
	"slices"
	"time"
)

// Codes of a recording's tables: indexes into the slices of the same name.
type (
	FunctionID  int32 // Recording.Functions
	NodeID      int32 // Recording.Nodes; NoStack if there is none
	GoroutineID int32 // Recording.Goroutines: one instance of a goroutine, not its goid
	LabelSetID  int32 // Recording.LabelSets; 0 is the empty set
	HolderSetID int32 // Recording.HolderSets; 0 is the empty set
)

// NoStack is the code of a stack without frames.
const NoStack NodeID = -1

// A Recording is what was seen of one target: the stacks and
// states of its goroutines at a number of samples.
//
// Runs say what the goroutines did. One run is a goroutine in
// one state, with one stack, over consecutive samples.
//
// The recording of another tool's profile has a Profile, and neither
// samples nor goroutines.
type Recording struct {
	Header     Header
	Functions  []Function
	Nodes      []Node
	Goroutines Goroutines
	LabelSets  [][]Label
	HolderSets [][]GoroutineID
	LockNames  []LockName
	Samples    Samples
	Runs       Runs
	Series     []Series    // values beside the stacks, by MonitorID
	Probes     []Probe     // what instruments measured, in the order in which they were put in
	Calls      []CallTable // calls that were timed one by one, in the order of their first ones
	Marking    *Marking    // which goroutines can never run again; nil if nobody asked
	Profile    *Profile    // in place of samples; nil unless it was read from a profile
	Picked     *Picked     // nil unless it has only some samples of another recording
	Restricted *Restricted // nil unless only some goroutines' time counts
	Warnings   []Warning
	End        *End // nil if the recording breaks off
}

// NameAt returns the name of a node's function; "" for NoStack.
func (r *Recording) NameAt(n NodeID) string {
	if n == NoStack {
		return ""
	}
	return r.Functions[r.Nodes[n].Function].Name
}

// Innermost returns the innermost frame of a stack whose
// function's name has a property; NoStack if there is none.
func (r *Recording) Innermost(stack NodeID, is func(name string) bool) NodeID {
	for stack != NoStack && !is(r.NameAt(stack)) {
		stack = r.Nodes[stack].Parent
	}
	return stack
}

// Held returns which goroutines are in a set of holders.
func (r *Recording) Held() []bool {
	held := make([]bool, r.Goroutines.Len())
	for _, set := range r.HolderSets {
		for _, g := range set {
			held[g] = true
		}
	}
	return held
}

// A Header says what was recorded, and how.
type Header struct {
	Command    []string  `json:"command"` // the target's command line
	Executable string    `json:"-"`
	PID        int64     `json:"pid"`
	Container  string    `json:"container,omitempty"` // id of the container that it ran in; "" for none
	GoVersion  string    `json:"go_version"`          // "go1.26.1"
	OS         string    `json:"os"`                  // of the target: "linux"
	Arch       string    `json:"arch"`                // "amd64"
	GOMAXPROCS int32     `json:"gomaxprocs"`          // at the start; each sample has its own
	Start      time.Time `json:"start"`
	Clock      string    `json:"-"` // that measured the samples' times: "monotonic"
	Sampler    Settings  `json:"-"`
}

// Settings are the options that the sampler ran with.
type Settings struct {
	Version string // of cpprof
	Backend string
	RateHz  float64 // samples a second; an upper bound
	// share of the interval by which a tick moves at random; 0:
	// strictly periodic
	Jitter      float64
	MaxOverhead float64 // bound on the halted share of wall time
	MaxCPU      float64 // bound on the sampler's own CPU, in cores; 0: none

	// How the sampler wakes on time for a halt although the
	// machine is busy: "real-time priority", "nice -15", "short
	// time slices", or "usual priority" if it can't; "" if not
	// known.
	Wakes string
}

// A Function is a function of the target.
type Function struct {
	Name string
	File string // "" if not known
	Line int32  // of its declaration; 0 if not known
}

// A Node is a stack: a call of Function from the stack Parent.
// Parents come before their children.
type Node struct {
	Parent   NodeID // NoStack for an outermost frame
	Function FunctionID
	Line     int32 // being executed, or of the call; 0 if not known
	Inlined  bool  // into its caller
}

// A Goroutine is one goroutine, for as long as it lived in the recording.
type Goroutine struct {
	ID     int64      // its number in the target (goid)
	Start  FunctionID // the function that its go statement called; -1 if not known
	Site   Site       // of the go statement
	Parent int64      // goid of the goroutine that created it; 0 if not known
	System bool       // created by the runtime
	GC     bool       // a garbage collector's worker
}

// A Site is a place in the source. The zero Site means that it
// is not known.
type Site struct {
	Function string
	File     string
	Line     int32
}

// A Label is a pprof label.
type Label struct{ Key, Value string }

// RunState is what a goroutine was doing.
type RunState uint8

const (
	// the sampler could not find it out; counted as waiting,
	// with a warning
	Unknown RunState = iota
	Running          // on a processor (P)
	// on a CPU without a processor: in C, or in the kernel after
	// the scheduler took the processor
	Detached
	Runnable // ready to run, not running
	Waiting  // Reason says for what; includes blocked system calls
	Blocked  // on a lock: sync.Mutex, sync.RWMutex, a lock of the runtime
)

// Evidence says how the holders of a lock were found. For other
// waits, it is about the goroutines that may end the wait. It is
// then Ambiguous, or Likely for a channel or semaphore that is
// used as a lock.
type Evidence uint8

const (
	NoEvidence Evidence = iota // nothing points to a holder
	Inferred                   // one set of holders fits: Holders
	// several fit, or may have the lock next: Holders lists
	// them, and none of them is blamed
	Ambiguous
	Recorded // the target's runtime says so
	// the lock is taken, and of all goroutines only Holders are
	// where they may have taken it
	Likely
	// nobody holds the lock; Holders, which may be 0, lists the
	// goroutines that were woken to take it
	Free
)

// Blames reports whether goroutines are blamed with this evidence: they are
// holders, not candidates.
func (e Evidence) Blames() bool { return e == Inferred || e == Recorded || e == Likely }

// A State is what one goroutine did in one sample. Two states
// are the same if they are ==.
type State struct {
	Stack    NodeID // the leaf
	Run      RunState
	NoCPU    bool     // Running or Detached, but its thread waits for a CPU of the machine
	Torn     bool     // the stack does not reach its outermost frame
	Evidence Evidence // of Holders
	Priority int32    // the highest runs first; 0 for goroutines
	Labels   LabelSetID
	// of the lock that a Blocked goroutine waits for; if
	// Waiting, the goroutines that may end the wait
	Holders HolderSetID
	// address of that lock, or of the awaited channel,
	// sync.WaitGroup or sync.Cond; or 0, as of a timer's
	// channel, and in a select that takes values from several
	Lock uint64
	// why the goroutine is Waiting or Blocked, in the runtime's words:
	// "chan receive"; see OnTimer and ToSend
	Reason  string
	Release Release // who ended this wait, if the source knows
}

// OnTimer follows the reason for which a goroutine waits for
// channels, if a timer ends the wait, as it ends a sleep.
const OnTimer = " (timer)"

// ToSend follows the reason of a wait in a select, if the
// goroutine waits to send.
const ToSend = " (send)"

// A Release is the stack of a goroutine as it ended another
// one's wait. Its code is 1 more than the stack's; the zero
// Release is not known. That goroutine need not have held the
// lock.
type Release NodeID

// ReleaseAt returns the Release with a stack.
func ReleaseAt(stack NodeID) Release { return Release(stack + 1) }

// Stack returns the stack; NoStack if it is not known.
func (r Release) Stack() NodeID { return NodeID(r) - 1 }

// A LockName names the lock or channel at an address. It is
// valid from the sample First on, until the address gets another
// name: the target may reuse the memory for something else.
type LockName struct {
	Address uint64
	First   int32
	Name    string // of a variable, "main.server.mu", or of a field of a type, "main.(*cache).mu"
	// the elements that a channel's buffer holds; 0 for a lock
	Capacity int64
}

// A Sample is one halt of the target.
type Sample struct {
	Time time.Duration // since Header.Start, by the header's clock
	Halt time.Duration // how long the target was halted
	// by processor: the goroutine that it runs, or a code below;
	// its length is GOMAXPROCS
	Processors   []GoroutineID
	Threads      int32 // number of the target's threads; 0 if not known
	StoppedWorld bool  // the runtime had stopped the world
	Collecting   bool  // a garbage collection was under way
	// how much time the sample stands for, if its source knows;
	// 0: the time around it, see Weights
	Weight time.Duration

	// What the sampler did since the previous sample.
	Missed     int32         // number of ticks that passed without a sample
	SamplerCPU time.Duration // CPU time that the sampler used
	// number of stacks copied from an earlier sample because nothing
	// seemed to have changed
	Reused int32
	// number of these that were read again, to measure how often
	// such a copy is wrong
	Rechecked int32
	Wrong     int32 // number of those that had changed
	// how long the target was halted beside samples: for those
	// that failed, and for a marking
	LostHalt  time.Duration
	Suspended time.Duration // how long the sampler was suspended, as by Ctrl-Z
}

// What a processor does that runs no goroutine.
const (
	IdleProcessor   GoroutineID = -1
	SystemProcessor GoroutineID = -2 // runs the runtime's code: the scheduler, a stopped world
)

// A Warning counts a problem; it is shown with the results.
type Warning struct {
	// machine readable: "torn-stack", "unknown-wait-reason", "damaged-file"
	Kind    string `json:"kind"`
	Message string `json:"message"` // for a person; the first of its kind
	Count   int64  `json:"count"`
}

// DamagedFile is the kind of the warning that Open adds if it
// can't read a part of a recording.
const DamagedFile = "damaged-file"

// UnmarkedHeap is the kind of a warning that says why there is no Marking.
const UnmarkedHeap = "unmarked-heap"

// CutFile is the kind of a warning about another tool's file:
// the file seems to have had more at its end.
const CutFile = "cut-file"

// Complete reports whether a recording has everything that its
// sampler wrote: it is not damaged, and it has an end.
func (r *Recording) Complete() bool {
	return r.End != nil && !slices.ContainsFunc(r.Warnings,
		func(w Warning) bool { return w.Kind == DamagedFile || w.Kind == CutFile })
}

// An End says how a recording ended.
type End struct {
	Cause      EndCause
	Time       time.Duration // as Sample.Time
	ExitStatus int32         // of the target, if it exited
	Detail     string        // "signal: killed"

	// What the sampler did since the last sample, as in Sample.
	Missed     int32
	SamplerCPU time.Duration
	LostHalt   time.Duration
}

// EndCause is why a recording ended.
type EndCause uint8

const (
	EndUnknown     EndCause = iota
	EndDuration             // the requested time was over
	EndInterrupted          // a person or a signal ended it
	EndExited               // the target exited
	EndKilled               // the target died of a signal
	EndExec                 // the target became another program
	EndFailed               // the sampler failed; Detail says how
)

// A Sink receives what a sampler sees, in the order of the
// samples. Writer writes it to files, Builder keeps it in
// memory. Each sink assigns its own codes. It returns the same
// code again for what has a code already.
type Sink interface {
	Function(Function) FunctionID
	Node(Node) NodeID
	Goroutine(Goroutine) GoroutineID // always a new instance
	LabelSet([]Label) LabelSetID
	HolderSet([]GoroutineID) HolderSetID

	// LockName names a lock from the sample First on: the next
	// sample, or an earlier one. It does nothing if the address
	// has that name already.
	LockName(LockName)

	// Monitor returns the code of a monitor. It is in the
	// recording from the next Sample on.
	Monitor(Monitor) MonitorID

	// Measure sets a monitor's value from the next Sample on. Of
	// several calls before a Sample, the last one counts.
	Measure(MonitorID, Value)

	// Probe replaces what an instrument has measured of a
	// function so far. It is in the recording from the next
	// Sample on, or from its end. A probe that breaks a rule is
	// an error of the next Sample.
	Probe(Probe)

	// Calls adds timed calls to the others of the same function
	// and source. They are in the recording from the next Sample
	// on, or from its end. Calls that break a rule are an error
	// of the next Sample.
	Calls(CallTable)

	// Mark replaces what is known of goroutines that can never
	// run again. It is in the recording from the next Sample on,
	// or from its end. A marking that breaks a rule is an error
	// of the next Sample.
	Mark(*Marking)

	// Sample ends a sample. changes lists the goroutines that have another
	// state than in the previous sample.
	Sample(s Sample, changes []Change) error

	// Warn adds to the count of a kind of warning, and keeps the
	// message of the first one.
	Warn(kind, message string, count int64)

	// Finish ends the recording.
	Finish(End) error
}

// A Change is how a goroutine differs from the previous sample:
// it has a new state, or is gone. Other changes are left out,
// except of a goroutine that waits again.
type Change struct {
	Goroutine GoroutineID
	Gone      bool
	Again     bool // it has run in between, though it may wait as before
	State     State
}
