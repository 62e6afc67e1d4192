package globals

// A clue describes where code refers to a variable: the variable
// is the function's n-th different one in the order of the code,
// counted from 0. The numbers are right for all supported
// releases of Go; the matrix test compares what they find with
// the symbol table. If releases differ, a clue has alternatives.
// These count as votes, too, and other clues decide.
type clue struct {
	function     string
	amd64, arm64 []int
}

// clues has several clues for each variable. So a clue that is
// wrong for a program is outvoted, for example because
// profile-guided optimisation has inlined other functions.
var clues = map[string][]clue{
	"runtime.allgs": {
		{"runtime.forEachG", []int{1}, []int{1}},
		{"runtime.allgadd", []int{3}, []int{1, 3}},
		{"runtime.allGsSnapshotSortedForGC", []int{0}, []int{0}},
	},
	"runtime.allm": {
		{"runtime.mexit", []int{3}, []int{3}},
		{"runtime.schedtrace", []int{16}, []int{16}},
		{"runtime.mcommoninit", []int{2, 3}, []int{2, 3}},
	},
	"runtime.allp": {
		{"runtime.preemptall", []int{0}, []int{0}},
		{"runtime.gcMarkTinyAllocs", []int{0}, []int{0}},
		{"runtime.timeSleepUntil", []int{1}, []int{1}},
		{"runtime.gcComputeStartingStackSize", []int{1}, []int{1}},
	},
	"runtime.sched": {
		{"runtime.oneNewExtraM", []int{1}, []int{2}},
		{"runtime.newproc1", []int{4, 5}, []int{5, 6}},
	},
	"runtime.gcphase": {
		{"runtime.gcMarkTermination", []int{0}, []int{0}},
		{"runtime.gcSweep", []int{0}, []int{0}},
		{"runtime.freeSomeWbufs", []int{1}, []int{1}},
	},
	"runtime.gcController": {
		{"runtime.gcinit", []int{1}, []int{1}},
		{"runtime.gcControllerCommit", []int{1}, []int{1}},
		{"runtime.gcTrigger.test", []int{3}, []int{3}},
	},
	"runtime.memstats": {
		{"runtime.(*mcache).allocLarge", []int{1}, []int{1}},
		{"runtime.(*mcache).releaseAll", []int{2}, []int{2}},
		{"runtime.(*mcache).refill", []int{3}, []int{3}},
	},
	"runtime.work": {
		{"runtime.putfull", []int{0}, []int{0}},
		{"runtime.trygetfull", []int{0}, []int{0}},
		{"runtime.prepareFreeWorkbufs", []int{1}, []int{1}},
	},
	"runtime.mheap_": {
		{"runtime.(*mcache).allocLarge", []int{0}, []int{0}},
		{"runtime.stackpoolalloc", []int{1}, []int{1}},
		{"runtime.gcResetMarkState", []int{0}, []int{0}},
		{"runtime.getempty.func1", []int{0}, []int{0}},
	},
	"runtime.semtable": {
		{"runtime.semacquire1", []int{0}, []int{1}},
		{"runtime.semrelease1", []int{0}, []int{0}},
	},
	"runtime.allfin": {
		{"runtime.queuefinalizer", []int{5}, []int{5}},
		{"runtime.markroot", []int{4}, []int{3, 4}},
	},
	"runtime.gcCleanups": { // from 1.25 on
		{"runtime.(*activeSweep).end", []int{6}, []int{7}},
		{"runtime.findRunnable", []int{15}, []int{16}},
		{"runtime.freeSpecial", []int{16}, []int{16}},
	},
	"runtime.waitReasonStrings": {
		{"runtime.waitReason.String", []int{0}, []int{0}},
		{"runtime.schedtrace.func1", []int{0}, []int{0}},
		{"runtime.(*waitReason).String", []int{0}, []int{0}},
	},
}
