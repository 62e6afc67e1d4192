package goruntime

// A FrameKind marks the functions at which a stack does not
// continue as the tables of stack depths say. They are
// identified by name, since their numbers in the tables (funcID)
// differ between releases.
type FrameKind uint8

const (
	FrameOrdinary FrameKind = iota
	// FrameSystemstack runs a function on the system stack and
	// returns to the goroutine's.
	FrameSystemstack
	// FrameSystemstackSwitch is the position that g.sched has
	// while a goroutine is on the system stack. The frame is
	// left out.
	FrameSystemstackSwitch
	// FrameLeaves are morestack and mcall: they save the goroutine in g.sched
	// and do not return.
	FrameLeaves
	// FrameToC are the functions between the goroutine and C
	// code, on the system stack.
	FrameToC
	// FrameSignal is the frame that the kernel enters for a signal.
	FrameSignal
	// FrameSigreturn is what a signal handler returns to.
	FrameSigreturn
	// FrameInjected are functions that seem to be called by the interrupted
	// instruction.
	FrameInjected
	// FrameResumes is gogo: the goroutine is about to continue at g.sched.
	FrameResumes
	// FrameVDSO are the callers of the vDSO, which may have
	// switched to the system stack.
	FrameVDSO
)

var frameKinds = map[string]FrameKind{
	"runtime.systemstack":          FrameSystemstack,
	"runtime.systemstack_switch":   FrameSystemstackSwitch,
	"runtime.morestack":            FrameLeaves,
	"runtime.mcall":                FrameLeaves,
	"runtime.asmcgocall":           FrameToC,
	"runtime.cgocallback":          FrameToC,
	"runtime.sigtramp":             FrameSignal,
	"runtime.cgoSigtramp":          FrameSignal,
	"runtime.sigreturn__sigaction": FrameSigreturn,
	"runtime.sigpanic":             FrameInjected,
	"runtime.sigpanic0":            FrameInjected,
	asyncPreempt:                   FrameInjected,
	"runtime.debugCallV2":          FrameInjected,
	"runtime.gogo":                 FrameResumes,
	"gogo":                         FrameResumes,
	"runtime.nanotime1":            FrameVDSO,
	"runtime.walltime":             FrameVDSO,
	"runtime.vgetrandom1":          FrameVDSO,
	"time.now":                     FrameVDSO,
}

// FrameKindOf returns the kind of a function by its name.
func FrameKindOf(function string) FrameKind { return frameKinds[function] }

// asyncPreempt stops a goroutine at any instruction, and saves
// all of its registers in its frame.
const asyncPreempt = "runtime.asyncPreempt"

// SavesRegisters reports whether a function that seems to be
// called by the interrupted instruction saves that instruction's
// registers in its frame.
func SavesRegisters(function string) bool { return function == asyncPreempt }
