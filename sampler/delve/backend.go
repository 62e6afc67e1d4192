package delve

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// Name is the name of this backend in a recording's header.
const Name = "delve"

// A Backend samples one process.
type Backend struct {
	process *sampler.Process
	halter  halter
	header  sampledata.Header

	capture capture
	unwind  *unwinder
	seed    maphash.Seed
	after   func()           // called after each halt
	known   map[int64]*known // by goid
	sample  int64
	changes []sampledata.Change
	locks   *coreLocks // of a core dump; else nil
}

var _ sampler.Backend = (*Backend)(nil)

// A known goroutine is one that an earlier sample saw.
type known struct {
	id       sampledata.GoroutineID
	seen     int64 // the sample that saw it last
	state    sampledata.State
	print    print // of the stack, if the goroutine was parked
	parked   bool
	labels   []sampledata.Label
	labelSet sampledata.LabelSetID
}

// A print identifies the stack of a parked goroutine: its
// registers and a hash of its copy. An equal print later means
// that the stack has not changed.
type print struct {
	sp, pc, bp, hash uint64
}

// Attach prepares to sample a process that runs the binary. It
// does not halt the process.
func (b *Binary) Attach(p *sampler.Process) (*Backend, error) {
	h, err := newHalter(p.PID)
	if err != nil {
		return nil, fmt.Errorf("attach to %d: %w", p.PID, err)
	}
	a := newBackend(p, h)
	if err := a.prepare(b); err != nil {
		return nil, errors.Join(a.attachError(err), h.close())
	}
	return a, nil
}

func newBackend(p *sampler.Process, h halter) *Backend {
	return &Backend{process: p, halter: h, seed: maphash.MakeSeed(), after: func() {},
		known: map[int64]*known{}}
}

// prepare finds out where the target's runtime keeps its data.
func (a *Backend) prepare(b *Binary) error {
	entry, err := a.halter.entryPoint()
	if err != nil {
		return err
	}
	if entry != 0 && entry != b.entry {
		if err := b.load(entry); err != nil {
			return err
		}
	}
	mem := &memory{halter: a.halter}
	layout, err := newLayout(b.bi, mem)
	if err != nil {
		return err
	}
	p := &process{bi: b.bi, mem: mem, bps: proc.NewBreakpointMap(), entry: b.entry}
	_, add := proc.NewGroup(nil, proc.NewTargetGroupConfig{StopReason: proc.StopAttached})
	regs := p.withGoroutine(viewRegisters{savedRegisters(0, 0, 0, 0), 0})
	target, err := add(p, a.process.PID, &view{p: p, regs: regs}, b.path, proc.StopAttached, "")
	if err != nil {
		return err
	}
	a.capture = capture{l: layout, mem: mem}
	if h, ok := a.halter.(interface{ outer(int) int }); ok {
		a.capture.outer = h.outer
	}
	a.unwind = &unwinder{
		p: p, target: target,
		functions: map[string]sampledata.FunctionID{}, starts: map[uint64]startPoint{},
	}
	a.header = sampledata.Header{
		Command: a.process.Command(), Executable: b.info.Path, PID: int64(a.process.PID),
		Container: a.process.Container(),
		GoVersion: b.info.GoVersion, OS: b.info.OS, Arch: b.info.Arch,
		Start: time.Now(), Clock: "monotonic",
		Sampler: sampledata.Settings{Wakes: sampler.UsualPriority},
	}
	var procs [4]byte
	_ = mem.read(layout.gomaxprocs, procs[:])
	a.header.GOMAXPROCS = int32(half(procs[:], 0))
	return nil
}

// attachError wraps an error of accessing the target.
func (a *Backend) attachError(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return a.process.Denied(err)
	}
	return fmt.Errorf("attach to %d: %w", a.process.PID, err)
}

// Header describes the target. The caller completes its Sampler field.
func (a *Backend) Header() sampledata.Header { return a.header }

// Binary returns nil: Delve reads the executable.
func (a *Backend) Binary() *gobinary.Binary { return nil }

// Lead returns 0: Observe halts the target at once.
func (a *Backend) Lead() time.Duration { return 0 }

// Learned returns 0: this backend does not analyse the target's code.
func (a *Backend) Learned() time.Duration { return 0 }

// MayLearn does nothing.
func (a *Backend) MayLearn(time.Duration) {}

// Settle does nothing: all is reported with the samples.
func (a *Backend) Settle(sampledata.Sink) {}

// AfterHalt sets the function that is called after each halt.
func (a *Backend) AfterHalt(f func()) { a.after = f }

// Seen returns nothing: the copies have parts that could not be read.
func (a *Backend) Seen() sampler.Memory { return nil }

// ReadAlso does nothing.
func (a *Backend) ReadAlso(uint64, int) {}

// Release detaches from what did not stop in a halt.
func (a *Backend) Release() error {
	if h, ok := a.halter.(interface{ Release() error }); ok {
		return h.Release()
	}
	return nil
}

// Close detaches from the target for good.
func (a *Backend) Close() error { return a.halter.close() }

// Observe takes one sample.
func (a *Backend) Observe(_ context.Context, sink sampledata.Sink,
	s sampledata.Sample) (sampledata.Sample, error) {
	if a.sample == 0 {
		// This copy of the running target is no sample, but it
		// shows how much room a sample takes. A page fault would
		// prolong the halt.
		a.capture.mem.reset()
		_ = a.capture.take(nil)
		a.capture.mem.arena.Reserve(a.capture.mem.arena.Size() / 4)
	}
	a.capture.mem.reset()
	var threads int
	took, err := a.halter.during(func(ts []thread) error {
		a.capture.mem.reset() // of a call before that has not read all
		s.Time = time.Since(a.header.Start)
		threads = len(ts)
		return a.capture.take(ts)
	})
	s.Halt = took
	if err != nil {
		return s, a.failure(err)
	}
	a.after()
	s.Threads = int32(threads)
	s.StoppedWorld = a.capture.stoppedWorld
	s.Collecting = a.capture.gcphase != 0
	a.unwind.begin(sink)
	a.sample++
	a.changes = a.changes[:0]
	a.observe(sink)
	if a.locks != nil {
		a.locks.find(sink, a.changes)
	}
	if h, ok := a.halter.(interface{ Unanswered() int64 }); ok {
		sampler.WarnUnanswered(sink, h.Unanswered())
	}
	a.dropEnded()
	s.Processors = a.processors()
	return s, sink.Sample(s, a.changes)
}

// failure returns the error of a failed halt: an *EndedError if
// the target has ended, else a lost sample.
func (a *Backend) failure(err error) error {
	if _, ok := errors.AsType[*sampler.EndedError](err); ok {
		return err
	}
	if errors.Is(err, os.ErrPermission) {
		return a.process.Denied(err)
	}
	if a.process.HasEnded() {
		return &sampler.EndedError{End: a.process.End()}
	}
	if errors.Is(err, errGone) || errors.Is(err, os.ErrNotExist) {
		return &sampler.EndedError{End: sampler.Exited}
	}
	return fmt.Errorf("sampling process %d: %w", a.process.PID, err)
}

// dropEnded reports the goroutines that no longer exist.
func (a *Backend) dropEnded() {
	for goid, k := range a.known {
		if k.seen != a.sample {
			a.changes = append(a.changes, sampledata.Change{Goroutine: k.id, Gone: true})
			delete(a.known, goid)
		}
	}
}

// processors returns what each processor runs. A processor whose
// goroutine sleeps in a system call counts as idle, since
// another thread may take it over.
func (a *Backend) processors() []sampledata.GoroutineID {
	c := &a.capture
	runs := map[uint64]sampledata.GoroutineID{} // by the address of the processor
	for i := range c.goroutines {
		g := &c.goroutines[i]
		p := a.processorOf(g)
		if k := a.known[g.id(c.l)]; p != 0 && k != nil {
			runs[p] = sampledata.IdleProcessor
			if k.state.Run == sampledata.Running {
				runs[p] = k.id
			}
		}
	}
	out := make([]sampledata.GoroutineID, len(c.procs))
	for i, p := range c.procs {
		id, held := runs[p.addr]
		switch {
		case held:
			out[i] = id
		case p.status == goruntime.PRunning, p.status == goruntime.PGCStop:
			out[i] = sampledata.SystemProcessor
		default:
			out[i] = sampledata.IdleProcessor
		}
	}
	return out
}
