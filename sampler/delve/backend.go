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
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

// Name is what a recording's header calls this backend.
const Name = "delve"

// A Backend samples one process.
type Backend struct {
	process  *sampler.Process
	halter   halter
	identity string // of the program that runs in the process
	header   sampledata.Header
	inner    map[uint64]int // thread ids: the target's to ours, where it sits in another pid namespace

	capture capture
	unwind  *unwinder
	seed    maphash.Seed
	known   map[int64]*known // by goid
	sample  int64
	changes []sampledata.Change
}

var _ sampler.Backend = (*Backend)(nil)

// A known goroutine is one that an earlier sample saw.
type known struct {
	id     sampledata.GoroutineID
	seen   int64 // the sample that saw it last
	state  sampledata.State
	print  print // of the stack, where it was parked
	parked bool
	labels labels
}

// A print tells whether a parked goroutine's stack is still what it was: its registers, and a hash over its copy.
type print struct {
	sp, pc, bp, hash uint64
}

// Attach makes ready to sample a process that runs the binary. The process is not halted by it.
func (b *Binary) Attach(p *sampler.Process) (*Backend, error) {
	h, err := newHalter(p.PID, p.Launched)
	if err != nil {
		return nil, fmt.Errorf("attach to %d: %w", p.PID, err)
	}
	a := &Backend{process: p, halter: h, seed: maphash.MakeSeed(), known: map[int64]*known{}}
	if err := a.prepare(b); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return a, nil
}

// prepare finds out where the target keeps things.
func (a *Backend) prepare(b *Binary) error {
	var err error
	if a.identity, err = a.halter.identity(); err != nil {
		return a.explain(err)
	}
	entry, err := a.halter.entryPoint()
	if err != nil {
		return a.explain(err)
	}
	if entry != 0 && entry != b.entry {
		if err := b.load(entry); err != nil {
			return err
		}
	}
	a.inner = innerThreads(a.process.PID)
	mem := &memory{halter: a.halter}
	layout, err := newLayout(b.bi, mem)
	if err != nil {
		return a.explain(err)
	}
	p := &process{bi: b.bi, mem: mem, bps: proc.NewBreakpointMap(), entry: b.entry}
	_, add := proc.NewGroup(group{}, proc.NewTargetGroupConfig{StopReason: proc.StopAttached})
	regs := p.reachable(viewRegisters{savedRegisters(0, 0, 0, 0), 0})
	target, err := add(p, a.process.PID, &view{p: p, regs: regs}, b.path, proc.StopAttached, "")
	if err != nil {
		return fmt.Errorf("attach to %d: %w", a.process.PID, err)
	}
	a.capture = capture{l: layout, mem: mem}
	a.unwind = &unwinder{
		p: p, target: target,
		functions: map[string]sampledata.FunctionID{}, starts: map[uint64]startPoint{},
	}
	a.header = sampledata.Header{
		Command: a.process.Command, Executable: b.info.Path, PID: int64(a.process.PID),
		GoVersion: b.info.GoVersion, OS: b.info.OS, Arch: b.info.Arch,
		Start: time.Now(), Clock: "monotonic",
	}
	procs := []span{{addr: layout.gomaxprocs, data: make([]byte, 4)}}
	a.halter.read(procs)
	a.header.GOMAXPROCS = int32(half(procs[0].data, 0))
	return nil
}

// explain makes an error of one that came from touching the target.
func (a *Backend) explain(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return a.process.Denied(err)
	}
	return fmt.Errorf("attach to %d: %w", a.process.PID, err)
}

// Header describes the target. Its Sampler field is the caller's to fill.
func (a *Backend) Header() sampledata.Header { return a.header }

// Learned is nothing: code is not looked at.
func (a *Backend) Learned() time.Duration { return 0 }

// Release does nothing: after each halt nothing of the target is traced.
func (a *Backend) Release() error { return nil }

// Close lets the target go for good.
func (a *Backend) Close() error { return a.halter.close() }

// Observe takes one sample.
func (a *Backend) Observe(_ context.Context, sink sampledata.Sink, s sampledata.Sample) (sampledata.Sample, error) {
	if a.inner != nil {
		a.inner = innerThreads(a.process.PID)
	}
	if a.sample == 0 {
		// A copy of the running target is no sample, but it shows how much room one takes.
		a.capture.mem.reset()
		_ = a.capture.take(nil, nil)
	}
	a.capture.mem.reset()
	var threads int
	took, err := a.halter.during(func(ts []thread) error {
		threads = len(ts)
		if id, err := a.halter.identity(); err != nil {
			return err
		} else if id != a.identity {
			return &sampler.EndedError{End: sampledata.End{
				Cause: sampledata.EndExec, Detail: "the process executed another program",
			}}
		}
		return a.capture.take(ts, a.inner)
	})
	s.Halt = took
	if err != nil {
		return s, a.failure(err)
	}
	s.Threads = int32(threads)
	s.StoppedWorld = a.capture.stoppedWorld
	s.Collecting = a.capture.gcphase != 0
	a.unwind.begin(sink)
	a.sample++
	a.changes = a.changes[:0]
	a.observe(sink)
	a.leave()
	s.Processors = a.processors()
	return s, sink.Sample(s, a.changes)
}

// failure says what a halt that failed means: the end of the target, or a sample lost.
func (a *Backend) failure(err error) error {
	var ended *sampler.EndedError
	if errors.As(err, &ended) {
		return err
	}
	if errors.Is(err, os.ErrPermission) {
		return a.process.Denied(err)
	}
	select {
	case <-a.process.Done():
		return &sampler.EndedError{End: a.process.End()}
	default:
	}
	if errors.Is(err, errGone) || errors.Is(err, os.ErrNotExist) {
		return &sampler.EndedError{End: sampledata.End{Cause: sampledata.EndExited, Detail: "exited"}}
	}
	return fmt.Errorf("sampling process %d: %w", a.process.PID, err)
}

// leave notes the goroutines that are not there any more.
func (a *Backend) leave() {
	for goid, k := range a.known {
		if k.seen != a.sample {
			a.changes = append(a.changes, sampledata.Change{Goroutine: k.id, Gone: true})
			delete(a.known, goid)
		}
	}
}

// processors says what each processor runs. One whose goroutine sleeps in a system call is free to be taken away, so it
// counts as idle.
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
