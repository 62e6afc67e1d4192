package heap

import (
	"context"
	"time"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A LimitError reports that a halt would take more than it may,
// or would have.
type LimitError struct {
	Halt   time.Duration // how long the halt would be
	Memory int64         // how much memory the copy would take
	Took   time.Duration // of a halt that was ended at its limit
}

func (e *LimitError) Error() string {
	needed := e.Halt.Round(time.Millisecond).String()
	if e.Took == 0 {
		return "it takes a halt of " + needed + ": raise --max-halt"
	}
	return "a halt was ended after " + e.Took.Round(time.Millisecond).String() +
		", before all was read: try again when the machine is less busy, or raise --max-halt to " + needed
}

const (
	copyStep   = 2 << 20  // bytes that a system call copies
	rehearsal  = 64 << 20 // bytes that are copied to see how long that takes
	perThread  = 70 * time.Microsecond
	haltMargin = 1.3
)

// Prove halts the target once, copies all that may have a
// pointer, lets the target go, and marks the copy. So it sees
// one moment. If the halt would be too long, the error is a
// *LimitError.
func (x *Examination) Prove(ctx context.Context) error {
	x.arena, x.spare = x.spare, x.arena
	err := x.prove(ctx)
	if err != nil && !x.proved { // what the last pass has read still counts
		x.arena, x.spare = x.spare, x.arena
	}
	return err
}

// prove does what Prove says, with an arena of its own.
func (x *Examination) prove(ctx context.Context) error {
	begin := time.Now()
	if err := x.prepare(); err != nil {
		return err
	}
	var w *world
	var r *roots
	x.arena.Reset()
	took, unknown, err := x.Source.Halt(x.MaxHalt, func(reader Reader,
		threads []Thread) (err error) {
		w, r, err = x.capture(x.copier(reader), threads)
		return err
	}, func(reader Reader, t Thread) { x.addThread(x.copier(reader), w, t) })
	if err != nil {
		return x.failed(err, took)
	}
	if unknown > 0 {
		w.doubt("the registers of a thread are not known")
	}
	w.checkThreads()
	x.setG(w)
	c := x.copier(&copyReader{x})
	x.finish(c, w, false)
	x.checkQueues(c, w)
	x.h.forget()
	x.m.r = c.Reader
	p := Pass{At: begin, Halt: took, Halted: true}
	x.mark(ctx, c, w, r, &p)
	for _, why := range r.doubts {
		w.doubt(why)
	}
	if x.h.corrupt > 0 {
		w.doubt("a part of the heap makes no sense")
	}
	if x.m.unread > 0 {
		w.doubt("a page of the heap can't be read")
	}
	p.Took = time.Since(begin)
	x.passes = append(x.passes, p)
	x.proved = ctx.Err() == nil
	return ctx.Err()
}

// capture copies all that a proof needs.
func (x *Examination) capture(c gostate.Copier, threads []Thread) (*world, *roots, error) {
	w, err := x.readWorld(c, threads, false)
	if err != nil {
		return w, nil, err
	}
	if err := x.readSpans(c); err != nil {
		return w, nil, err
	}
	whole := x.layOut()
	if whole > int64(len(x.copy)) {
		return w, nil, &LimitError{Memory: x.h.scannable}
	}
	x.readChannels(c, w)
	r := x.readRoots(c)
	if x.copySpans(c.Reader, whole) > 0 {
		r.doubt("a page of the heap can't be read")
	}
	return w, r, nil
}

// prepare takes the memory for the copy, and estimates the halt
// by a rehearsal.
func (x *Examination) prepare() error {
	x.arena.Reset()
	c := x.copier(x.Source)
	if err := x.readSpans(c); err != nil {
		return err
	}
	whole := x.layOut()
	room := whole + whole/8 + 1<<20
	part := min(whole, rehearsal)
	if room > x.MaxMemory {
		room = part
	}
	if int64(cap(x.copy)) < room {
		x.copy = make([]byte, room)
	}
	x.copy = x.copy[:room]
	for i := 0; i < len(x.copy); i += 4096 {
		x.copy[i] = 0 // no page fault in the halt
	}
	begin := time.Now()
	x.copySpans(x.Source, part)
	copied := time.Since(begin)
	begin = time.Now()
	w, err := x.readWorld(c, nil, false)
	if err != nil {
		return err
	}
	x.readRoots(c)
	if err := x.readSpans(c); err != nil {
		return err
	}
	rest := time.Since(begin)
	x.arena.Reserve(x.arena.Size() / 4)
	estimate := time.Duration(float64(copied)*float64(whole)/float64(max(part, 1))*haltMargin) +
		rest +
		time.Duration(len(w.byThread))*perThread
	if estimate > x.MaxHalt || room < whole {
		return &LimitError{Halt: estimate, Memory: whole}
	}
	return nil
}

// layOut finds a place in the copy for each span with pointers.
// It returns the size of all.
func (x *Examination) layOut() (total int64) {
	for i := range x.h.list {
		if s := &x.h.list[i]; !s.noscan {
			s.at = total
			total += s.copied()
		}
	}
	return total
}

// copied is the size of a span's copy: whole pages, so that
// neighbours are copied in one piece.
func (s *span) copied() int64 {
	const page = 1 << goruntime.PageShift
	return (int64(s.size()) + page - 1) &^ (page - 1)
}

// copySpans copies spans with pointers: those that begin in a
// first part of the copy. It returns how many ranges it could
// not read.
func (x *Examination) copySpans(r Reader, part int64) (failed int) {
	var ranges []memory.Range
	size := 0
	flush := func() {
		failed += r.ReadRanges(ranges)
		ranges, size = ranges[:0], 0
	}
	for i := range x.h.list {
		s := &x.h.list[i]
		if s.noscan {
			continue
		}
		if s.at >= part {
			break
		}
		for off := int64(0); off < s.copied() && s.at+off < int64(len(x.copy)); {
			n := min(copyStep-int64(size), s.copied()-off, int64(len(x.copy))-s.at-off)
			buf := x.copy[s.at+off:][:n]
			addr := s.base + uint64(off)
			if k := len(ranges) - 1; k >= 0 && ranges[k].Addr+uint64(len(ranges[k].Buf)) == addr {
				buf = x.copy[s.at+off-int64(len(ranges[k].Buf)):][:int64(len(ranges[k].Buf))+n]
				ranges[k].Buf = buf
			} else {
				ranges = append(ranges, memory.Range{Addr: addr, Buf: buf})
			}
			size += int(n)
			off += n
			if size >= copyStep {
				flush()
			}
		}
	}
	flush()
	return failed
}

// A copyReader reads the copy.
type copyReader struct{ x *Examination }

// ReadRanges implements Reader. It knows only spans with pointers.
func (r *copyReader) ReadRanges(rs []memory.Range) (failed int) {
	for i := range rs {
		n := len(rs[i].Buf)
		s, _ := r.x.h.find(rs[i].Addr)
		if s == nil || s.noscan {
			rs[i].Buf = rs[i].Buf[:0]
		} else {
			off := rs[i].Addr - s.base
			rs[i].Buf = rs[i].Buf[:copy(rs[i].Buf, r.x.copy[s.at:][off:s.size()])]
		}
		if len(rs[i].Buf) < n {
			failed++
		}
	}
	return failed
}

// checkQueues drops the suspects that are not in the queues of
// all channels that they wait for. Something has taken such a
// goroutine out of a queue, and is about to wake it.
func (x *Examination) checkQueues(c gostate.Copier, w *world) {
	queued := map[uint64]map[uint64]bool{} // sudogs by channel
	for i := range w.gs {
		g := &w.gs[i]
		if !g.candidate || g.never || !ofChannels(g.reason) ||
			x.suspects != nil && !x.suspects[g.addr].is(g) {
			continue
		}
		for k, channel := range g.awaits {
			in, known := queued[channel]
			if !known {
				in = x.queueOf(c, w.channels[channel])
				queued[channel] = in
			}
			if !in[g.sudogs[k]] {
				g.candidate, g.doubt = false, "it is being woken"
				break
			}
		}
	}
}

// readChannels reads the channels that suspects wait for. The
// copy does not have all of them: the collector needs no pointer
// of a channel of numbers.
func (x *Examination) readChannels(c gostate.Copier, w *world) {
	var channels []uint64
	for i := range w.gs {
		if g := &w.gs[i]; g.candidate && !g.never && ofChannels(g.reason) &&
			(x.suspects == nil || x.suspects[g.addr].is(g)) {
			channels = append(channels, g.awaits...)
		}
	}
	w.channels = make(map[uint64][]byte, len(channels))
	for i, b := range c.Structs(channels, int(x.bin.Release.ChannelQueues())+32) {
		w.channels[channels[i]] = b
	}
}

// queueOf returns the sudogs in both queues of a channel. A
// closed channel has none.
func (x *Examination) queueOf(c gostate.Copier, b []byte) map[uint64]bool {
	at := x.bin.Release.ChannelQueues()
	in := map[uint64]bool{}
	if b == nil || memory.Half(b, goruntime.ChannelClosed) != 0 {
		return in
	}
	l := &x.bin.Layout.Sudog
	for _, first := range []int{int(at), int(at) + 16} {
		for s := memory.Word(b, first); s != 0 && !in[s]; {
			in[s] = true
			s = memory.Word(c.Get(s, int(l.Size)), l.Next)
		}
	}
	return in
}
