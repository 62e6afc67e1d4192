//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/internal/blame"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// Name is what a recording's header calls this backend.
const Name = "snapshot"

// A Backend samples one process.
type Backend struct {
	process *sampler.Process
	t       *target
	header  sampledata.Header
	reader  *halt.Reader
	u       *unwind.Unwinder

	table  table
	stacks *stacks
	arena  memory.Arena

	// Of the sample at hand.
	number    uint32
	capture   capture
	changed   []int32 // slots whose state may have changed
	moving    []int32 // slots to be looked at in the halt
	runnable  []int32 // slots of goroutines that were runnable before the halt
	inSyscall []int32 // slots of goroutines that were in system calls before the halt
	changes   []sampledata.Change
	reused    int
	rechecked int
	wrong     int

	// Storage of the part without a halt.
	fresh  []int32
	again  []int32 // slots whose stacks are read again to see whether they were rightly taken for unchanged
	heads  []head
	ranges []memory.Range
	after  []memory.Range
	walk   unwind.Context
	looks  callLooks
	mLook  []byte

	finder *blame.Finder
	memory stackMemory // of the stack at hand
	names  lockNames
}

var _ sampler.Backend = (*Backend)(nil)

// Attach makes ready to sample a process. It is not halted by that; its memory is read, to see whether its runtime is
// laid out as expected.
func Attach(p *sampler.Process) (*Backend, error) {
	t, err := openTarget(p.PID)
	if errors.Is(err, os.ErrPermission) {
		return nil, p.Denied(err)
	}
	if err != nil {
		return nil, err
	}
	b, err := newBackend(p, t)
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("attach to %d: %w", p.PID, err)
	}
	return b, nil
}

func newBackend(p *sampler.Process, t *target) (*Backend, error) {
	u, err := unwind.New(t.bin.Table, t.bin.Arch)
	if err != nil {
		return nil, err
	}
	ps, err := t.processors()
	if err != nil {
		return nil, err
	}
	name, err := os.Readlink(t.Path("exe"))
	if err != nil {
		return nil, err
	}
	b := &Backend{
		process: p, t: t, u: u, reader: t.NewReader(),
		table: table{o: t.g}, memory: stackMemory{t: t},
		header: sampledata.Header{
			Command: p.Command, Executable: strings.TrimSuffix(name, " (deleted)"), PID: int64(p.PID),
			GoVersion: t.bin.Version, OS: "linux", Arch: t.bin.Arch, GOMAXPROCS: int32(len(ps)),
			Start: time.Now(), Clock: "monotonic",
		},
	}
	if b.finder, err = blame.New(blame.Config{
		Program: syncflow.Program{Table: t.bin.Table, Arch: t.bin.Arch, Read: t.Read},
		Release: t.bin.Release, Sudog: t.l.Sudog, ThreadTime: halt.ThreadTime,
	}, blameSample{b}); err != nil {
		return nil, err
	}
	b.mLook = make([]byte, t.mLen)
	b.capture = capture{b: b, byG: map[uint64]int32{}}
	return b, nil
}

// Header describes the target. Its Sampler field is the caller's to fill.
func (b *Backend) Header() sampledata.Header { return b.header }

// Release lets go of the threads that halts have left traced.
func (b *Backend) Release() error { return b.t.Release() }

// Learned is the time that learning the target's code took so far.
func (b *Backend) Learned() time.Duration { return b.finder.Learned() }

// Close lets the target go for good.
func (b *Backend) Close() error {
	b.looks.close()
	b.names.close()
	return b.t.Close()
}

// Observe takes one sample.
func (b *Backend) Observe(_ context.Context, sink sampledata.Sink, s sampledata.Sample) (sampledata.Sample, error) {
	b.begin(sink)
	var err error
	if closed := b.t.Do(func(h *halt.Halter) { err = b.look(h, &s) }); closed != nil {
		return s, closed
	}
	if err != nil {
		return s, b.failure(err)
	}
	if err := sink.Sample(s, b.changes); err != nil {
		return s, err
	}
	b.names.samples++
	return s, nil
}

// lateLimit is how long to wait for the registers of threads that wait for a CPU. The others don't wait with them.
const lateLimit = 250 * time.Millisecond

// look sees the target and finds out what changed. All of it is done by the thread that halts.
func (b *Backend) look(h *halt.Halter, s *sampledata.Sample) error {
	if err := b.parked(); err != nil {
		return err
	}
	ps, err := b.t.processors()
	if err != nil {
		return err
	}
	b.capture.prepare(ps)
	b.finder.Expect()
	halted, err := h.Halt(lateLimit, b.capture.take, b.capture.takeLate)
	s.Halt = halted.Took
	if err != nil {
		b.forget()
		return err
	}
	b.adopt()
	b.watch()
	b.resolve()
	b.finder.Find(blame.Halt{Consistent: !b.capture.changed, Woken: [2][]int32{b.changed, b.runnable}})
	b.finish(s)
	return nil
}

// begin starts a sample. A sink that is not the one of the sample before knows nothing yet.
func (b *Backend) begin(sink sampledata.Sink) {
	if b.stacks == nil || b.stacks.sink != sink {
		b.stacks = newStacks(sink, b.t.bin, b.u)
		for i := range b.table.slots {
			s := &b.table.slots[i]
			*s = slot{addr: s.addr, place: s.place}
			b.table.wake(s)
		}
		b.finder.Reset()
	}
	b.names.tell(sink)
	b.number++
	b.finder.Begin(b.number)
	b.changed, b.changes = b.changed[:0], b.changes[:0]
	b.moving, b.runnable, b.inSyscall = b.moving[:0], b.runnable[:0], b.inSyscall[:0]
	b.reused, b.rechecked, b.wrong = 0, 0, 0
}

// failure says what an error means: the end of the target, or a sample lost.
func (b *Backend) failure(err error) error {
	if end := b.t.Settle(); end != nil {
		err = end
	}
	switch {
	case errors.Is(err, halt.ErrExec):
		return &sampler.EndedError{End: sampledata.End{Cause: sampledata.EndExec, Detail: "the process executed another program"}}
	case errors.Is(err, halt.ErrEnded):
		return &sampler.EndedError{End: sampledata.End{Cause: sampledata.EndExited, Detail: "exited"}}
	case errors.Is(err, os.ErrPermission):
		return b.process.Denied(err)
	}
	return fmt.Errorf("sampling process %d: %w", b.process.PID, err)
}

// touch puts a slot on the list of those whose state may have changed.
func (b *Backend) touch(i int32) {
	if s := &b.table.slots[i]; s.seen != b.number {
		s.seen = b.number
		b.table.wake(s)
		b.changed = append(b.changed, i)
	}
}

func (b *Backend) touched(i int32) bool { return b.table.slots[i].seen == b.number }

// forget makes the next sample look at everything anew that this one began to look at, after a halt that failed.
func (b *Backend) forget() {
	for _, i := range b.changed {
		b.table.slots[i].view = moving
	}
}

// finish fills in what the sample tells beside the goroutines.
func (b *Backend) finish(s *sampledata.Sample) {
	c := &b.capture
	s.Threads = b.looks.threads
	s.Reused, s.Rechecked, s.Wrong = int32(b.reused), int32(b.rechecked), int32(b.wrong)
	if at := b.t.l.Sched.GCWaiting; at.Has() && c.sched[at] != 0 {
		s.StoppedWorld = true
	}
	s.Collecting = c.phase[0] != 0
	s.Processors = b.processors()
	if c.changed {
		b.stacks.sink.Warn("processors-changed", "processors changed hands in the middle of a halt; states may be a moment apart", 1)
	}
	if n := b.stacks.cut; n > 0 {
		b.stacks.sink.Warn("deep-stack", fmt.Sprintf("stacks deeper than %d frames; the outermost are left out", unwind.MaxDepth), n)
		b.stacks.cut = 0
	}
}
