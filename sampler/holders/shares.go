package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Many programs use a channel with a buffer, or a semaphore, as
// a lock that several goroutines can have at a time:
//
//	slots <- struct{}{}        // waits while the buffer is full
//	defer func() { <-slots }()
//	work()                     // the goroutine has one of the slots
//
// The goroutines whose next action on the channel is to receive
// from it have the slots. If the buffer is full, and they are as
// many as it has elements, they are likely the ones for whom the
// others wait. Likewise, if tokens are taken out of a channel
// and put back into it, if a sync.WaitGroup or a semaphore
// counts as many as there are goroutines that will call Done or
// Release, and if as many connections of a pool are in use as
// there are goroutines that will give one back.

// A goroutine that sends to an empty channel has one of its
// tokens only if it was seen to receive from it before. Else it
// may be what gives the others work: a loop that accepts
// connections holds nothing up.

// noteReceived notes the channel that a goroutine waits to receive from.
func (r *record) noteReceived(s *Sighting) {
	if r.awaited.Kind == syncflow.Send && r.awaited.Object != 0 {
		r.received.note(s.Wait.Goroutine, r.awaited.Object)
	}
}

// maxShares bounds the channels, groups and semaphores that are
// read in one sample.
const maxShares = 64

// A share is what was read of a thing.
type share struct {
	of       syncflow.Action // which ends the waits for it
	poolOpen int             // goruntime.Release.PoolOpen
	bytes    []byte
}

// shareSize is the largest sizeOf.
const shareSize = goruntime.PoolHead

// sizeOf returns how many bytes are read of a thing, given what
// ends the waits for it.
func sizeOf(k syncflow.ActionKind) int {
	switch k {
	case syncflow.Done:
		return goruntime.WaitGroupCount + 4
	case syncflow.Return:
		return goruntime.PoolHead
	}
	return goruntime.ChannelHead
}

// readShares reads those things for which goroutines wait whose holders can
// be counted.
func (e *enders) readShares(waiting []int32) {
	e.shares = e.shares[:0]
	if e.shareBuf == nil {
		e.shareBuf = make([]byte, maxShares*shareSize)
	}
	e.ranges = e.ranges[:0]
	for _, key := range waiting {
		w, ok := e.awaited(key)
		known := slices.ContainsFunc(e.shares, func(s share) bool { return s.of == w })
		if !ok || known || len(e.shares) == maxShares || w.Kind == syncflow.Signal {
			continue
		}
		buf := e.shareBuf[len(e.shares)*shareSize:]
		e.shares = append(e.shares, share{of: w, poolOpen: e.release.PoolOpen()})
		e.ranges = append(e.ranges, memory.Range{Addr: w.Object, Buf: buf[:sizeOf(w.Kind)]})
	}
	e.sample.Recheck(e.ranges, nil)
	for i := range e.shares {
		e.shares[i].bytes = e.ranges[i].Buf
	}
}

// shareOf returns what was read of a thing that a goroutine
// waits for; nil if it was not read in this sample.
func (e *enders) shareOf(w syncflow.Action) *share {
	i := slices.IndexFunc(e.shares, func(s share) bool { return s.of == w })
	if i < 0 {
		return nil
	}
	return &e.shares[i]
}

// taken returns how many goroutines have a part of the thing; 0
// if that is not known, or if there is no need to wait for them.
func (s *share) taken() uint64 {
	switch {
	case s == nil:
		return 0
	case s.of.Kind == syncflow.Done:
		return uint64(memory.Half(s.bytes, goruntime.WaitGroupCount))
	case s.of.Kind == syncflow.Release:
		if taken := s.word(goruntime.WeightedTaken); 2*taken >= s.word(goruntime.WeightedSize) {
			return taken
		}
		return 0 // others wait behind somebody who wants many
	case s.of.Kind == syncflow.Written:
		return s.word(0) & goruntime.FDWriteLocked / goruntime.FDWriteLocked
	case s.of.Kind == syncflow.Return:
		return s.word(s.poolOpen) - min(s.word(s.poolOpen), s.word(goruntime.PoolIdle))
	}
	length := s.word(goruntime.ChannelLength)
	if full := s.of.Kind == syncflow.Receive && length == s.capacity(); full ||
		s.of.Kind == syncflow.Send && length == 0 {
		return s.capacity()
	}
	return 0
}

// capacity returns the number of elements in the buffer of a channel.
func (s *share) capacity() uint64 { return s.word(goruntime.ChannelCapacity) }

// word returns 8 of the bytes that were read; 0 if they were not.
func (s *share) word(at int) uint64 { return memory.Word(s.bytes, at) }

// An enderSet is the goroutines that may end a wait.
type enderSet struct {
	ids      sampledata.HolderSetID
	evidence sampledata.Evidence
}

// findBuffered reports the goroutines that may end waits for channels with
// buffers. They change while others wait.
func (e *enders) findBuffered() {
	e.buffered = slices.DeleteFunc(e.buffered, func(key int32) bool {
		s := e.sample.Sighting(key)
		r := &e.records[key]
		r.uses.buffered = s.Exists && s.Run == sampledata.Waiting && r.awaited.Object != 0 &&
			r.named == s.Wait &&
			(r.awaited.Kind == syncflow.Send || r.awaited.Kind == syncflow.Receive)
		return !r.uses.buffered
	})
	if len(e.buffered) == 0 {
		return
	}
	e.readShares(e.buffered)
	e.buffered = slices.DeleteFunc(e.buffered, func(key int32) bool {
		w, _ := e.awaited(key)
		u := &e.records[key].uses
		if s := e.shareOf(w); s != nil {
			u.buffered = s.capacity() > 0
		}
		return !u.buffered
	})
	e.nameToChannels(e.buffered)
}
