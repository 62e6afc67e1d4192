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
	LockKind Kind = "lock" // goroutines wait for a lock
	// goroutines wait for a channel, or for what it stands for,
	// such as a pool
	ChannelKind    Kind = "channel"
	ConditionKind  Kind = "condition"   // goroutines wait for a condition or a semaphore
	GroupKind      Kind = "group"       // goroutines wait for others to end
	SleepKind      Kind = "pause"       // goroutines sleep in the middle of their work
	IOKind         Kind = "I/O"         // goroutines wait for a file, a pipe or the network
	SystemCallKind Kind = "system call" // code that takes the processors, mostly in the kernel
	BlockingKind   Kind = "blocking"    // goroutines wait in system calls
	ForeignKind    Kind = "C code"      // goroutines wait in C code
	ComputeKind    Kind = "compute"     // code that takes the processors
	AllocationKind Kind = "allocation"  // allocation, and the collection of garbage
	ProcessorKind  Kind = "processors"  // more goroutines are ready than processors
	SpinKind       Kind = "spinning"    // goroutines give way, and look again
	MakingKind     Kind = "making"      // goroutines make things again and again that could be kept
	LeakKind       Kind = "leak"        // goroutines that never end
	StandstillKind Kind = "standstill"  // goroutines that have not moved in the middle of their work
	LeftKind       Kind = "left behind" // the same of some, while others of their class go on
	StuckKind      Kind = "stuck"       // goroutines that can never run again
	DeadlockKind   Kind = "deadlock"    // goroutines wait for one another in a circle
	FinalizerKind  Kind = "finalizers"  // finalizers or cleanups wait for one another
	MachineKind    Kind = "machine"     // the machine has no CPU for the program's threads
	CrowdedKind    Kind = "crowded"     // more of the program's threads want to run than it has CPUs
	WakingKind     Kind = "waking"      // threads wait until a free CPU has woken
	SlowKind       Kind = "slow calls"  // a few calls of a function take far longer than the others
	ThrottledKind  Kind = "throttled"   // the program's control group has used up its CPU time
)

// A Finding is a reason why the program is slow.
type Finding struct {
	Kind Kind `json:"kind"`
	// the thread class that suffers most; "" for code of several classes
	Class string  `json:"class,omitempty"`
	Alive float64 `json:"alive,omitempty"` // its mean number of goroutines
	Count int     `json:"count,omitempty"` // its number of goroutines in the span
	// the share of its life in which the class waits for work
	Idle   float64 `json:"idle,omitempty"`
	Asleep float64 `json:"asleep,omitempty"` // of it: in a sleep
	// the class's life is the time in some calls only
	InCalls bool `json:"in_calls,omitempty"`
	// of the class's life without waiting for work, or of the processors
	Share hotspots.Estimate `json:"share"`
	// what the share is the cost of; nil if no view has it
	Measure *Measure `json:"measure,omitempty"`
	// the mean number of goroutines in it, of all classes
	Mean float64 `json:"mean"`
	// Mean, with the goroutines that wait for these
	Severity float64 `json:"severity"`
	// of a pause: the function that takes it
	Lock   string `json:"lock,omitempty"`
	Reason string `json:"reason,omitempty"` // of a wait, in the runtime's words
	Where  Place  `json:"where"`
	// of waits: what they have asked a library for, the function
	// that waits. Other waits in Where are a finding of their own
	Asked string `json:"asked,omitempty"`
	// of waits: the part of the share in functions that Where's
	// calls, if that is more than little
	Below float64 `json:"below,omitempty"`
	// where nearly all of it goes from one module to another,
	// outermost first
	Through []string `json:"through,omitempty"`
	// of computing: what it does, and where it leads
	Parts []Part `json:"parts,omitempty"`
	// of the kernel: which, through what of the standard library
	Calls []Part `json:"calls,omitempty"`
	// of code: who calls it, and so on up to the first function
	// with several callers
	Callers []Part `json:"callers,omitempty"`
	// of code of a library: what it is a part of, with its share
	// of the CPU time of the class
	PartOf *Part `json:"part_of,omitempty"`
	// further classes, with the share of their time at work
	Others []Part `json:"others,omitempty"`
	// classes that wait for these goroutines, likewise
	Behind []Part `json:"behind,omitempty"`
	// classes that wait for a processor because of these, with that share
	Ready []Part `json:"ready,omitempty"`
	// what those do that the goroutines wait for
	Causes []Cause `json:"causes,omitempty"`
	// of waits that nobody is known to end: how long each takes, if all
	// take about as long
	Lasts time.Duration `json:"lasts_ns,omitempty"`
	// the share of the waits that nobody is known to end, if
	// somebody is known to end the others
	Unknown float64 `json:"unknown,omitempty"`
	// the goroutines of the class that have most of it, if they stand out
	Outliers *Outliers `json:"few,omitempty"`
	Label    *Labelled `json:"label,omitempty"`   // the same of a label
	Chained  []string  `json:"chained,omitempty"` // locks whose holders wait for this one
	When     When      `json:"when"`
	// Share is of the span in When only: over the whole
	// recording, it is small
	Phase  bool        `json:"phase,omitempty"`
	Within *views.Span `json:"within,omitempty"` // that span, for a view
	// monitors that go with it, if it is not true all the time
	With []Companion `json:"with,omitempty"`
	Made *Made       `json:"made,omitempty"`
	// of a leak, or of waits of a class that has more and more goroutines
	Growth *Growth `json:"growth,omitempty"`
	Left   int     `json:"left,omitempty"` // of those left behind: how many
	// of goroutines that can never run again; report has it in words
	Stuck      *stuck.Finding `json:"-"`
	Slow       *SlowCalls     `json:"slow_calls,omitempty"`
	Throttling *Throttling    `json:"throttling,omitempty"`
	Crowd      *Crowd         `json:"crowd,omitempty"`    // of threads that have no CPU
	Garbage    *Garbage       `json:"garbage,omitempty"`  // of allocation
	Measured   []Measured     `json:"measured,omitempty"` // by probes
	Limit      *Limit         `json:"limit,omitempty"`    // of waits to send
	Bound      *Bound         `json:"bound,omitempty"`    // of waits of those that have places
	Before     *Before        `json:"before,omitempty"`   // if two recordings are compared
	Gain       *Gain          `json:"gain,omitempty"`     // what its fix would bring
	// a deadlock of one lock, which a goroutine reads again
	// behind a writer
	ReadsAgain bool `json:"reads_again,omitempty"`
	// deadlocks of goroutines that each wait for a lock that they
	// hold themselves; likely if that may be wrong
	Likely bool     `json:"likely,omitempty"`
	Itself bool     `json:"itself,omitempty"`
	Signs  []string `json:"signs,omitempty"`  // known patterns, in words
	Remedy string   `json:"remedy,omitempty"` // what helps, or usually does

	reasons  []string // of waits: those that the share counts
	apart    []string // the same, which the function calls, too: hypotheses of their own
	handler  string   // of waits for answers: the class of the program that may give them
	guessed  bool     // who may end its waits is said only as a guess
	oneCall  bool     // its only goroutine may be in one call all the time
	specific float64  // the rank is severity times this
	key      string   // identifies the hypothesis in other recordings
}

// Key returns what identifies the finding in every span and
// recording of the program.
func (f *Finding) Key() string { return f.key }

// A Part is a function or a class, with a share.
type Part struct {
	Name    string   `json:"name"`
	Share   float64  `json:"share"`
	Through []string `json:"through,omitempty"` // where it enters other modules
	Where   string   `json:"where,omitempty"`   // of a class: the function in which it mostly waits
}

// A Growth is how the number of goroutines grows.
type Growth struct {
	From      int     `json:"from"`
	To        int     `json:"to"`
	PerSecond float64 `json:"per_second"`
	// of a leak: the longest wait, at least; 0 if it is less
	// than minutes, or not known
	Waited time.Duration `json:"waited,omitempty"`
	// of a leak: no other goroutine was seen at the channels
	// that they wait for
	Alone bool `json:"alone,omitempty"`
	// of a leak: it is of those that wait in the finding's
	// place. Others of the class end
	OthersEnd bool `json:"others_end,omitempty"`
}

// Probable reports whether there is more evidence of a leak than growth.
func (g *Growth) Probable() bool { return g.Alone || g.Waited > 0 }

// Before is the same hypothesis in an earlier recording.
type Before struct {
	Share    hotspots.Estimate `json:"share"`
	Severity float64           `json:"severity"`
}

// A When says when something happens.
type When struct {
	Always bool `json:"always"`
	// the share of the time in which somebody is at work, if that is often
	// nobody: the finding is true whenever somebody is
	Present    float64       `json:"present,omitempty"`
	Spans      []Span        `json:"spans,omitempty"`      // if not always
	Otherwise  float64       `json:"otherwise,omitempty"`  // the share outside of the spans; 0 if hardly any of it is there
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
	// why a YES is no finding, or why it was not refined
	Note string `json:"note,omitempty"`
	// how the verdict changed, if Options.Course asks for it
	Course []Step `json:"course,omitempty"`

	severity float64
	key      string
}

// A State sums up an answer.
type State string

// The states.
const (
	Slow State = "slow" // there are findings
	// all goroutines are known to wait for work most of the time
	Idle State = "idle"
	// nothing is slow as far as is known, but goroutines have not moved
	Unmoved State = "not moved"
	// nothing is slow as far as is known, but goroutines wait,
	// perhaps for work
	Waiting   State = "waiting"
	Balanced  State = "balanced"        // it works, and nothing stands out
	TooLittle State = "too few samples" // no guess is made
	Unchanged State = "unchanged"       // compared with an earlier recording, nothing is slower
	// nothing is certain yet, but more evidence could show something
	Undecided State = "undecided"
)

// A Resting is a class that waits, but is not slow.
type Resting struct {
	Class string  `json:"class"`
	Alive float64 `json:"alive"` // mean number of goroutines
	Idle  float64 `json:"idle"`  // the share of its life in which it waits for work
	// the share in which it sleeps to wait for it
	Asleep float64 `json:"asleep"`
	// the class that mostly may end its waits for work, and sleeps
	// meanwhile; "" if there is none
	For string `json:"for,omitempty"`
	// the function of a library in which it mostly sleeps
	// between two looks; "" if it does not
	Polls string `json:"polls,omitempty"`
	// the share of its life of goroutines that have not moved,
	// and are not idle
	Still float64 `json:"still"`
	// the share in which it waits for a processor, or for a CPU
	Ready float64 `json:"ready"`
	// the share in which it waits for a lock, and has moved
	Locked float64 `json:"locked"`
	Does   string  `json:"does,omitempty"`
	// one can never go on, which may be meant: see 'cpprof stuck'
	Stuck bool `json:"stuck,omitempty"`
	// where one goroutine, for whom nobody is known to wait, sleeps in its
	// work, and for what share of its life; "" if for less than a tenth
	Pauses string  `json:"pauses,omitempty"`
	Paused float64 `json:"paused,omitempty"`
}

// GoesOn reports whether it is in requests that go on, such as streams.
func (r Resting) GoesOn() bool { return r.Does == goesOn || r.Does == driven }

// NotMoved reports whether most of its goroutines have not moved.
func (r Resting) NotMoved() bool { return r.Still >= 0.5 }

// WaitsToRun reports whether its goroutines mostly wait for a processor.
func (r Resting) WaitsToRun() bool { return r.Ready >= 0.5 }

// WaitsForLock reports whether its goroutines mostly wait for a lock,
// though that is not certain enough for a finding.
func (r Resting) WaitsForLock() bool { return r.Locked >= 0.5 && r.Does == "" }

// Sleeps reports whether its goroutines wait for work asleep.
func (r Resting) Sleeps() bool { return isAsleep(r.Asleep, r.Idle) }

// Sleeps reports whether the class mostly sleeps when it waits for work.
func (f *Finding) Sleeps() bool { return isAsleep(f.Asleep, f.Idle) }

// isAsleep reports whether most of an idle time is sleep.
func isAsleep(asleep, idle float64) bool { return 2*asleep > idle }

// An Answer says what is slow, when, where and why.
type Answer struct {
	State    State      `json:"state"`
	Findings []*Finding `json:"findings"`
	// of an earlier recording; Before is what they are now
	Improved   []*Finding        `json:"improved,omitempty"`
	Hypotheses []Hypothesis      `json:"hypotheses"`
	Resting    []Resting         `json:"resting,omitempty"`   // most goroutines first
	NotMoved   []Still           `json:"not_moved,omitempty"` // most goroutines first
	Samples    int               `json:"samples"`
	From       time.Duration     `json:"from"`
	To         time.Duration     `json:"to"`
	Processors float64           `json:"processors"` // mean number
	Used       hotspots.Estimate `json:"used"`       // of the processors
	// the same by the kernel's clock; 0 if it was not measured
	Clock float64 `json:"clock,omitempty"`
	// the two differ by more than chance
	ClockDiffers bool `json:"clock_differs,omitempty"`
	// mean number of threads that wait for a CPU of the machine
	NoCPU float64 `json:"no_cpu"`
	// the same by the kernel's clock; 0 if it was not measured
	Delayed   float64 `json:"delayed,omitempty"`
	Threshold float64 `json:"threshold"`
	// calls that are slow, too few to say why
	Few *SlowCalls `json:"few_slow_calls,omitempty"`
	// the wait for the end of a process, if most of the time is that
	ForProcess *Part `json:"for_process,omitempty"`
	// what most of its work is, if it is mostly idle; nil if nothing is
	Work *Work `json:"work,omitempty"`
	// how its heap grows; nil if it is not known to
	HeapGrows *HeapGrowth `json:"heap_grows,omitempty"`
	// the program ended with the recording
	Exited bool `json:"exited,omitempty"`
	// the recording does not say what is stuck for good
	Unmarked bool `json:"unmarked,omitempty"`
}
