package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// The channel that a goroutine waits for is in the sudog that it
// waits with. The sudog is read after the halt, once for each
// wait. If many begin to wait at a time, as all do in the first
// sample, it takes several samples. The other users of the
// channel are reported once, too, when its channel is known. The
// channel of a timer is not reported: no goroutine sends to it,
// see timers.go.
//
// A select has a sudog for each case. Its channel is the only
// one that it takes a value from, or sends one to. The others
// only tell it to stop waiting, as a context does that is done.
// The sudog of a case that sends is in the channel's queue of
// senders. Who takes values, and also offers one, mostly waits
// for work.

// An arrival is a goroutine that may have begun to wait for a channel.
type arrival struct {
	key      int32
	inSelect bool
	sudog    uint64 // that it waits with and that is read next; 0 if there is none
	reads    int    // the number of sudogs that were read
	takes    oneChannel
	sends    oneChannel // in a select
	wait     Wait       // when it arrived
	stack    sampledata.NodeID
	due      int64 // when the first timer ends the wait; 0 if none does
}

// oneChannel is the channel of the cases of a select, or of a
// wait for one channel.
type oneChannel struct {
	channel uint64 // 0 if none is known
	several bool   // there are others
}

func (c *oneChannel) add(channel uint64) {
	c.several = c.several || c.channel != 0 && c.channel != channel
	c.channel = channel
}

// awaited returns the channel that the goroutine waits for; 0 if
// it is not known.
func (a *arrival) awaited() (channel uint64, sends bool) {
	of := a.takes
	if of.channel == 0 {
		of, sends = a.sends, a.sends.channel != 0
	} else if a.sends.channel != 0 {
		return 0, false
	}
	if of.several || a.sudog != 0 {
		return 0, false
	}
	return of.channel, sends
}

// selectSends is the reason of a wait in a select that sends.
const selectSends = goruntime.Select + sampledata.ToSend

// maxCases is the number of cases up to which the channel of a
// select is found.
const maxCases = 8

// addChannel adds a goroutine to the list of those that have
// begun to wait for a channel, unless its channel is known.
func (e *enders) addChannel(key int32, reason goruntime.WaitReason, s *Sighting,
	was, now *sampledata.State, sudog uint64) {
	r := &e.records[key]
	r.awaited.Kind = syncflow.Send
	if reason.Sends {
		r.awaited.Kind = syncflow.Receive
	}
	same := was.Reason == now.Reason || was.Reason == now.Reason+sampledata.OnTimer ||
		was.Reason == now.Reason+sampledata.ToSend
	if was.Run == now.Run && same && was.Stack == now.Stack {
		if was.Lock != 0 {
			now.Lock, r.awaited.Object = was.Lock, was.Lock
		}
		if was.Reason == selectSends { // until its sudogs say something else
			now.Reason, r.awaited.Kind = selectSends, syncflow.Receive
		}
		if r.named == s.Wait {
			now.Reason = was.Reason
			return
		}
	}
	a := arrival{key: key, inSelect: reason.Awaits == goruntime.AwaitsChannels, sudog: sudog,
		wait: s.Wait, stack: now.Stack}
	count := &e.plain
	if a.inSelect {
		count = &e.selects
	}
	switch {
	case *count < maxChannels:
		*count++
		e.arrived = append(e.arrived, a)
	case len(e.late) < maxLate:
		e.late = append(e.late, a)
	}
}

// addLate adds some goroutines that were too many, and still wait.
func (e *enders) addLate() {
	n := 0
	e.late = slices.DeleteFunc(e.late, func(a arrival) bool {
		s := e.sample.Sighting(a.key)
		stays := s.Exists && s.Run == sampledata.Waiting && s.Wait == a.wait
		if !stays || e.records[a.key].named == a.wait {
			return true
		}
		if n == maxChannels {
			return false
		}
		n++
		e.arrived = append(e.arrived, a)
		return true
	})
}

// findChannels finds the channels that the goroutines on that list wait for.
func (e *enders) findChannels() {
	if l := &e.shared.sudog; l.Size == 0 || !l.CAddr.Or(l.C).Has() {
		return
	}
	e.addLate()
	for e.readSudogs() {
	}
	for i := range e.arrived {
		a := &e.arrived[i]
		channel, sends := a.awaited()
		s := e.sample.Sighting(a.key)
		switch r := &e.records[a.key]; {
		case sends:
			r.awaited.Kind = syncflow.Receive
			e.sample.SetReason(a.key, selectSends)
		case a.inSelect && a.sudog == 0 && r.named == a.wait && r.awaited.Kind == syncflow.Receive:
			r.awaited.Kind = syncflow.Send
			e.sample.SetReason(a.key, goruntime.Select)
		}
		e.setChannel(a.key, &s, channel)
		if a.due != 0 && a.sudog == 0 {
			e.timers.begun(a, &s)
		}
	}
}

// readSudogs reads one sudog of each goroutine on that list. It
// reports whether there was one to read.
func (e *enders) readSudogs() bool {
	size := int(e.shared.sudog.Size)
	if e.buf == nil {
		e.buf = make([]byte, 3*maxChannels*size) // plain, in selects, and late
	}
	e.reading, e.keys, e.ranges = e.reading[:0], e.keys[:0], e.ranges[:0]
	for i := range e.arrived {
		if a := &e.arrived[i]; a.sudog != 0 && a.reads < maxCases {
			buf := e.buf[len(e.ranges)*size:][:size]
			e.reading, e.keys = append(e.reading, a), append(e.keys, a.key)
			e.ranges = append(e.ranges, memory.Range{Addr: a.sudog, Buf: buf})
		}
	}
	if len(e.reading) == 0 {
		return false
	}
	// a goroutine that has moved on may now wait for another channel
	e.sample.Recheck(e.ranges, e.keys)
	channels, valued := make([]uint64, len(e.reading)), make([]bool, len(e.reading))
	for i, a := range e.reading {
		s, sudog := e.sample.Sighting(a.key), e.ranges[i].Buf
		if a.reads++; !s.Stood || len(sudog) != size || memory.Word(sudog, e.shared.sudog.G) != s.Addr {
			a.reads = maxCases
			continue
		}
		e.records[a.key].named = s.Wait
		channels[i], valued[i], a.sudog = e.caseOf(sudog, a.inSelect)
	}
	due, sent := e.timers.due(channels), e.sent(channels)
	for i, a := range e.reading {
		switch c := channels[i]; {
		case due[i] != 0:
			if a.due == 0 || due[i] < a.due {
				a.due = due[i]
			}
		case c == 0 || !valued[i]:
		case a.inSelect && sent[i]:
			a.sends.add(c)
		default:
			a.takes.add(c)
		}
	}
	return true
}

// sent reports for which channels of those that are read goroutines
// wait to send, and none to receive.
func (e *enders) sent(channels []uint64) []bool {
	queues := e.release.ChannelQueues()
	receivers := e.timers.words(channels, queues)
	sent := make([]bool, len(channels))
	var keys []int32
	for i, sender := range e.timers.words(channels, queues+16) {
		if sent[i] = sender != 0 && receivers[i] == 0; sent[i] {
			keys = append(keys, e.keys[i])
		}
	}
	if len(keys) > 0 { // who has moved on may have waited for another end of the channel
		e.sample.Recheck(nil, keys)
	}
	for i, key := range e.keys {
		sent[i] = sent[i] && e.sample.Sighting(key).Stood
	}
	return sent
}

// setChannel reports the channel that a goroutine waits for; 0
// if it is not known.
func (e *enders) setChannel(key int32, s *Sighting, channel uint64) {
	r := &e.records[key]
	if r.awaited.Object == channel {
		return
	}
	r.awaited.Object = channel
	r.noteReceived(s)
	e.sample.Update(key, channel, sampledata.NoEvidence, 0)
	if channel != 0 {
		e.waiting = append(e.waiting, key)
	}
}

// nameToChannels reports, for goroutines that wait to receive
// from channels or to send to them, the goroutines that may end
// the waits. Those that close a channel are named only if nobody
// is known to send to it.
func (e *enders) nameToChannels(waiting []int32) {
	e.unnamed = e.unnamed[:0]
	e.nameTo(waiting, aChannel, func(key int32) {
		w, _ := e.awaited(key)
		if e.nameToChannel(key, w); len(e.set) == 0 && w.Kind == syncflow.Send {
			e.unnamed = append(e.unnamed, key)
		}
	})
	if !e.isTurn(aClosed) {
		return
	}
	e.nameTo(e.unnamed, aClosed, func(key int32) {
		w, _ := e.awaited(key)
		e.nameToChannel(key, endedBy(w, aClosed))
	})
}

// nameToChannel reports the goroutines that may do what one
// waits for: e.set has them, even if they are too many.
func (e *enders) nameToChannel(key int32, w syncflow.Action) {
	found := e.endersOf(w, func(other int32) bool { return other != key })
	e.sample.Update(key, w.Object, found.evidence, found.ids)
}

// mayBuffer adds goroutines that have begun to wait to those
// whose channels may have buffers: who may end their waits is
// found out again in each sample.
func (e *enders) mayBuffer(waiting []int32) {
	for _, key := range waiting {
		if u := &e.records[key].uses; !u.buffered && len(e.buffered) < maxBuffered {
			u.buffered = true
			e.buffered = append(e.buffered, key)
		}
	}
}
