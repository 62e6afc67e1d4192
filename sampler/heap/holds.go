package heap

import (
	"errors"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Hold is a lock that a stuck goroutine holds, by the code of
// a function that it is in.
type Hold struct {
	syncflow.Held
	In pclntab.Frame
}

const (
	maxAnalysed    = 1 << 14   // goroutines
	analysedWork   = 1_000_000 // in each round; see syncflow.Refill
	analysedRounds = 6         // what is large, or what others wait in, is known in a later one
)

// A reading analyses stacks in the copy, and what their pointers lead to.
type reading struct {
	x    *Examination
	code *syncflow.Analyzer
	g    *goroutine
}

// analyse finds out what stuck goroutines hold, and what they
// would do. The target is not halted for that. Code and what
// can't change in it is read where the copy does not have it.
func (x *Examination) analyse(groups []Group) {
	code, err := syncflow.New(syncflow.Program{Table: x.bin.Table, Arch: x.bin.Arch,
		Read: x.readNow})
	if err != nil {
		return
	}
	var todo []*Goroutine
	for i := range groups {
		if groups[i].Verdict == sampledata.Stuck {
			todo = append(todo, groups[i].Goroutines...)
		}
	}
	todo = todo[:min(len(todo), maxAnalysed)]
	for round := 0; round < analysedRounds && len(todo) > 0; round++ {
		code.Refill(analysedWork)
		for _, g := range todo {
			r := &reading{x, code, g.g}
			r.of(g)
		}
		if round > 0 { // locks of functions in which others wait are found in the second round
			todo = slices.DeleteFunc(todo, func(g *Goroutine) bool { return g.Known })
		}
	}
	x.name(groups, code)
}

// readNow reads memory of the target.
func (x *Examination) readNow(addr uint64, b []byte) error {
	if x.Source.ReadRanges([]memory.Range{{Addr: addr, Buf: b}}) > 0 {
		return errors.New("it can't be read")
	}
	return nil
}

// of finds out what one goroutine holds, and what it would do.
func (r *reading) of(g *Goroutine) {
	frames := r.frames()
	if g.Reason.Awaits == goruntime.AwaitsLock {
		r.code.Awaited(frames)
	}
	held, complete := r.code.Held(nil, frames, r, nil)
	g.Holds, g.Known = nil, complete
	for _, h := range held {
		g.Holds = append(g.Holds, Hold{h, r.holding(frames, h)})
	}
	uses, complete := r.code.Actions(nil, frames, r, nil)
	g.Known = g.Known && complete
	first := memory.Word(r.g.raw, int(r.x.bin.Layout.G.M)-goruntime.DeferBeforeM)
	g.Uses, complete = r.code.Deferred(uses, first, r.x.bin.Release, r)
	g.Known = g.Known && complete
}

// frames returns the frames of the goroutine without the
// runtime's own, which park it.
func (r *reading) frames() []unwind.Frame {
	frames, _ := r.x.unwind(r.g)
	for len(frames) > 1 && goruntime.IsRuntime(r.function(&frames[0]).Func) {
		frames = frames[1:]
	}
	return frames
}

// holding returns the outermost function by which a goroutine holds a lock.
func (r *reading) holding(frames []unwind.Frame, want syncflow.Held) pclntab.Frame {
	for i := len(frames) - 1; i > 0; i-- {
		held, _ := r.code.Held(nil, frames[i:], r, nil)
		for _, h := range held {
			if h.Lock == want.Lock && h.Mode == want.Mode {
				return r.function(&frames[i])
			}
		}
	}
	return r.function(&frames[0])
}

// function returns the function of a frame.
func (r *reading) function(f *unwind.Frame) pclntab.Frame {
	all := r.x.u.Frames(f.Site)
	if len(all) == 0 {
		return pclntab.Frame{}
	}
	return all[len(all)-1]
}

// Stack implements syncflow.Memory.
func (r *reading) Stack(addr uint64) (uint64, bool) {
	if addr < r.g.used || addr+8 > r.g.hi {
		return 0, false
	}
	off := int(addr - r.g.used)
	return memory.Word(r.g.stack, off), off+8 <= len(r.g.stack)
}

// Heap implements syncflow.Memory.
func (r *reading) Heap(addr uint64) (uint64, bool) {
	part := [1]memory.Range{{Addr: addr, Buf: make([]byte, 8)}}
	if (&copyReader{r.x}).ReadRanges(part[:]) == 0 {
		return memory.Word(part[0].Buf, 0), true
	}
	part[0].Buf = make([]byte, 8)
	err := r.x.readNow(addr, part[0].Buf)
	return memory.Word(part[0].Buf, 0), err == nil
}
