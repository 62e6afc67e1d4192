package holders

import (
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Config describes the program.
type Config struct {
	Program syncflow.Program
	Release goruntime.Release
	Sudog   layout.Sudog
	// ThreadTime returns the processor time that the calling thread has used.
	ThreadTime func() time.Duration
	// Now returns the program's monotonic time; 0 if it does not run.
	Now func() time.Duration
}

// A Finder finds out for whom the goroutines of one program
// wait. It is not safe for concurrent use.
type Finder struct {
	shared
	reads   reads
	holders holders
	enders  enders
}

// shared is the state that all parts of a finder share.
type shared struct {
	sample  Sample
	number  uint32   // number of the current sample
	records []record // by key
	code    learner
	release goruntime.Release
	sudog   layout.Sudog // its size is 0 if it is not known
}

// New returns a finder that reports to a sample.
func New(c Config, s Sample) (*Finder, error) {
	analyzer, err := syncflow.New(c.Program)
	if err != nil {
		return nil, err
	}
	return newFinder(c, s, learner{Analyzer: analyzer, threadTime: c.ThreadTime}), nil
}

// newFinder creates a finder with all its parts.
func newFinder(c Config, s Sample, code learner) *Finder {
	if c.Sudog.Size < 0 || c.Sudog.Size > 1<<12 {
		c.Sudog.Size = 0
	}
	f := &Finder{shared: shared{sample: s, release: c.Release, sudog: c.Sudog, code: code}}
	f.reads = newReads(&f.shared)
	f.holders = holders{shared: &f.shared, reads: &f.reads, index: map[wish]int{},
		refuted: map[wish]bool{}, released: map[wish]uint32{}}
	f.enders = enders{
		shared: &f.shared,
		index:  map[syncflow.Action][]int32{}, found: map[syncflow.Action]enderSet{},
	}
	f.enders.timers = timers{shared: &f.shared, clock: c.Now, ends: map[sampledata.NodeID]ends{}}
	return f
}

// Begin starts a sample. Samples have numbers from 1 on.
func (f *Finder) Begin(number uint32) {
	f.number = number
	f.code.refill(len(f.holders.waiting) > 0)
	f.reads.begin()
	f.enders.begin()
}

// Reset forgets all goroutines, but not what was learned about the code.
func (f *Finder) Reset() {
	clear(f.records)
	f.holders.waiting, f.holders.holding = f.holders.waiting[:0], f.holders.holding[:0]
	f.enders.reset()
}

// Grow makes room for goroutines with the keys below n.
func (f *Finder) Grow(n int) {
	if n > len(f.records) {
		f.records = append(f.records, make([]record, n-len(f.records))...)
	}
}

// An Interest is a set of questions about a stack.
type Interest uint8

const (
	Locks Interest = 1 << iota // which locks the goroutine holds
	Uses                       // which channels, groups and conditions it uses
)

// Interest returns the questions that stacks are asked at
// present: those about things that some goroutine waits for, or
// waited for lately.
func (f *Finder) Interest() (i Interest) {
	if f.holders.active {
		i |= Locks
	}
	if f.enders.active {
		i |= Uses
	}
	return i
}

// Answered returns the questions that were answered about a
// goroutine's stack. The answers are valid as long as the stack
// is unchanged.
func (f *Finder) Answered(key int32) (i Interest) {
	r := &f.records[key]
	if r.held.complete {
		i |= Locks
	}
	if r.uses.complete {
		i |= Uses
	}
	return i
}

// WantsStack reports whether the finder wants to see an
// unchanged stack again, because it had not learned enough about
// the code to answer all questions.
func (f *Finder) WantsStack(key int32) bool {
	r := &f.records[key]
	return f.holders.active && !r.held.complete ||
		f.enders.active && !r.uses.complete && f.enders.wantsStack()
}

// Parked records what a goroutine is parked for, before any
// stack is read. The first goroutine that waits for a lock makes
// the finder ask stacks about locks; likewise for channels,
// groups and conditions.
func (f *Finder) Parked(a goruntime.Awaited) {
	if f.holders.active && f.enders.active {
		return
	}
	switch {
	case a == goruntime.AwaitsLock && !f.holders.active:
		f.holders.activate()
	case a >= goruntime.AwaitsChannel && !f.enders.active:
		f.enders.active = true
		f.code.grant(firstLearningOther)
	}
}

// AtHalt reports whether the halt should see a goroutine that
// does not run again. waits reports whether it waits for a lock.
func (f *Finder) AtHalt(key int32, waits bool) bool {
	return f.reads.atHalt(key, waits, f.holders.active)
}

// SeenAtHalt returns the goroutines of this sample for which
// AtHalt returned true: those that wait for locks, and those
// that hold some.
func (f *Finder) SeenAtHalt() (waiting, holding []int32) { return f.reads.waiting, f.reads.holding }

// Expect prepares FirstReads. Call it after the last Stack
// before the halt, and before the halt itself.
func (f *Finder) Expect() {
	f.reads.expect(f.holders.contended)
}

// FirstReads returns the memory ranges that the halt must read
// for the finder. The halt stores the bytes in the elements.
func (f *Finder) FirstReads() []memory.Range { return f.reads.locks }

// SecondReads returns the ranges that the halt must read after FirstReads,
// likewise.
func (f *Finder) SecondReads() []memory.Range { return f.reads.expectSudogs() }

// Find finds out for whom goroutines wait. Call it after the
// halt and after all calls of Stack and Wait.
func (f *Finder) Find(h Halt) {
	f.holders.find(h)
	f.enders.find()
}

// Learned returns the processor time that learning has taken so far.
func (f *Finder) Learned() time.Duration { return f.code.took }

// Allow lets the finder learn so much at once in this sample, in
// the units of Spent. It is for a program that does not run: no
// later sample will show more of it.
func (f *Finder) Allow(work int) { f.code.Refill(work) }

// MayLearn sets what Learned may be until the next call. Without
// a call there is no bound.
func (f *Finder) MayLearn(most time.Duration) { f.code.most = max(most, 1) }

// IsLearning reports whether the last sample has shown something new.
func (f *Finder) IsLearning() bool { return f.code.recent }

// AppendKnown appends what was learned about the program's code, for Remember
// in another run of the program.
func (f *Finder) AppendKnown(b []byte) []byte { return f.code.AppendKnown(b) }

// Spent returns how much work learning was, in the units of syncflow.Refill.
func (f *Finder) Spent() int { return f.code.Spent() }

// Remember takes over what an earlier run has learned about the
// program's code. If it can't be read, nothing changes.
func (f *Finder) Remember(b []byte) error { return f.code.Remember(b) }

// LockPaths returns how a function reached the lock that it
// waits for; see syncflow.
func (f *Finder) LockPaths(frame *unwind.Frame) []syncflow.LockPath { return f.code.LockPaths(frame) }
