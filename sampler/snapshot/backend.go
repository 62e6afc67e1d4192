//go:build linux && (amd64 || arm64)

package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Name is the name of this backend in a recording's header.
const Name = "snapshot"

// A Backend samples one process.
type Backend struct {
	process *sampler.Process
	t       *target
	header  sampledata.Header
	arena   memory.Arena // used by the survey, then by the halt and the phases after it
	threads threadStates
	timing  timing
	memory  codeMemory

	// The parts of a sample, in the order in which they work.
	goroutines goroutines // shared by all parts except the halt
	survey     survey
	capture    capture
	syscalls   syscalls
	reporter   reporter
	after      func()         // called after each halt
	seen       sampler.Memory // what Seen returns meanwhile
	also       []memory.Range // what is read with each sample beside it
	attached   time.Duration  // processor time that attaching took

	// for examinations of the heap, when they first name something
	namer func() (*lockname.Namer, error)
	exe   *os.File // nil before
}

var _ sampler.Backend = (*Backend)(nil)

// Attach prepares to sample a process. It does not halt the
// process. It reads the process's memory, to check that its
// runtime is laid out as expected. The error is sampler.ErrExec
// if the process is not the program any more that was found.
func Attach(p *sampler.Process) (*Backend, error) {
	b, err := openBackend(p)
	if !p.HasExecuted() {
		return b, err
	}
	if err == nil {
		b.Close()
	}
	return nil, sampler.ErrExec
}

func openBackend(p *sampler.Process) (*Backend, error) {
	before := sampler.ProcessorTime()
	t, err := openTarget(p.PID)
	if errors.Is(err, os.ErrPermission) {
		return nil, p.Denied(err)
	}
	if err != nil {
		return nil, err
	}
	b, err := newBackend(p, t)
	if err != nil {
		defer t.Close()
		return nil, fmt.Errorf("attach to %d: %w", p.PID, t.because(err))
	}
	b.attached = sampler.ProcessorTime() - before
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
	wakes, err := t.Wakes()
	if err != nil {
		return nil, err
	}
	t.LimitHalts(maxHalt)
	if wakes == "" || wakes == halt.ShortSlices {
		t.LimitHalts(maxOrdinaryHalt)
	}
	start := time.Now()
	b := &Backend{
		process: p, t: t, threads: newThreadStates(p.PID), timing: timing{start: start},
		header: sampledata.Header{
			Command: p.Command(), Executable: strings.TrimSuffix(name, " (deleted)"),
			PID: int64(p.PID), Container: p.Container(),
			GoVersion: t.bin.Version, OS: "linux", Arch: t.bin.Arch, GOMAXPROCS: int32(len(ps)),
			Start: start, Clock: "monotonic",
			Sampler: sampledata.Settings{Wakes: cmp.Or(wakes, sampler.UsualPriority)},
		},
		goroutines: goroutines{t: t, table: table{o: t.g}, u: u,
			memory: stackMemory{t: t, reader: t.NewReader()}}, after: func() {},
	}
	gs, reader := &b.goroutines, t.NewReader()
	b.reporter = reporter{goroutines: gs, names: lockNames{goroutines: gs}}
	if gs.finder, err = holders.New(holders.Config{
		Program: syncflow.Program{Table: t.bin.Table, Arch: t.bin.Arch, Read: t.Read},
		Release: t.bin.Release, Sudog: t.l.Sudog, ThreadTime: halt.ThreadTime, Now: t.Now,
	}, &sightings{goroutines: gs, reader: reader, arena: &b.arena, names: &b.reporter.names}); err != nil {
		return nil, err
	}
	b.survey = survey{goroutines: gs, reader: reader, arena: &b.arena, first: usualLimits}
	b.capture = capture{
		t: t, known: &gs.table, arena: &b.arena,
		processors: processors{t: t, threads: &b.threads, takers: takers{t: t}},
		byG:        map[uint64]int32{},
	}
	b.syscalls = syscalls{goroutines: gs, states: &b.threads, m: make([]byte, t.mLen)}
	b.namer = sync.OnceValues(b.newNamer)
	return b, nil
}

// Header describes the target. The caller completes its Sampler field.
func (b *Backend) Header() sampledata.Header { return b.header }

// Binary returns what is known of the target's executable.
func (b *Backend) Binary() *gobinary.Binary { return b.t.bin }

// Release detaches from the threads that halts have left traced.
func (b *Backend) Release() error { return b.t.Release() }

// AfterHalt sets the function that is called after each halt.
func (b *Backend) AfterHalt(f func()) { b.after = f }

// Seen returns the variables of the runtime that the halt has
// copied, and what ReadAlso asks for.
func (b *Backend) Seen() sampler.Memory { return b.seen }

// ReadAlso adds to what is read after each halt.
func (b *Backend) ReadAlso(addr uint64, size int) {
	b.also = append(b.also, memory.Range{Addr: addr, Buf: make([]byte, size)})
}

// Learned returns the processor time that reading the target's
// symbols and debug information and analysing its code has taken
// so far.
func (b *Backend) Learned() time.Duration {
	return b.attached + b.goroutines.finder.Learned() + b.reporter.names.took()
}

// MayLearn bounds Learned. The holders of locks come first: as
// long as there is something to learn of them, their names get a
// third.
func (b *Backend) MayLearn(most time.Duration) {
	names, finder := &b.reporter.names, b.goroutines.finder
	most -= b.attached
	finder.MayLearn(most - names.took())
	left := most - finder.Learned()
	if finder.IsLearning() {
		left = min(left, most/3)
	}
	names.mayTake(left)
}

// Settle reports the names of locks that are still to come.
func (b *Backend) Settle(sink sampledata.Sink) { b.reporter.names.settle(sink) }

// Close detaches from the target for good.
func (b *Backend) Close() error {
	b.memory.keep(b)
	b.threads.close()
	b.reporter.names.close()
	b.exe.Close()
	return b.t.Close()
}

// Lead returns how long before its halt a sample should begin.
func (b *Backend) Lead() time.Duration { return b.timing.lead() }

// Observe takes one sample.
func (b *Backend) Observe(ctx context.Context, sink sampledata.Sink,
	s sampledata.Sample) (sampledata.Sample, error) {
	b.reporter.names.report(sink)
	b.goroutines.begin(sink)
	var err error
	if closed := b.t.Do(func(h *halt.Halter) { err = b.sample(ctx, h, &s) }); closed != nil {
		return s, closed
	}
	if err != nil {
		return s, b.failure(err)
	}
	if err := sink.Sample(s, b.goroutines.account.changes); err != nil {
		return s, err
	}
	b.survey.sampled = true
	b.reporter.names.samples++
	return s, nil
}

// lateLimit is how long to wait for the registers of threads
// that wait for a CPU. The other threads are not halted for so
// long.
const lateLimit = 250 * time.Millisecond

// Limits on how long a halt may last. Nearly all take less than
// a tenth of that. A thread without a raised priority may lose
// its CPU in a halt; when it gets one again, little is left to
// do, and the sample is good.
const (
	maxHalt         = 10 * time.Millisecond
	maxOrdinaryHalt = 100 * time.Millisecond
)

// sample takes one sample. The halting thread does all of it:
// passing work to another thread takes longer than the halt.
func (b *Backend) sample(ctx context.Context, h *halt.Halter, s *sampledata.Sample) error {
	gs, c := &b.goroutines, &b.capture
	at := b.timing.start.Add(s.Time)
	var err error
	if b.survey.inHalt() {
		err = b.surveyInHalt(h, at, s)
	} else {
		err = b.surveyFirst(ctx, h, at, s)
	}
	if err != nil {
		gs.distrust()
		return err
	}
	b.survey.spotCheck(b.also)
	b.seen = append(c.variables(b.seen), b.also...)
	b.after()
	b.seen = b.seen[:0]
	b.survey.left += b.reporter.report(b.survey.reportBy(ctx))
	gs.finder.Find(holders.Halt{
		Consistent: !c.processors.changed, Whole: c.survey != nil,
		Woken: [2][]int32{gs.account.changed, b.survey.runnable},
	})
	b.finish(s)
	return nil
}

// surveyFirst surveys the target, and then halts it.
func (b *Backend) surveyFirst(ctx context.Context, h *halt.Halter, at time.Time,
	s *sampledata.Sample) error {
	wake := b.timing.await(h, at)
	begin := time.Now()
	if err := b.survey.run(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil && b.survey.sampled {
		return ctx.Err() // the recording is over, and has the first sample
	}
	if err := b.prepare(); err != nil {
		return err
	}
	b.capture.order, b.capture.survey = b.order(), nil
	b.timing.surveyed(time.Since(begin))
	return b.halt(h, wake, s)
}

// surveyInHalt surveys the target in the halt.
func (b *Backend) surveyInHalt(h *halt.Halter, at time.Time, s *sampledata.Sample) error {
	if err := b.prepare(); err != nil {
		return err
	}
	b.capture.survey = func() (order, error) {
		err := b.survey.runInHalt()
		return b.order(), err
	}
	return b.halt(h, b.timing.awaitMoment(h, at), s)
}

// prepare prepares the halt.
func (b *Backend) prepare() error {
	addrs, err := b.t.processors()
	if err != nil {
		return err
	}
	number := b.goroutines.account.number
	b.capture.prepare(number, addrs)
	return b.capture.processors.takers.prepare(number)
}

// halt halts the target, and updates the goroutines from what it saw.
func (b *Backend) halt(h *halt.Halter, w wake, s *sampledata.Sample) error {
	c := &b.capture
	c.processors.got = arrival{}
	if !w.woke.IsZero() {
		c.processors.got = b.threads.arrived(w.woke)
	}
	halted, err := h.Halt(w.halt(), c.take)
	s.Halt, s.Time = halted.Took, c.at.Sub(b.timing.start)
	if err != nil {
		return err
	}
	if halted.Late > 0 {
		c.processors.settleLate()
	}
	b.syscalls.ask(c, b.survey.inSyscall, halted.Late > 0)
	took, err := b.syscalls.findWaiting(h, c.processors.got)
	s.Halt += took
	if err != nil {
		return err
	}
	stood, err := h.AwaitLate(lateLimit, func(th halt.Thread) {
		c.takeLate(th)
		b.syscalls.stopped(th)
	})
	s.Halt += stood
	if err != nil {
		return err
	}
	b.goroutines.adopt(c)
	b.syscalls.update(&c.processors)
	return nil
}

// order returns the list of what the halt must copy.
func (b *Backend) order() order {
	finder := b.goroutines.finder
	finder.Expect()
	waiting, holding := finder.SeenAtHalt()
	return order{
		goroutines: [5][]int32{b.survey.moving, b.survey.runnable, waiting, holding,
			b.survey.moved}, finder: finder,
		partial: b.survey.left > 0,
	}
}

// finish sets the fields of the sample that are not about single
// goroutines.
func (b *Backend) finish(s *sampledata.Sample) {
	gs, c := &b.goroutines, &b.capture
	s.Threads = b.syscalls.threads
	s.Reused, s.Rechecked, s.Wrong = int32(gs.account.reused), int32(gs.account.rechecked),
		int32(gs.account.wrong)
	if at := b.t.l.Sched.GCWaiting; at.Has() && c.sched[at] != 0 {
		s.StoppedWorld = true
	}
	s.Collecting = c.phase[0] != 0
	s.Processors = b.reporter.processors(&c.processors)
	if c.processors.changed {
		gs.warn("processors-changed",
			"a processor went to another thread during a halt; what goroutines do may be a moment apart", 1)
	}
	if c.processors.turnsUnknown {
		gs.warn("no-cpu-counts",
			"the kernel does not say whether a thread waits for a CPU; that time is in :RUN", 1)
	}
	if n := b.survey.unread; n > 0 {
		gs.warn("unread-stacks",
			"the recording was over before the stacks of all goroutines were read", n)
	}
	if n := b.survey.left; n > 0 {
		gs.warn("unread-goroutines",
			"the recording was over before all goroutines were read: record for longer (-d), or when the machine is less busy", n)
	}
	sampler.WarnUnanswered(gs.stacks.sink, b.t.Unanswered())
	if n := gs.stacks.cut; n > 0 {
		gs.warn("deep-stack",
			fmt.Sprintf("stacks deeper than %d frames; the outermost are left out",
				unwind.MaxDepth), n)
		gs.stacks.cut = 0
	}
}

// failure converts an error of a sample: to an *EndedError if
// the target has ended; otherwise the sample is lost.
func (b *Backend) failure(err error) error {
	if end := b.t.Diagnose(); end != nil {
		err = end
	}
	var traced *halt.TracedError
	switch {
	case errors.Is(err, halt.ErrExec):
		return &sampler.EndedError{End: sampler.Executed}
	case errors.Is(err, halt.ErrEnded):
		return &sampler.EndedError{End: sampler.Exited}
	case errors.Is(err, os.ErrPermission):
		return b.process.Denied(err)
	case errors.As(err, &traced):
		return &sampler.TracedError{By: traced.By,
			Err: fmt.Errorf("sampling process %d: %w", b.process.PID, err)}
	}
	return fmt.Errorf("sampling process %d: %w", b.process.PID, err)
}
