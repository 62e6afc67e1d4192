package delve

import (
	"fmt"
	"os"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

const (
	// how often all stacks are shown to the finder: what one
	// round learns, the next one may need
	coreRounds = 4
	coreWork   = 2_000_000 // how much of the code is analysed in each; see syncflow.Refill
	coreNames  = 1000      // waits whose locks are named
)

// coreLocks finds the holders of locks in a core dump, who can
// end other waits, and the names of the locks. That takes no
// program that runs, but only its code and memory, which a core
// dump has: so it is the analysis of running programs.
type coreLocks struct {
	a       *Backend
	bin     *gobinary.Binary
	u       *unwind.Unwinder
	finder  *holders.Finder
	sink    sampledata.Sink
	changes []sampledata.Change // by key, in the only sample
	of      []*goroutine        // by key
}

var _ holders.Sample = (*coreLocks)(nil)

// newCoreLocks reads a program's executable, whose entry point
// is at an address in the core dump. The caller closes the file
// when it needs the result no more.
func newCoreLocks(a *Backend, executable *os.File, entry uint64) (*coreLocks, error) {
	bin, err := gobinary.Open(executable, entry)
	if err != nil {
		return nil, err
	}
	u, err := unwind.New(bin.Table, bin.Arch)
	if err != nil {
		return nil, err
	}
	l := &coreLocks{a: a, bin: bin, u: u}
	l.finder, err = holders.New(holders.Config{
		Program: syncflow.Program{Table: bin.Table, Arch: bin.Arch, Read: a.capture.mem.read},
		Release: bin.Release, Sudog: bin.Layout.Sudog,
		ThreadTime: func() time.Duration { return 0 }, Now: func() time.Duration { return 0 },
	}, l)
	return l, err
}

// find completes the changes of the sample. All goroutines have one.
func (l *coreLocks) find(sink sampledata.Sink, changes []sampledata.Change) {
	c := &l.a.capture
	l.sink, l.changes, l.of = sink, changes, nil
	for i := range c.goroutines {
		if g := &c.goroutines[i]; g.id(c.l) != 0 {
			l.of = append(l.of, g)
		}
	}
	if len(l.of) != len(changes) {
		return
	}
	l.finder.Grow(len(l.of))
	for round, spent := uint32(1), -1; round <= coreRounds && spent != l.finder.Spent(); round++ {
		spent = l.finder.Spent()
		l.round(round)
	}
}

// round shows all goroutines to the finder, as a sample of a
// running program does.
func (l *coreLocks) round(number uint32) {
	l.finder.Begin(number)
	var runnable []int32
	for k := range l.of {
		l.finder.Parked(l.reason(k).Awaits)
	}
	l.finder.Allow(coreWork)
	for k, g := range l.of {
		frames, mem, partial := l.stack(g)
		l.finder.Stack(int32(k), &holders.Stack{
			Frames: frames, Memory: mem,
			Deferred: word(g.raw, l.a.capture.l.G.M-goruntime.DeferBeforeM), Partial: partial,
		})
		if l.changes[k].State.Run == sampledata.Runnable {
			runnable = append(runnable, int32(k))
		}
	}
	for k := range l.of {
		l.finder.AtHalt(int32(k), l.reason(k).Awaits == goruntime.AwaitsLock)
	}
	l.finder.Expect()
	l.a.halter.ReadRanges(l.finder.FirstReads())
	l.a.halter.ReadRanges(l.finder.SecondReads())
	for k, g := range l.of {
		was := l.changes[k].State
		now := was
		if now.Run == sampledata.Blocked || now.Run == sampledata.Waiting {
			l.finder.Wait(int32(k), l.reason(k), &was, &now, word(g.raw, l.a.capture.l.G.Waiting))
		}
		if was.Lock != 0 && now.Lock == 0 {
			now.Lock = was.Lock // it is known from the table of semaphores
		}
		l.changes[k].State = now
	}
	l.finder.Find(holders.Halt{Consistent: true, Whole: true, Woken: [2][]int32{runnable}})
}

// reason returns what a goroutine waits for; without a text if
// it doesn't wait.
func (l *coreLocks) reason(key int) goruntime.WaitReason { return l.a.capture.reason(l.of[key]) }

// stack unwinds a goroutine's stack, innermost frame first.
func (l *coreLocks) stack(g *goroutine) (frames []unwind.Frame, mem *coreMemory, partial bool) {
	at := &l.a.capture.l.G
	mem = &coreMemory{l: l}
	mem.addStack(g.raw)
	c := unwind.Context{
		StackLo: word(g.raw, at.StackLo), StackHi: word(g.raw, at.StackHi),
		SchedPC: word(g.raw, at.SchedPC), SchedSP: word(g.raw, at.SchedSP), SchedLR: word(g.raw, at.SchedLR),
		SyscallPC: word(g.raw, at.SyscallPC), SyscallSP: word(g.raw, at.SyscallSP),
	}
	if g.thread != nil && g.status != goruntime.GSyscall {
		r := g.thread.regs
		c.OnThread, c.Regs = true, unwind.Registers{PC: r.PC(), SP: r.SP()}
		// others have no link register, and Delve panics if it
		// is asked for one
		if l.bin.Arch == "arm64" {
			c.Regs.LR = r.LR()
		}
		for _, field := range []layout.Offset{l.a.capture.l.M.G0, l.a.capture.l.gsignal} {
			mem.addStack(l.a.capture.mem.get(word(g.m, field), int(l.a.capture.l.G.Size)))
		}
	}
	frames, r := l.u.Unwind(nil, mem, &c)
	return frames, mem, r.Cut || r.Torn
}

// names passes the names of the locks that goroutines wait for
// to the sink.
func (l *coreLocks) names(executable *os.File) {
	n, err := lockname.New(executable, l.bin.Bias, l.a.capture.mem.read)
	if err != nil {
		l.sink.Warn("no-lock-names", fmt.Sprintf("the names of locks are not known: %v", err), 1)
		return
	}
	named, asked := map[uint64]bool{}, 0
	for k, g := range l.of {
		s := l.changes[k].State
		if s.Run != sampledata.Blocked || s.Lock == 0 || named[s.Lock] || asked == coreNames {
			continue
		}
		asked++
		frames, mem, _ := l.stack(g)
		if len(frames) == 0 {
			continue
		}
		base, stack := mem.Segment(frames[0].SP)
		if name := n.Name(lockname.NewWaiter(s.Lock, base, stack, l.u, frames,
			l.finder.LockPaths)); name != "" {
			named[s.Lock] = true
			l.sink.LockName(sampledata.LockName{Address: s.Lock, Name: name})
		}
	}
}

// Sighting implements blame.Sample: all was seen at one moment, and nothing
// moves.
func (l *coreLocks) Sighting(key int32) holders.Sighting {
	g, s := l.of[key], &l.changes[key]
	return holders.Sighting{
		ID: s.Goroutine, Exists: true, Still: g.thread == nil, InHalt: true, Stood: true,
		Addr: g.addr,
		Wait: holders.Wait{Goroutine: g.id(l.a.capture.l)}, ParkedBy: l.reason(int(key)),
		Run: s.State.Run,
	}
}

// Recheck implements blame.Sample.
func (l *coreLocks) Recheck(ranges []copied.Range, _ []int32) { l.a.halter.ReadRanges(ranges) }

// HolderSet implements blame.Sample.
func (l *coreLocks) HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID {
	return l.sink.HolderSet(ids)
}

// SetReason implements holders.Sample.
func (l *coreLocks) SetReason(key int32, reason string) { l.changes[key].State.Reason = reason }

// Update implements holders.Sample.
func (l *coreLocks) Update(key int32, lock uint64, e sampledata.Evidence,
	holders sampledata.HolderSetID) {
	s := &l.changes[key].State
	s.Lock, s.Evidence, s.Holders = lock, e, holders
}
