//go:build linux && (amd64 || arm64)

package snapshot

import (
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/lockname"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// Bounds of what is asked about the names of locks.
const (
	nameStack  = 16 << 10 // of a waiter's stack that is looked at
	nameFrames = 16
	namesAsked = 10_000 // for one sink
	perLock    = 8      // ways to take it
	perSample  = 64
)

// lockNames are the names of the locks that goroutines wait for, asked for at the first wait by each way to take a lock: an
// address may be used again for another one.
type lockNames struct {
	queue   *lockname.Queue // nil until the first lock
	sink    sampledata.Sink
	samples int32 // that the sink has
	asked   map[wayToLock]bool
	ways    map[uint64]int // by lock
	told    map[uint64]sampledata.LockName
	sample  uint32 // in which the last was asked for
	now     int    // how many in that one
}

// A wayToLock is a lock, and the stack of a goroutine that waits for it.
type wayToLock struct {
	lock  uint64
	stack sampledata.NodeID
}

// An occasion is when a name was asked for.
type occasion struct {
	sink   sampledata.Sink
	sample int32
}

// tell tells the sink the names that have been found. One that knows nothing yet is asked for anew.
func (n *lockNames) tell(sink sampledata.Sink) {
	if n.sink != sink {
		*n = lockNames{queue: n.queue, sink: sink, asked: map[wayToLock]bool{}, ways: map[uint64]int{}, told: map[uint64]sampledata.LockName{}}
	}
	if n.queue == nil {
		return
	}
	for _, a := range n.queue.Answers() {
		on := a.About.(occasion)
		if on.sink != sink || a.Name == "" {
			continue
		}
		name := sampledata.LockName{Address: a.Lock, First: on.sample, Name: a.Name}
		last, named := n.told[a.Lock]
		if named && (last.First >= name.First || isLocal(last.Name) || isLocal(name.Name)) {
			continue // the same lock by another name
		}
		if !named {
			name.First = 0
		}
		n.told[a.Lock] = name
		sink.LockName(name)
	}
}

// isLocal tells whether a name is that of a function's variable, which says less than others do of the same lock.
func isLocal(name string) bool { return strings.Contains(name, " in ") }

// nameLock asks for the name of a lock that the goroutine of a slot was found waiting for.
func (b *Backend) nameLock(s *slot, lock uint64) {
	n := &b.names
	if n.sample != b.number {
		n.sample, n.now = b.number, 0
	}
	way := wayToLock{lock, s.stack.node}
	if lock == 0 || n.asked[way] || len(n.asked) >= namesAsked || n.ways[lock] >= perLock || n.now >= perSample {
		return
	}
	w := b.waiterFor(s, lock)
	if w == nil {
		return
	}
	if n.queue == nil {
		n.queue = lockname.Start(b.t.Path("exe"), b.t.bin.Bias, b.t.Read)
	}
	if n.queue.Ask(w, occasion{n.sink, n.samples}) {
		n.asked[way] = true
		n.ways[lock]++
		n.now++
	}
}

// waiterFor copies the upper part of a waiting goroutine's stack; nil where the goroutine went on meanwhile.
func (b *Backend) waiterFor(s *slot, lock uint64) *lockname.Waiter {
	h := s.head
	sp := h.sp()
	if !h.within(sp) {
		return nil
	}
	w := &lockname.Waiter{Lock: lock, Base: sp, Stack: make([]byte, min(h.hi-sp, nameStack))}
	if b.t.Read(sp, w.Stack) != nil || !b.stillThere(s) {
		return nil
	}
	frames, _ := b.u.Unwind(nil, memory.Copy{memory.Range{Addr: sp, Buf: w.Stack}}, b.context(&h))
	for i := range frames[:max(0, len(frames)-1)] {
		logical := b.u.Frames(frames[i].Site)
		if len(logical) == 0 || len(w.Frames) == 0 && waitsForOthers(logical[len(logical)-1].Func) {
			continue
		}
		if len(w.Frames) == 0 {
			w.Given = b.given(&frames[i])
		}
		w.Frames = append(w.Frames, lockname.Frame{PC: frames[i].PC, SP: frames[i].SP, CFA: frames[i+1].SP})
		if len(w.Frames) == nameFrames {
			break
		}
	}
	return w
}

// given tells by what its function was given a frame takes a lock, nil where the code does not tell.
func (b *Backend) given(f *unwind.Frame) *lockname.Given {
	register, offset, ok := b.finder.LockArgument(f)
	if !ok {
		return nil
	}
	return &lockname.Given{Register: register, Offset: offset}
}

// waitsForOthers reports whether a function waits on behalf of its callers.
func waitsForOthers(function string) bool {
	return goruntime.IsRuntime(function) || goruntime.IsSync(function)
}

// close ends the search for names.
func (n *lockNames) close() {
	if n.queue != nil {
		n.queue.Close()
	}
}
