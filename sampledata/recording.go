package sampledata

import (
	"slices"
	"time"
)

// Codes of a recording's tables: indexes into the slices of the same name.
type (
	FunctionID  int32 // Recording.Functions
	NodeID      int32 // Recording.Nodes; NoStack where there is none
	GoroutineID int32 // Recording.Goroutines: one instance of a goroutine, not its goid
	LabelSetID  int32 // Recording.LabelSets; 0 is the empty set
	HolderSetID int32 // Recording.HolderSets; 0 is the empty set
)

// NoStack stands for a stack of no frames.
const NoStack NodeID = -1

// A Recording is what was seen of one target: the stacks and states of its goroutines at a number of samples.
//
// What the goroutines did is kept as runs: a goroutine that was in one state, at one stack, over consecutive
// samples is one run.
type Recording struct {
	Header     Header
	Functions  []Function
	Nodes      []Node
	Goroutines []Goroutine
	LabelSets  [][]Label
	HolderSets [][]GoroutineID
	LockNames  []LockName
	Samples    Samples
	Runs       Runs
	Series     []Series // values beside the stacks, by MonitorID
	Warnings   []Warning
	End        *End // nil where the recording breaks off
}

// A Header says what was recorded, and how.
type Header struct {
	Command    []string // the target's command line
	Executable string
	PID        int64
	GoVersion  string // "go1.26.1"
	OS, Arch   string // of the target: "linux", "amd64"
	GOMAXPROCS int32  // at the start; each sample has its own
	Start      time.Time
	Clock      string // what the samples' times are measured with: "monotonic"
	Sampler    Settings
}

// Settings are what the sampler was asked for.
type Settings struct {
	Version     string // of cpprof
	Backend     string
	RateHz      float64 // samples a second; an upper bound
	Jitter      float64 // share of the interval by which a tick moves at random; 0: strictly periodic
	MaxOverhead float64 // bound on the halted share of wall time
	MaxCPU      float64 // bound on the sampler's own CPU, in cores; 0: none
}

// A Function is a function of the target.
type Function struct {
	Name string
	File string // "" where not known
	Line int32  // of its declaration; 0 where not known
}

// A Node is a stack: a call of Function from the stack Parent. Parents come before their children.
type Node struct {
	Parent   NodeID // NoStack for an outermost frame
	Function FunctionID
	Line     int32 // being executed, or of the call; 0 where not known
	Inlined  bool  // into its caller
}

// A Goroutine is one goroutine, for as long as it lived in the recording.
type Goroutine struct {
	ID     int64      // the target's number of it (goid)
	Start  FunctionID // the function of its go statement; -1 where not known
	Site   Site       // of the go statement
	Parent int64      // goid of the goroutine that created it; 0 where not known
	System bool       // the runtime's own
	GC     bool       // a garbage collector's worker
}

// A Site is a place in the source. The zero Site is not known.
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
	Unknown  RunState = iota // could not be told; counted as waiting, with a warning
	Running                  // on a processor (P)
	Detached                 // on a CPU without a processor: in C, or in the kernel after the scheduler took it away
	Runnable                 // ready to run, not running
	Waiting                  // for what Reason says, a blocked system call included
	Blocked                  // on a lock: sync.Mutex, sync.RWMutex, a lock of the runtime
)

// Evidence says how the holders of a lock were found, or those who may end another wait: these are always Ambiguous.
type Evidence uint8

const (
	NoEvidence Evidence = iota // nothing points to a holder
	Inferred                   // one set of holders fits; HolderSet is it
	Ambiguous                  // several fit, or may have the lock next; HolderSet lists them, none is to be blamed
	Recorded                   // the target's runtime says so
)

// A State is what one goroutine was seen doing in one sample. Two states are the same when they are ==.
type State struct {
	Stack    NodeID // the leaf
	Run      RunState
	Torn     bool     // the stack does not reach its outermost frame
	Evidence Evidence // of Holders
	Priority int32    // higher goes first; 0 for goroutines
	Labels   LabelSetID
	Holders  HolderSetID // of the lock that a Blocked goroutine waits for; of a Waiting one, who may do what it waits for
	Lock     uint64      // address of that lock, or of the channel, sync.WaitGroup or sync.Cond that a Waiting one waits for; or 0
	Reason   string      // of a Waiting or Blocked goroutine, the runtime's text: "chan receive"
}

// A LockName says what the lock at an address is. It holds from the sample First on, until another name of that
// address does: the target may use memory again for something else.
type LockName struct {
	Address uint64
	First   int32
	Name    string // of a variable, "main.server.mu", or of a field of a type, "main.(*cache).mu"
}

// A Sample is one halt of the target.
type Sample struct {
	Time         time.Duration // since Header.Start, by the header's clock
	Halt         time.Duration // how long the target was halted
	Processors   []GoroutineID // by processor: what it runs, or a code below; its length is GOMAXPROCS
	Threads      int32         // of the target; 0 where not known
	StoppedWorld bool          // the runtime had stopped the world
	Collecting   bool          // a garbage collection was under way

	// The sampler's own account since the sample before.
	Missed     int32         // ticks that passed without a sample
	SamplerCPU time.Duration // used by the sampler
	Reused     int32         // stacks taken over from an earlier sample because nothing seemed to have changed
	Rechecked  int32         // of these, read again all the same to measure how often that is wrong
	Wrong      int32         // of those, found changed
	LostHalt   time.Duration // how long the target was halted without a sample coming of it
}

// What a processor that runs no goroutine does.
const (
	IdleProcessor   GoroutineID = -1
	SystemProcessor GoroutineID = -2 // busy for the runtime: scheduling, a stopped world
)

// A Warning counts something that went less than well; it is shown with the results.
type Warning struct {
	Kind    string `json:"kind"`    // machine readable: "torn-stack", "unknown-wait-reason", "damaged-file"
	Message string `json:"message"` // for a person; the first one met
	Count   int64  `json:"count"`
}

// DamagedFile is the kind of the warning that Open adds to a recording of which a part can't be read.
const DamagedFile = "damaged-file"

// Complete reports whether a recording has all that its sampler meant to write: it is not damaged, and has an end.
func (r *Recording) Complete() bool {
	return r.End != nil && !slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Kind == DamagedFile })
}

// An End says how a recording ended.
type End struct {
	Cause      EndCause
	Time       time.Duration // as Sample.Time
	ExitStatus int32         // of the target, where it exited
	Detail     string        // "signal: killed"

	// The sampler's own account since the last sample, as in Sample.
	Missed     int32
	SamplerCPU time.Duration
	LostHalt   time.Duration
}

// EndCause is why a recording ended.
type EndCause uint8

const (
	EndUnknown     EndCause = iota
	EndDuration             // the time asked for was over
	EndInterrupted          // a person or a signal ended it
	EndExited               // the target exited
	EndKilled               // the target died of a signal
	EndExec                 // the target became another program
	EndFailed               // the sampler failed; Detail says how
)

// A Sink takes what a sampler sees, in the order of the samples. Writer is one (files), Builder another (memory).
// Codes are the sink's own; what is already interned gives the same code again.
type Sink interface {
	Function(Function) FunctionID
	Node(Node) NodeID
	Goroutine(Goroutine) GoroutineID // always a new instance
	LabelSet([]Label) LabelSetID
	HolderSet([]GoroutineID) HolderSetID

	// LockName tells what a lock is, from the sample First on: the next one, or one that was before. What an
	// address is called already is ignored.
	LockName(LockName)

	// Monitor returns the code of a monitor. The recording has it from the next Sample on.
	Monitor(Monitor) MonitorID

	// Measure says what a monitor's value is from the next Sample on. The last call before it counts.
	Measure(MonitorID, Value)

	// Sample ends a sample: changes lists the goroutines whose state is not what it was in the sample before.
	Sample(s Sample, changes []Change) error

	// Warn adds to a warning's count; the message is kept where it is the first of its kind.
	Warn(kind, message string, count int64)

	// Finish ends the recording.
	Finish(End) error
}

// A Change is what a sample found changed of a goroutine: its new state, or that it is gone.
type Change struct {
	Goroutine GoroutineID
	Gone      bool
	State     State
}
