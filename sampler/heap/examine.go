package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Config is what an examination needs.
type Config struct {
	Source  Source
	Binary  *gobinary.Binary
	Reasons goruntime.Reasons // of the target
	// the id of a thread outside of the target's container; nil: the same
	Outer func(tid int) int
	// reads the debug information when it is first called; nil:
	// nothing is named
	Namer func() (*lockname.Namer, error)

	Halting   sync.Locker   // held while the target is halted; nil: none
	MaxHalt   time.Duration // 0: DefaultMaxHalt
	MaxMemory int64         // bytes; 0: DefaultMaxMemory
	MaxCPU    float64       // CPUs; 0: one
	Progress  func(Progress)
	// returns the CPU time that the calling thread has used; nil: the
	// time that passes is taken for it
	ThreadTime func() time.Duration
}

// Defaults of a Config.
const (
	DefaultMaxHalt   = 20 * time.Millisecond
	DefaultMaxMemory = 1 << 30
)

// A Progress is how far a pass has come.
type Progress struct {
	Pass           int // from 1 on
	Scanned, Whole int64
}

// An Examination finds out which goroutines of a target can
// never run again.
type Examination struct {
	Config
	bin   *gobinary.Binary
	u     *unwind.Unwinder
	h     spans
	m     marker
	arena memory.Arena
	spare memory.Arena
	copy  []byte // of all spans with pointers; nil if they are read as they are needed

	masks       map[uint64][]byte
	stackBounds map[uint64][2]uint64
	isG         map[uint64]bool
	frameMaps   map[uint64]*frameMap // by return address

	passes   []Pass
	suspects map[uint64]suspect // by g; nil before the first pass
	before   map[uint64]suspect // those before the last pass
	w        *world             // of the last pass
	proved   bool
}

// A Pass is what one pass took.
type Pass struct {
	At         time.Time
	Took, Halt time.Duration
	Halted     bool  // all was copied in the halt
	Heap       int64 // bytes of spans in use
	Early      bool  // no candidate was left before all was marked
}

// A suspect is a goroutine that a pass has not reached.
type suspect struct {
	id     int64
	seq    byte
	sp, pc uint64
	awaits []uint64
}

// ErrUnknown reports that the layout of a target's heap is not known.
var ErrUnknown = errors.New("the layout of its heap is not known")

// New prepares an examination. It touches nothing.
func New(c Config) (*Examination, error) {
	l, g := c.Binary.Layout, &c.Binary.Globals
	if !l.HasHeap() || g.MHeap == 0 || g.SemTable == 0 || g.AllFin == 0 ||
		l.Cleanups.All.Has() && g.GCCleanups == 0 {
		return nil, fmt.Errorf("marking the heap of a program of %s: %w", c.Binary.Version,
			ErrUnknown)
	}
	u, err := unwind.New(c.Binary.Table, c.Binary.Arch)
	if err != nil {
		return nil, err
	}
	if c.Halting != nil {
		c.Source = &locked{c.Source, c.Halting}
	}
	c.MaxHalt = cmp.Or(c.MaxHalt, DefaultMaxHalt)
	c.MaxMemory = cmp.Or(c.MaxMemory, DefaultMaxMemory)
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	if c.Outer == nil {
		c.Outer = func(tid int) int { return tid }
	}
	if c.ThreadTime == nil {
		begin := time.Now() // it takes no more than that
		c.ThreadTime = func() time.Duration { return time.Since(begin) }
	}
	x := &Examination{
		Config: c, bin: c.Binary, u: u, masks: map[uint64][]byte{},
		stackBounds: map[uint64][2]uint64{},
		frameMaps:   map[uint64]*frameMap{},
		w:           &world{},
	}
	x.m = marker{h: &x.h, pace: &pace{most: c.MaxCPU, clock: c.ThreadTime}}
	return x, nil
}

// Suspects returns the number of goroutines that no pass has reached.
func (x *Examination) Suspects() int { return len(x.suspects) }

// Proved reports whether the last pass was a proof.
func (x *Examination) Proved() bool { return x.proved }

// Pass marks the heap while the target runs. It halts the target
// only to read stacks. Marks add up over passes, and what has
// moved since the previous pass is no suspect any more.
//
// A pass alone proves nothing: pointers move while it runs.
func (x *Examination) Pass(ctx context.Context) error {
	begin := time.Now()
	x.arena.Reset()
	c := x.copier(x.Source)
	var w *world
	x.arena.Reserve(1 << 20)
	took, unknown, err := x.Source.Halt(x.MaxHalt, func(r Reader, threads []Thread) (err error) {
		w, err = x.readWorld(x.copier(r), threads, true)
		return err
	}, func(r Reader, t Thread) { x.addThread(x.copier(r), w, t) })
	if err != nil {
		return x.failed(err, took)
	}
	if unknown > 0 {
		w.doubt("the registers of a thread are not known")
	}
	if err := x.readSpans(c); err != nil {
		return err
	}
	x.setG(w)
	x.finish(c, w, true)
	x.m.r, x.copy = x.Source, nil
	p := Pass{At: begin, Halt: took}
	x.mark(ctx, c, w, x.readRoots(c), &p)
	p.Took = time.Since(begin)
	x.passes = append(x.passes, p)
	return ctx.Err()
}

// failed returns the error of a halt. On a busy machine, a halt
// takes longer than its limit: twice the limit would not be
// enough.
func (x *Examination) failed(err error, took time.Duration) error {
	if errors.Is(err, ErrLong) {
		return fmt.Errorf("reading goroutines: %w", &LimitError{Halt: 2 * max(x.MaxHalt, took),
			Memory: x.h.scannable, Took: took})
	}
	return fmt.Errorf("reading goroutines, in a halt of %v: %w", took.Round(time.Microsecond), err)
}

func (x *Examination) readSpans(c gostate.Copier) error {
	return x.h.read(c, x.bin.Globals.MHeap, &x.bin.Layout.Heap,
		spanLayout{&x.bin.Layout.Span, x.bin.Release}, x.MaxMemory)
}

// setG notes the addresses of all g.
func (x *Examination) setG(w *world) {
	x.isG = make(map[uint64]bool, len(w.all))
	for _, g := range w.all {
		x.isG[g] = true
	}
}

// mark marks from the roots on until nothing changes any more.
func (x *Examination) mark(ctx context.Context, c gostate.Copier, w *world, r *roots, p *Pass) {
	x.w = w
	m := &x.m
	runtime.LockOSThread() // for its clock
	defer runtime.UnlockOSThread()
	m.pace.start(ctx)
	m.restart()
	before := m.scanned
	m.told = func() {
		x.Progress(Progress{Pass: len(x.passes) + 1, Scanned: m.scanned - before,
			Whole: x.h.scannable})
	}
	candidates := x.markRoots(c, w, r)
	p.Heap = x.h.inUse
	m.useless = func() bool {
		return ctx.Err() != nil ||
			!slices.ContainsFunc(candidates,
				func(g *goroutine) bool { return !g.live && !x.reached(g) })
	}
	left := len(candidates)
	for more := true; more && left > 0; {
		m.drain()
		if ctx.Err() != nil {
			return
		}
		more = false
		for _, g := range candidates {
			if !g.live && x.reached(g) {
				g.live, more = true, true
				left--
				x.markGoroutine(g)
			}
		}
		more = x.markWeak(r) || more
	}
	p.Early = left == 0
	x.suspect(w)
}

// markRoots marks what roots point to, and returns the candidates.
func (x *Examination) markRoots(c gostate.Copier, w *world, r *roots) (candidates []*goroutine) {
	m := &x.m
	for _, list := range [][]uint64{w.all, w.semas, r.skip} {
		for _, at := range list {
			m.skip(at)
		}
	}
	for i := range w.gs {
		g := &w.gs[i]
		if g.candidate && x.suspects != nil && !x.suspects[g.addr].is(g) {
			g.candidate = false
		}
		switch {
		case g.candidate:
			candidates = append(candidates, g)
			for _, s := range g.sudogs {
				m.skip(s)
			}
		case g.reason.Idle || x.collects(g):
		default:
			x.markGoroutine(g)
		}
	}
	for _, ws := range w.loose {
		m.roots(ws)
	}
	for _, ws := range r.words {
		m.roots(ws)
	}
	for _, object := range r.pinned {
		m.mark(object)
	}
	for _, object := range r.contents {
		if s, at := x.h.find(object); s != nil {
			b := c.Get(at, int(min(s.elem, maxContent)))
			if b == nil || s.elem > maxContent {
				m.mark(object)
			}
			m.roots(gostate.Words(b))
		}
	}
	return candidates
}

// maxContent is the size up to which the content of an object
// with a finalizer is read at once.
const maxContent = 1 << 20

// stillThere reports whether a goroutine was a suspect before
// the last pass, and has not moved.
func (x *Examination) stillThere(g *goroutine) bool {
	s := x.before[g.addr]
	return s.id == g.id && s.seq == g.seq && s.sp == g.sp && s.pc == g.pc
}

// is reports whether a goroutine has not moved since it became a suspect.
func (s suspect) is(g *goroutine) bool {
	return s.id == g.id && s.seq == g.seq && s.sp == g.sp && s.pc == g.pc &&
		slices.Equal(s.awaits, g.awaits)
}

// suspect takes note of the candidates that were not reached.
func (x *Examination) suspect(w *world) {
	x.before, x.suspects = x.suspects, map[uint64]suspect{}
	for i := range w.gs {
		if g := &w.gs[i]; g.candidate && !g.live {
			x.suspects[g.addr] = suspect{g.id, g.seq, g.sp, g.pc, slices.Clone(g.awaits)}
		}
	}
}

// collects reports whether a goroutine is one of the
// collector's, which runs no code of the program.
func (x *Examination) collects(g *goroutine) bool {
	f, ok := x.bin.Table.Func(memory.Word(g.raw, x.bin.Layout.G.StartPC))
	return ok && goruntime.IsCollector(f.Name())
}

// markGoroutine marks what a goroutine points to: from its
// stack, its g and its sudogs.
func (x *Examination) markGoroutine(g *goroutine) {
	x.m.roots(x.wordsOf(g))
	x.m.roots(gostate.Words(g.raw))
	x.m.roots(g.content)
}

// reached reports whether something live can end the wait of a
// goroutine. What is not on the heap counts as reached.
func (x *Examination) reached(g *goroutine) bool {
	if g.never {
		return false
	}
	for _, at := range g.awaits {
		if marked, exists := x.h.marked(at); at != 0 && (marked || !exists) {
			return true
		}
	}
	return false
}

// markWeak marks objects whose weak pointers were reached. It reports whether
// there was any.
func (x *Examination) markWeak(r *roots) (more bool) {
	for _, w := range r.weak {
		if reached, exists := x.h.marked(w.handle); exists && !reached {
			continue
		}
		if marked, exists := x.h.marked(w.object); exists && !marked {
			x.m.mark(w.object)
			more = true
		}
	}
	return more
}
