//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Limits on asking for the names of locks.
const (
	nameStack  = 16 << 10 // bytes of a waiter's stack to search
	namesAsked = 10_000   // names to ask for, for one sink
	perLock    = 8        // ways to take one lock
	perSample  = 64
)

// lockNames has the names of the locks that goroutines wait for,
// and of the channels that they wait to send to. A name is asked
// for at the first wait for a lock by each way to take it, since
// another lock may reuse the address of an earlier one.
type lockNames struct {
	*goroutines
	queue    *lockname.Queue // nil until the first lock
	sink     sampledata.Sink
	samples  int32 // number of samples that the sink has
	asked    map[wayToLock]bool
	ways     map[uint64]int // number of ways by lock
	reported map[uint64]sampledata.LockName
	most     time.Duration // bound of took; 0: none
	sample   uint32        // sample in which a name was last asked for
	now      int           // number of names asked for in that sample
}

// A wayToLock is a lock together with the stack of a goroutine
// that waits for it.
type wayToLock struct {
	lock  uint64
	stack sampledata.NodeID
}

// An occasion is the sample in which a name was asked for, and
// the capacity of the channel.
type occasion struct {
	sink     sampledata.Sink
	sample   int32
	capacity int64
}

// report passes the names that were found to the sink. For a new
// sink, all names are asked for again.
func (n *lockNames) report(sink sampledata.Sink) {
	if n.sink != sink {
		*n = lockNames{
			goroutines: n.goroutines, queue: n.queue, most: n.most, sink: sink,
			asked: map[wayToLock]bool{}, ways: map[uint64]int{},
			reported: map[uint64]sampledata.LockName{},
		}
	}
	if n.queue == nil {
		return
	}
	for _, a := range n.queue.Answers() {
		on := a.About.(occasion)
		if on.sink != sink || a.Name == "" {
			continue
		}
		name := sampledata.LockName{Address: a.Lock, First: on.sample, Name: a.Name,
			Capacity: on.capacity}
		last, named := n.reported[a.Lock]
		if named && (last.First >= name.First || isLocal(last.Name) || isLocal(name.Name)) {
			continue // another name for the same lock
		}
		if !named {
			name.First = 0
		}
		n.reported[a.Lock] = name
		sink.LockName(name)
	}
}

// isLocal reports whether a function's variable has the name.
// Another name of the same lock says more.
func isLocal(name string) bool { return strings.Contains(name, " in ") }

// ask asks for the name of a lock that the goroutine of a slot
// was found waiting for.
func (n *lockNames) ask(s *slot, lock uint64) {
	if n.mayAsk(s, lock) {
		n.askFor(s, lock, 0)
	}
}

// askChannel does so for a channel to which the goroutine sends,
// if it has a buffer: that bounds something. It does so for a
// semaphore, too, for which goroutines wait in a select: its size
// and the places taken stand where a channel has its length and
// capacity. Who waits in a select for a channel that is not full
// waits to receive.
func (n *lockNames) askChannel(s *slot, channel uint64) {
	var head [goruntime.ChannelHead]byte
	if !n.mayAsk(s, channel) || n.t.Read(channel, head[:]) != nil {
		return
	}
	length := int64(binary.LittleEndian.Uint64(head[goruntime.ChannelLength:]))
	capacity := int64(binary.LittleEndian.Uint64(head[goruntime.ChannelCapacity:]))
	switch {
	case capacity <= 0:
		n.asked[wayToLock{channel, s.stack.node}] = true
	case !strings.HasPrefix(s.state.Reason, goruntime.Select) || length == capacity:
		n.askFor(s, channel, capacity)
	}
}

func (n *lockNames) mayAsk(s *slot, lock uint64) bool {
	if n.sample != n.account.number {
		n.sample, n.now = n.account.number, 0
	}
	return lock != 0 && !n.asked[wayToLock{lock, s.stack.node}] && len(n.asked) < namesAsked &&
		n.ways[lock] < perLock && n.now < perSample
}

func (n *lockNames) askFor(s *slot, lock uint64, capacity int64) {
	w := n.waiterFor(s, lock)
	if w == nil {
		return
	}
	w.Channel = capacity > 0
	if n.queue == nil {
		n.queue = lockname.Start(n.t.Path("exe"), n.t.bin.Bias, n.t.Read, halt.ThreadClock, n.most)
	}
	if n.queue.Ask(w, occasion{n.sink, n.samples, capacity}) {
		n.asked[wayToLock{lock, s.stack.node}] = true
		n.ways[lock]++
		n.now++
	}
}

// waiterFor copies the upper part of a waiting goroutine's
// stack; it returns nil if the goroutine has moved in the
// meantime.
func (n *lockNames) waiterFor(s *slot, lock uint64) *lockname.Waiter {
	h := s.head
	sp := h.sp()
	if !h.within(sp) {
		return nil
	}
	stack := make([]byte, min(h.hi-sp, nameStack))
	if n.t.Read(sp, stack) != nil || !n.isStillThere(s) {
		return nil
	}
	frames, _ := n.u.Unwind(nil, memory.Copy{{Addr: sp, Buf: stack}}, n.parkedContext(&h))
	return lockname.NewWaiter(lock, sp, stack, n.u, frames, n.finder.LockPaths)
}

// isStillThere reports whether a goroutine is still where the
// sample saw it. The target runs, so what was read since the
// sample may be something else.
func (n *lockNames) isStillThere(s *slot) bool {
	g := make([]byte, n.t.g.size)
	if n.t.Read(s.addr, g) != nil || !n.t.g.unchanged(g, &s.head) {
		return false
	}
	s.stood = n.account.number
	return true
}

// mayTake bounds took.
func (n *lockNames) mayTake(most time.Duration) {
	n.most = max(most, 1)
	if n.queue != nil {
		n.queue.MayTake(n.most)
	}
}

// patience is how long the end of a recording waits for names.
const patience = 3 * time.Second

// settle waits for the names that were asked for, and passes
// them to the sink.
func (n *lockNames) settle(sink sampledata.Sink) {
	if n.queue != nil {
		n.queue.Finish(patience)
		n.report(sink)
	}
}

// close ends the search for names.
func (n *lockNames) close() {
	if n.queue != nil {
		n.queue.Close()
	}
}

// took returns the processor time that finding the names has used so far.
func (n *lockNames) took() time.Duration {
	if n.queue == nil {
		return 0
	}
	return n.queue.Took()
}
