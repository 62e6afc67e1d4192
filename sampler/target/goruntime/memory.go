package goruntime

// RunqLen is the length of a processor's queue of goroutines (runtime.p.runq).
const RunqLen = 256

// Deferred functions. A goroutine's list of them (runtime.g._defer) begins in
// the word before runtime.g.m. The word before that (runtime.g._panic) is set
// while the goroutine panics.
const (
	DeferBeforeM = 8
	PanicBeforeM = 16
	DeferFn      = 24 // runtime._defer.fn
)

// DeferLink returns the offset of the next entry of that list
// (runtime._defer.link).
func (r Release) DeferLink() uint64 {
	if r.Line == 21 {
		return 40
	}
	return 32
}

// Offsets of the first two methods in an interface's table
// (internal/abi.ITab.Fun). For sync.Locker, they are Lock and Unlock.
const (
	FirstMethod  = 24
	SecondMethod = 32
)

// SemaRoots is the number of entries of runtime.semtable.
// SemaRootTreap is the offset in an entry of its tree of
// waiters.
const (
	SemaRoots     = 251
	SemaRootTreap = 8
)

// SemaRootSize returns the size of an entry of runtime.semtable, which is
// padded to a cache line.
func SemaRootSize(arch string) int {
	if arch == "arm64" {
		return 128
	}
	return 64
}

// LabelsAreList reports whether a goroutine's pprof labels are a
// slice of pairs of strings. Before, they are a map.
func (r Release) LabelsAreList() bool { return r.Line >= 24 }

// The map of labels up to Go 1.23 (runtime.hmap, runtime.bmap),
// with strings as keys and values.
const (
	MapLogBuckets = 9  // hmap.B, a byte
	MapBuckets    = 16 // hmap.buckets
	MapHeader     = 24 // what is read of a hmap

	BucketSlots        = 8
	BucketKeys         = 8 // after a byte of each slot's hash
	BucketValues       = BucketKeys + 16*BucketSlots
	BucketNext         = BucketValues + 16*BucketSlots
	BucketSize         = BucketNext + 8
	BucketFirstUsedTop = 5 // a smaller byte marks a slot that is empty or was moved
)
