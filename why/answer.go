package why

import (
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why/stuck"
)

// A Kind is the kind of a finding: why something is slow.
type Kind string

// The kinds.
const (
	LockKind       Kind = "lock"        // goroutines wait for a lock
	ChannelKind    Kind = "channel"     // goroutines wait for a channel, or for what it stands for, such as a pool
	ConditionKind  Kind = "condition"   // goroutines wait for a condition or a semaphore
	GroupKind      Kind = "group"       // goroutines wait for others to end
	SleepKind      Kind = "pause"       // goroutines sleep in the middle of their work
	IOKind         Kind = "I/O"         // goroutines wait for a file, a pipe or the network
	SystemCallKind Kind = "system call" // code that takes the processors, mostly in the kernel
	BlockingKind   Kind = "blocking"    // goroutines wait in system calls
	ComputeKind    Kind = "compute"     // code that takes the processors
	AllocationKind Kind = "allocation"  // allocation, and the collection of garbage
	ProcessorKind  Kind = "processors"  // more goroutines are ready than processors
	MakingKind     Kind = "making"      // goroutines make things again and again that could be kept
	LeakKind       Kind = "leak"        // goroutines that never end
	StuckKind      Kind = "stuck"       // goroutines that can never run again
	DeadlockKind   Kind = "deadlock"    // goroutines wait for one another in a circle
	MachineKind    Kind = "machine"     // the machine has no CPU for the program's threads
	ThrottledKind  Kind = "throttled"   // the program's control group has used up its CPU time
)

// A Finding is a reason why the program is slow.
type Finding struct {
	Kind       Kind              `json:"kind"`
	Class      string            `json:"class,omitempty"`   // the thread class that suffers most; "" for code of several classes
	Alive      float64           `json:"alive,omitempty"`   // its mean number of goroutines
	Count      int               `json:"count,omitempty"`   // its number of goroutines in the span
	Idle       float64           `json:"idle,omitempty"`    // the share of its life in which the class waits for work
	Share      hotspots.Estimate `json:"share"`             // of the class's life without waiting for work, or of the processors
	Measure    *Measure          `json:"measure,omitempty"` // what the share is the cost of; nil if no view has it
	Mean       float64           `json:"mean"`              // the mean number of goroutines in it, of all classes
	Severity   float64           `json:"severity"`          // Mean, with the goroutines that wait for these
	Lock       string            `json:"lock,omitempty"`    // of a pause: the function that takes it
	Reason     string            `json:"reason,omitempty"`  // of a wait, in the runtime's words
	Where      Place             `json:"where"`
	Through    []string          `json:"through,omitempty"` // where nearly all of it goes from one module to another, outermost first
	Parts      []Part            `json:"parts,omitempty"`   // of computing: what it does, and where it leads
	Calls      []Part            `json:"calls,omitempty"`   // of the kernel: which, through what of the standard library
	Callers    []Part            `json:"callers,omitempty"` // of code: who calls it, and so on up to the first function with several callers
	Others     []Part            `json:"others,omitempty"`  // further classes, with the share of their lives
	Causes     []Cause           `json:"causes,omitempty"`  // what those do that the goroutines wait for
	Few        *Few              `json:"few,omitempty"`     // the goroutines of the class that have most of it, if they stand out
	Label      *Labelled         `json:"label,omitempty"`   // the same of a label
	Chained    []string          `json:"chained,omitempty"` // locks whose holders wait for this one
	When       When              `json:"when"`
	Phase      bool              `json:"phase,omitempty"`  // Share is of the span in When only: over the whole recording, it is small
	Within     *views.Span       `json:"within,omitempty"` // that span, for a view
	With       []Companion       `json:"with,omitempty"`   // monitors that go with it, if it is not true all the time
	Made       *Made             `json:"made,omitempty"`
	Growth     *Growth           `json:"growth,omitempty"` // of a leak
	Stuck      *stuck.Finding    `json:"-"`                // of goroutines that can never run again; report has it in words
	Throttling *Throttling       `json:"throttling,omitempty"`
	Garbage    *Garbage          `json:"garbage,omitempty"`  // of allocation
	Measured   []Measured        `json:"measured,omitempty"` // by probes
	Before     *Before           `json:"before,omitempty"`   // if two recordings are compared

	reasons  []string // of waits: those that the share counts
	specific float64  // the rank is severity times this
	key      string   // identifies the hypothesis in other recordings
}

// Key returns what identifies the finding in every span and recording of the program.
func (f *Finding) Key() string { return f.key }

// A Part is a function or a class, with a share.
type Part struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// A Growth is how the number of goroutines grows.
type Growth struct {
	From      int     `json:"from"`
	To        int     `json:"to"`
	PerSecond float64 `json:"per_second"`
}

// Before is the same hypothesis in an earlier recording.
type Before struct {
	Share    hotspots.Estimate `json:"share"`
	Severity float64           `json:"severity"`
}

// A When says when something happens.
type When struct {
	Always     bool          `json:"always"`
	Spans      []Span        `json:"spans,omitempty"`      // if not always
	Period     time.Duration `json:"period,omitempty"`     // if it comes and goes regularly
	Collecting bool          `json:"collecting,omitempty"` // mostly while garbage is collected
}

// A Span is a part of the recording, with the share in it.
type Span struct {
	From  time.Duration `json:"from"`
	To    time.Duration `json:"to"`
	Share float64       `json:"share"`
}

// A Hypothesis is a test that the search made.
type Hypothesis struct {
	Kind    Kind              `json:"kind"`
	Class   string            `json:"class,omitempty"`
	Where   string            `json:"where,omitempty"` // a function or a lock
	Share   hotspots.Estimate `json:"share"`
	Verdict hotspots.Verdict  `json:"verdict"`
	Note    string            `json:"note,omitempty"`   // why a YES is no finding, or why it was not refined
	Course  []Step            `json:"course,omitempty"` // how the verdict changed, if Options.Course asks for it

	severity float64
	key      string
}

// A State sums up an answer.
type State string

// The states.
const (
	Slow      State = "slow"            // there are findings
	Idle      State = "idle"            // all goroutines are known to wait for work most of the time
	Unmoved   State = "not moved"       // nothing is slow as far as is known, but goroutines have not moved
	Waiting   State = "waiting"         // nothing is slow as far as is known, but goroutines wait, and not for work
	Balanced  State = "balanced"        // it works, and nothing stands out
	TooLittle State = "too few samples" // no guess is made
	Unchanged State = "unchanged"       // compared with an earlier recording, nothing is slower
	Undecided State = "undecided"       // nothing is certain yet, but more evidence could show something
)

// A Resting is a class that waits, but is not slow.
type Resting struct {
	Class string  `json:"class"`
	Alive float64 `json:"alive"` // mean number of goroutines
	Idle  float64 `json:"idle"`  // the share of its life in which it waits for work
	Still float64 `json:"still"` // the share of its life of goroutines that have not moved, and are not idle
	Does  string  `json:"does,omitempty"`
}

// An Answer says what is slow, when, where and why.
type Answer struct {
	State      State             `json:"state"`
	Findings   []*Finding        `json:"findings"`
	Improved   []*Finding        `json:"improved,omitempty"` // of an earlier recording; Before is what they are now
	Hypotheses []Hypothesis      `json:"hypotheses"`
	Resting    []Resting         `json:"resting,omitempty"`   // most goroutines first
	NotMoved   []Still           `json:"not_moved,omitempty"` // most goroutines first
	Samples    int               `json:"samples"`
	From       time.Duration     `json:"from"`
	To         time.Duration     `json:"to"`
	Processors float64           `json:"processors"` // mean number
	Used       hotspots.Estimate `json:"used"`       // of the processors
	NoCPU      float64           `json:"no_cpu"`     // mean number of threads that wait for a CPU of the machine
	Threshold  float64           `json:"threshold"`
	Unmarked   bool              `json:"unmarked,omitempty"` // the recording does not say what is stuck for good
}
