package blame

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/memory"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// A Sample is the sample at hand, as the finder asks about it. A goroutine's key is a small number, from 0 on, that its
// caller chose: the finder keeps what it knows of the goroutine under it.
type Sample interface {
	// Sighting returns what the sample shows of a goroutine.
	Sighting(key int32) Sighting
	// Recheck reads ranges of the running program's memory, and after that finds out which goroutines still are where the
	// sample saw them: their Sightings have Stood from then on. It cuts ranges that can't be read whole.
	Recheck(ranges []memory.Range, keys []int32)
	// HolderSet returns the code of a sorted set of goroutines.
	HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID
	// Update changes for what, and for whom, the sample says that a goroutine waits.
	Update(key int32, lock uint64, e sampledata.Evidence, holders sampledata.HolderSetID)
}

// A Sighting is what a sample shows of one goroutine.
type Sighting struct {
	ID       sampledata.GoroutineID
	Exists   bool   // the sink knows the goroutine; else ID means nothing
	Still    bool   // its stack is known and lies still: the goroutine does not run
	InHalt   bool   // this is its state at the halt; else the state is a little older
	Stood    bool   // after the halt it still was where this sample saw it
	Addr     uint64 // of its g
	Wait     Wait
	ParkedBy goruntime.WaitReason // the reason for which it was last parked, even if it has been woken since
	Run      sampledata.RunState  // what the sink knows of its state
}

// A Wait tells the waits of a goroutine apart: the runtime counts how often the goroutine stopped running, modulo 256.
type Wait struct {
	Goroutine int64
	Count     uint8
}

// A Stack is a goroutine's stack that was unwound just now.
type Stack struct {
	Frames    []unwind.Frame // innermost first
	Memory    syncflow.Memory
	Registers []uint64 // of the innermost frame, by the numbers that instructions have for them; nil if not known
	Deferred  uint64   // address of the first on the goroutine's list of deferred functions (g._defer), or 0
}

// A Halt is what a halt showed as a whole.
type Halt struct {
	// Consistent: all that was read in the halt, FirstReads and SecondReads included, is of one moment.
	Consistent bool
	// Woken are lists of goroutines among which are all that stopped waiting since the sample before.
	Woken [2][]int32
}
