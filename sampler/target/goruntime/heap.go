package goruntime

// PageShift is the binary logarithm of the size of a page of the heap.
const PageShift = 13

// SpanInUse is the state of a span with objects (runtime.mspan.state).
const SpanInUse = 1

// MaxSmallObject is the size of the largest object that shares
// its span with others.
const MaxSmallObject = 32 << 10

// Blocks of finalizers that are to run (runtime.finBlock), and
// of cleanups. Each has a pointer to the next of all blocks.
const (
	FinBlockSize     = 4096
	FinBlockLink     = 0
	CleanupBlockSize = 512
	CleanupBlockLink = 16
)

// A SpecialKind is what a runtime.special says of an object.
type SpecialKind uint8

const (
	SpecialOther     SpecialKind = iota
	SpecialFinalizer             // a function follows it. The object's content will be used, too
	SpecialWeak                  // a pointer to the weak pointers' handle follows it
	SpecialCleanup               // a function follows it
)

// SpecialSize is the size of the largest special whose content counts.
const SpecialSize = 56

// SpecialKindOf returns the meaning of runtime.special.kind.
func (r Release) SpecialKindOf(kind byte) SpecialKind {
	kinds := []SpecialKind{1: SpecialFinalizer} // up to 1.22
	switch {
	case r.Line >= 25:
		kinds = []SpecialKind{2: SpecialFinalizer, 3: SpecialWeak, 7: SpecialCleanup}
	case r.Line >= 23:
		kinds = []SpecialKind{1: SpecialFinalizer, 2: SpecialWeak, 6: SpecialCleanup}
	}
	if int(kind) < len(kinds) {
		return kinds[kind]
	}
	return SpecialOther
}

// CondList is the offset in a sync.Cond of its list of waiters
// (sync.notifyList). The list's head follows after 16 bytes.
const (
	CondList       = 16
	NotifyListHead = 16
)

// ChannelClosed is the offset in a channel (runtime.hchan) of
// what says that it is closed (4 bytes).
const ChannelClosed = 28

// ChannelTimer returns the offset in a channel of the timer that
// sends to it. Channels of Go 1.22 and before do not say it.
func (r Release) ChannelTimer() (offset int, ok bool) { return 32, r.Line >= 23 }

// TimerWhen returns the offset in a runtime.timer of the time at
// which it ends a wait (8 bytes, nanoseconds of the monotonic
// clock), if ChannelTimer is known.
func (r Release) TimerWhen() uint64 {
	if r.Line < 25 {
		return 16
	}
	return 24
}

// ChannelQueues returns the offset of a channel's queue of receivers.
// The queue of senders follows after 16 bytes.
func (r Release) ChannelQueues() uint64 {
	if r.Line < 23 {
		return 56
	}
	return 64
}

// MGSignalAfterProcID is the distance from runtime.m.procid to
// runtime.m.gsignal.
const MGSignalAfterProcID = 8

// BPAfterLR is the distance from runtime.gobuf.lr to runtime.gobuf.bp.
const BPAfterLR = 8

// WaitSinceBeforeReason is the distance from runtime.g.waitsince to
// runtime.g.waitreason.
const WaitSinceBeforeReason = 8
