package unwind

// A kind marks the functions at which a stack does not go on as the tables say. They are known by name, as their
// numbers in the tables (funcID) differ between releases.
type kind uint8

const (
	_ kind = iota // ordinary functions
	// systemstack runs a function on the system stack and returns to the goroutine's.
	systemstack
	// systemstackSwitch is where a goroutine pretends to stand while it is on the system stack. The frame is left out.
	systemstackSwitch
	// leaves are morestack and mcall: they saved the goroutine in g.sched and do not return.
	leaves
	// toC are the functions between the goroutine and C code, on the system stack.
	toC
	// signal is the frame that the kernel enters for a signal.
	signal
	// sigreturn is what a signal handler returns to.
	sigreturn
	// injected are functions that look as if the interrupted instruction had called them.
	injected
	// resumes is gogo: the goroutine is about to go on at g.sched.
	resumes
	// vdso are the callers of the vDSO, which may have switched to the system stack.
	vdso
)

var kinds = map[string]kind{
	"runtime.systemstack":          systemstack,
	"runtime.systemstack_switch":   systemstackSwitch,
	"runtime.morestack":            leaves,
	"runtime.mcall":                leaves,
	"runtime.asmcgocall":           toC,
	"runtime.cgocallback":          toC,
	"runtime.sigtramp":             signal,
	"runtime.cgoSigtramp":          signal,
	"runtime.sigreturn__sigaction": sigreturn,
	"runtime.sigpanic":             injected,
	"runtime.sigpanic0":            injected,
	"runtime.asyncPreempt":         injected,
	"runtime.debugCallV2":          injected,
	"runtime.gogo":                 resumes,
	"gogo":                         resumes,
	"runtime.nanotime1":            vdso,
	"runtime.walltime":             vdso,
	"runtime.vgetrandom1":          vdso,
	"time.now":                     vdso,
}
