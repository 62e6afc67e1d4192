package holders

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Sample is the current sample, as the finder needs it. A
// goroutine's key is a small number, from 0 on, that the caller
// chooses. The finder stores what it knows about the goroutine
// by this key.
type Sample interface {
	// Sighting returns what the sample shows about a goroutine.
	Sighting(key int32) Sighting
	// Recheck reads ranges of the running program's memory.
	// After that, it finds out which goroutines are still where
	// the sample saw them, and sets Stood in their Sightings. It
	// shortens ranges that can't be read completely.
	Recheck(ranges []memory.Range, keys []int32)
	// HolderSet returns the code of a sorted set of goroutines.
	HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID
	// Update changes what, and whom, a goroutine waits for in the sample.
	Update(key int32, lock uint64, e sampledata.Evidence, holders sampledata.HolderSetID)
	// SetReason changes the reason for which a goroutine waits in the sample.
	SetReason(key int32, reason string)
}

// A Sighting is what a sample shows about one goroutine.
type Sighting struct {
	ID     sampledata.GoroutineID
	Exists bool   // the sink knows the goroutine; otherwise ID is not valid
	Hidden bool   // there is a goroutine, but nothing is known of it yet
	Still  bool   // its stack is known and does not change: the goroutine does not run
	InHalt bool   // this is its state at the halt; otherwise the state is a little older
	Stood  bool   // after the halt it was still where this sample saw it
	Addr   uint64 // address of its g
	Wait   Wait
	// the reason for which it was last parked, even if it has
	// been woken since
	ParkedBy goruntime.WaitReason
	Run      sampledata.RunState // its state as the sink knows it
}

// A Wait identifies one of a goroutine's waits: the runtime
// counts, modulo 256, how often the goroutine stopped running.
type Wait struct {
	Goroutine int64
	Count     uint8
}

// A Stack is a goroutine's stack that was just unwound.
type Stack struct {
	Frames []unwind.Frame // innermost first
	Memory syncflow.Memory
	// of the innermost frame, numbered as instructions number them; nil if
	// not known
	Registers []uint64
	// address of the first entry in the goroutine's list of deferred
	// functions (g._defer), or 0
	Deferred uint64
	Partial  bool // the outermost frames are missing
}

// A Halt is what a halt found out as a whole.
type Halt struct {
	// Consistent: everything that was read in the halt, FirstReads and
	// SecondReads included, was read at one moment.
	Consistent bool
	// Whole: all goroutines were read in the halt. Otherwise
	// those that are not InHalt may have moved since they were
	// seen.
	Whole bool
	// Woken has lists of goroutines that include all that stopped waiting
	// since the previous sample.
	Woken [2][]int32
}
