package holders

import (
	"encoding/binary"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Who waits for a timer sleeps, though the runtime says that it
// receives from a channel or waits in a select. The other cases
// of a select may be why it waits, with a timer that bounds
// that: a request that may take too long. Or they may only stop
// the sleep. How the waits of a stack end tells the two apart.
// Until enough of them have lasted until the timer, it is a
// select.

// timers finds out which waits end by a timer.
type timers struct {
	*shared
	clock     func() time.Duration // the program's monotonic clock
	now, last int64                // when the sample began, and the one before
	ends      map[sampledata.NodeID]ends
	read      []memory.Range
}

// begin starts a sample.
func (t *timers) begin() { t.last, t.now = t.now, int64(t.clock()) }

// ends are how the waits in a select ended that a stack began.
type ends struct{ due, early int }

// Limits of what is stored and believed.
const (
	maxTimedStacks = 4096
	leastDue       = 2  // waits that lasted until the timer
	dueForEarly    = 10 // as many times as waits that ended before
)

// isSleep reports whether the waits end by the timer.
func (n ends) isSleep() bool { return n.due >= leastDue && n.due >= dueForEarly*n.early }

// A timed is a wait in a select that a timer may end.
type timed struct {
	due   int64 // 0: none
	begun int64 // when it was first seen
	wait  Wait
	stack sampledata.NodeID
}

// due returns when timers send to channels; 0 for a channel that has none.
func (t *timers) due(channels []uint64) []int64 {
	due := make([]int64, len(channels))
	at, known := t.release.ChannelTimer()
	if !known {
		return due
	}
	found := t.words(channels, uint64(at))
	for i, when := range t.words(found, t.release.TimerWhen()) {
		if found[i] != 0 {
			due[i] = max(1, int64(when))
		}
	}
	return due
}

// words reads a word at an offset from each address that is not
// 0. What can't be read is 0.
func (t *timers) words(addrs []uint64, offset uint64) []uint64 {
	buf, words := make([]byte, 8*len(addrs)), make([]uint64, len(addrs))
	var of []int
	t.read = t.read[:0]
	for i, addr := range addrs {
		if addr != 0 {
			of = append(of, i)
			t.read = append(t.read, memory.Range{Addr: addr + offset, Buf: buf[8*i:][:8]})
		}
	}
	if len(of) > 0 {
		t.sample.Recheck(t.read, nil)
	}
	for k, r := range t.read {
		if len(r.Buf) == 8 {
			words[of[k]] = binary.LittleEndian.Uint64(r.Buf)
		}
	}
	return words
}

// begun reports a wait as a sleep, if a timer ends it as far as
// is known. Who takes a value from a channel, too, does not
// sleep.
func (t *timers) begun(a *arrival, s *Sighting) {
	switch {
	case !a.inSelect:
		t.sample.SetReason(a.key, goruntime.ChanReceive+sampledata.OnTimer)
		return
	case a.takes.channel != 0 || a.sends.channel != 0 || a.due < t.now: // by another clock, perhaps
		return
	case t.ends[a.stack].isSleep():
		t.sample.SetReason(a.key, goruntime.Select+sampledata.OnTimer)
	}
	t.records[a.key].timed = timed{a.due, t.now, s.Wait, a.stack}
}

// Changed notes how a wait has ended: the sample is the first
// one in which a goroutine may be elsewhere.
func (f *Finder) Changed(key int32) { f.enders.timers.changed(key) }

func (t *timers) changed(key int32) {
	r := &t.records[key].timed
	now := t.sample.Sighting(key).Wait
	if r.due == 0 || now == r.wait {
		return
	}
	n, known := t.ends[r.stack]
	switch {
	case now.Goroutine != r.wait.Goroutine: // when the other one ended is not known
	case int64(t.clock()) < r.due:
		n.early++
	case r.due-t.last <= t.last-r.begun: // else it may have ended long before
		n.due++
	}
	r.due = 0
	if known || len(t.ends) < maxTimedStacks {
		t.ends[r.stack] = n
	}
}
