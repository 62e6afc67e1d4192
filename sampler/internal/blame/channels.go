package blame

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/memory"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// For which channel a goroutine waits stands in the sudog that it waits with. That is read after the halt, once for each
// wait; who else uses the channel is reported once, too, when the wait begins.

// An arrival is a goroutine that may have begun to wait for a channel, and the sudog that it waits with.
type arrival struct {
	key   int32
	sudog uint64
}

// addChannel puts a goroutine on the list of those that began to wait for a channel, unless it is known which.
func (e *enders) addChannel(key int32, reason goruntime.WaitReason, s *Sighting, was, now *sampledata.State, sudog uint64) {
	r := &e.records[key]
	r.awaited.Kind = syncflow.Send
	if reason.Sends {
		r.awaited.Kind = syncflow.Receive
	}
	if was.Run == now.Run && was.Reason == now.Reason && was.Stack == now.Stack && was.Lock != 0 {
		now.Lock, r.awaited.Object = was.Lock, was.Lock
		if r.named == s.Wait {
			return
		}
	}
	if len(e.arrived) < maxChannels {
		e.arrived = append(e.arrived, arrival{key, sudog})
	}
}

// findChannels finds out for which channels the goroutines on that list wait.
func (e *enders) findChannels() {
	l := &e.shared.sudog
	if l.size == 0 || !l.channel.Has() {
		return
	}
	if len(e.arrived) > 0 && e.buf == nil {
		e.buf = make([]byte, maxChannels*l.size)
	}
	e.keys, e.ranges = e.keys[:0], e.ranges[:0]
	for i, a := range e.arrived {
		e.keys = append(e.keys, a.key)
		e.ranges = append(e.ranges, memory.Range{Addr: a.sudog, Buf: e.buf[i*l.size:][:l.size]})
	}
	e.sample.Recheck(e.ranges, e.keys) // what has gone on meanwhile may wait for another one
	for i, a := range e.arrived {
		s, sudog := e.sample.Sighting(a.key), e.ranges[i].Buf
		channel := uint64(0)
		if s.Stood && len(sudog) == l.size && binary.LittleEndian.Uint64(sudog[l.g:]) == s.Addr {
			channel = binary.LittleEndian.Uint64(sudog[l.channel:])
		}
		e.setChannel(a.key, &s, channel)
	}
}

// setChannel reports for which channel a goroutine waits; 0 if that is not known.
func (e *enders) setChannel(key int32, s *Sighting, channel uint64) {
	r := &e.records[key]
	if channel != 0 {
		r.named = s.Wait
	}
	if r.awaited.Object == channel {
		return
	}
	r.awaited.Object = channel
	e.sample.Update(key, channel, sampledata.NoEvidence, 0)
	if channel != 0 {
		e.waiting = append(e.waiting, key)
	}
}

// nameToReceiver names to a goroutine that waits for a channel, to receive or to send, those that may end its wait.
func (e *enders) nameToReceiver(key int32) {
	w, _ := e.awaited(key)
	if enders := e.endersOf(w, func(other int32) bool { return other != key }); enders != 0 {
		e.sample.Update(key, w.Object, sampledata.Ambiguous, enders)
	}
}
