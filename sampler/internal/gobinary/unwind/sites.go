package unwind

import (
	"fmt"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

// An Unwinder walks stacks of one program and remembers what it learns about places in its code. It is for one
// goroutine at a time.
type Unwinder struct {
	table    *pclntab.Table
	arm64    bool
	lo, hi   uint64 // bounds of the Go code
	maxDepth int

	sites []site
	// index is an open hash table of places: keys are addresses shifted left, with the lowest bit for exact; 0 is
	// free. Its size is a power of two.
	index []slot
}

type slot struct {
	key  uint64
	site Site
}

// A site is what the unwinder knows of a place in the code.
type site struct {
	pc     uint64
	exact  bool
	known  bool // in a function
	kind   goruntime.FrameKind
	flags  pclntab.Flags
	delta  int32 // what the frame takes of the stack, -1 where the table does not tell
	frames []pclntab.Frame
}

// New returns an unwinder for a program on a processor (GOARCH).
func New(t *pclntab.Table, arch string) (*Unwinder, error) {
	if arch != "amd64" && arch != "arm64" {
		return nil, fmt.Errorf("unwinding stacks of processor %q is not supported: only amd64 and arm64 are", arch)
	}
	u := &Unwinder{table: t, arm64: arch == "arm64", maxDepth: MaxDepth, index: make([]slot, 1<<10)}
	u.lo, u.hi = t.Text()
	return u, nil
}

// SetMaxDepth sets the number of physical frames after which a walk is cut, MaxDepth at first.
func (u *Unwinder) SetMaxDepth(n int) { u.maxDepth = n }

// PC returns the address of a place, and whether it is exact.
func (u *Unwinder) PC(s Site) (pc uint64, exact bool) { return u.sites[s].pc, u.sites[s].exact }

// Frames returns the logical frames of a place, innermost first; the last one is the function itself, those before it
// were inlined. They stay the same while the unwinder lives and belong to it.
func (u *Unwinder) Frames(s Site) []pclntab.Frame {
	p := &u.sites[s]
	if p.frames == nil {
		p.frames = u.symbolise(p)
	}
	return p.frames
}

// symbolise looks up the call before a return address, as the instruction behind it may belong to another line. At
// the start of a function there is no call: runtime.goexit's first instruction is never returned to, and a new
// goroutine stands at its entry.
func (u *Unwinder) symbolise(p *site) []pclntab.Frame {
	f, ok := u.table.Func(p.pc)
	if !ok {
		return []pclntab.Frame{}
	}
	pc := p.pc
	if !p.exact && pc > f.Entry {
		pc--
	}
	return f.Frames(nil, pc)
}

// inText reports whether an address may be Go code.
func (u *Unwinder) inText(pc uint64) bool { return pc >= u.lo && pc < u.hi }

// at returns the site of a place in the code's bounds.
func (u *Unwinder) at(pc uint64, exact bool) Site {
	key := pc << 1
	if exact {
		key |= 1
	}
	mask := uint64(len(u.index) - 1)
	i := hash(key) & mask
	for ; u.index[i].key != 0; i = (i + 1) & mask {
		if u.index[i].key == key {
			return u.index[i].site
		}
	}
	s := Site(len(u.sites))
	u.sites = append(u.sites, u.learn(pc, exact))
	u.index[i] = slot{key, s}
	if len(u.sites)*2 > len(u.index) {
		u.grow()
	}
	return s
}

// hash spreads addresses, whose differences are in the low bits, over all bits.
func hash(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// grow doubles the index.
func (u *Unwinder) grow() {
	old := u.index
	u.index = make([]slot, 2*len(old))
	mask := uint64(len(u.index) - 1)
	for _, s := range old {
		if s.key == 0 {
			continue
		}
		i := hash(s.key) & mask
		for u.index[i].key != 0 {
			i = (i + 1) & mask
		}
		u.index[i] = s
	}
}

// learn looks a place up in the tables.
func (u *Unwinder) learn(pc uint64, exact bool) site {
	s := site{pc: pc, exact: exact, delta: -1}
	f, ok := u.table.Func(pc)
	if !ok {
		return s
	}
	s.known, s.flags, s.kind = true, f.Flags, goruntime.FrameKindOf(f.Name())
	if d, ok := f.SPDelta(pc); ok {
		s.delta = d
	}
	return s
}
