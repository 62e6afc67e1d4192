package unwind

import (
	"fmt"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// An Unwinder unwinds stacks of one program, and remembers what
// it learns about places in the program's code. It is not safe
// for concurrent use.
type Unwinder struct {
	table    *pclntab.Table
	arm64    bool
	lo, hi   uint64 // bounds of the Go code
	maxDepth int

	sites []site
	// index is an open hash table of places. A key is an address
	// shifted left by one, with the lowest bit set if it is
	// exact; 0 is free. The table's size is a power of two.
	index []slot
}

type slot struct {
	key  uint64
	site Site
}

// A site is what the unwinder knows about a place in the code.
type site struct {
	pc     uint64
	exact  bool
	known  bool // the place is in a function
	kind   goruntime.FrameKind
	flags  pclntab.Flags
	delta  int32 // bytes of stack that the frame uses; -1 if the table does not have it
	frames []pclntab.Frame
}

// New returns an unwinder for a program, given its processor (GOARCH).
func New(t *pclntab.Table, arch string) (*Unwinder, error) {
	if arch != "amd64" && arch != "arm64" {
		return nil, fmt.Errorf("unwinding stacks of processor %q is not supported: only amd64 and arm64 are", arch)
	}
	u := &Unwinder{table: t, arm64: arch == "arm64", maxDepth: MaxDepth, index: make([]slot, 1<<10)}
	u.lo, u.hi = t.Text()
	return u, nil
}

// SetMaxDepth sets the number of physical frames after which a
// walk is cut. The default is MaxDepth.
func (u *Unwinder) SetMaxDepth(n int) { u.maxDepth = n }

// Frames returns the logical frames of a place, innermost first.
// The last one is the function itself; those before it were
// inlined. The result does not change, belongs to the unwinder,
// and must not be modified.
func (u *Unwinder) Frames(s Site) []pclntab.Frame {
	p := &u.sites[s]
	if p.frames == nil {
		p.frames = u.symbolise(p)
	}
	return p.frames
}

// symbolise looks up the call before a return address, since the
// instruction after the call may belong to another line. At the
// start of a function there is no call before the address. Two
// addresses are of that kind: runtime.goexit's first
// instruction, to which nothing returns, and the entry of a new
// goroutine's function.
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

// at returns the site of a place within the bounds of the code.
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

// hash spreads addresses, which differ in their low bits, over all bits.
func hash(key uint64) uint64 {
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>32
}

// grow doubles the size of the index.
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

// learn looks up a place in the tables.
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
