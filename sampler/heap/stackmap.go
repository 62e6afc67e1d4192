package heap

import (
	"cmp"
	"slices"
	"sort"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// The compiler says which words of a frame have pointers that
// the function still uses, at each call. Others are stale: they
// would keep what nothing needs. If nothing is known of a stack
// or of a frame, all its words count.

// A frameMap is what is known of frames at one return address.
type frameMap struct {
	pclntab.StackMap
	size  uint64 // up to the caller's frame
	whole bool   // all words of the frame count
	top   bool   // it is the first frame of the stack
	known bool
}

// An addressed is a variable on a stack whose address was taken.
// It counts if something that counts points into it.
type addressed struct {
	lo, hi uint64
	done   bool
}

// wordsOf returns the words of a goroutine's stack that count.
func (x *Examination) wordsOf(g *goroutine) []uint64 {
	if g.words == nil {
		g.words = gostate.Words(g.stack)
		if used, ok := x.usedWords(g); ok {
			g.words = used
		}
	}
	return g.words
}

// usedWords returns the words of a parked goroutine's stack that
// it still uses. It returns false if that is not known.
func (x *Examination) usedWords(g *goroutine) (used []uint64, ok bool) {
	parked := g.waits() || g.status == goruntime.GSyscall
	deferred, simple := x.deferredOf(g)
	if !parked || g.doubt != "" || !simple {
		return nil, false
	}
	frames, r := x.unwind(g)
	if r != (unwind.Result{}) || len(frames) == 0 || frames[0].SP < g.used {
		return nil, false
	}
	s := stackWords{words: gostate.Words(g.stack), lo: g.used}
	s.keep = make([]bool, len(s.words))
	s.keepAll(g.used, frames[0].SP)
	for i, f := range frames {
		m := x.frameMap(f.PC)
		end := f.SP + m.size
		switch {
		case !m.known || f.Exact:
			return nil, false
		case m.top: // nothing above it counts
		case i+1 == len(frames) || frames[i+1].SP != end:
			return nil, false
		case m.whole:
			s.keepAll(f.SP, end)
		default:
			s.keepFrame(m, x.argumentsAt(end))
		}
	}
	for _, at := range deferred {
		s.keepWord(at + goruntime.DeferFn) // no map has it
	}
	for _, ws := range [][]uint64{gostate.Words(g.raw), g.content} {
		for _, w := range ws {
			s.push(w)
		}
	}
	s.follow()
	return s.kept(), true
}

// argumentsAt returns where the arguments of a frame are, given its end.
func (x *Examination) argumentsAt(end uint64) uint64 {
	if x.bin.Arch == "arm64" {
		return end + 8 // above the callee's return address
	}
	return end
}

// frameMap returns what is known of frames at a return address.
func (x *Examination) frameMap(pc uint64) *frameMap {
	m, ok := x.frameMaps[pc]
	if !ok {
		m = x.readFrameMap(pc)
		x.frameMaps[pc] = m
	}
	return m
}

// maxArguments is the number of words of arguments up to which a
// map is used.
const maxArguments = 1 << 12

func (x *Examination) readFrameMap(pc uint64) *frameMap {
	f, ok := x.bin.Table.Func(pc)
	if !ok || goruntime.FrameKindOf(f.Name()) != goruntime.FrameOrdinary {
		return &frameMap{}
	}
	delta, ok := f.SPDelta(pc)
	if !ok {
		return &frameMap{}
	}
	m := &frameMap{size: uint64(delta), top: f.Flags&pclntab.TopFrame != 0, known: true}
	least := uint64(24) // a smaller frame has no local variables
	if x.bin.Arch != "arm64" {
		m.size += 8 // the return address
		least = 16
	}
	call := pc
	if pc != f.Entry {
		call--
	}
	m.StackMap, ok = f.StackMap(call)
	fits := uint64(m.Locals.N)*8 <= m.size && m.Args.N <= maxArguments
	m.known = ok && fits || m.top
	m.whole = !m.HasLocals && m.size > least
	return m
}

// deferredOf returns a goroutine's list of deferred calls: the
// addresses of their records. It returns false if one is not on
// its stack, or if it panics.
func (x *Examination) deferredOf(g *goroutine) (list []uint64, ok bool) {
	l := &x.bin.Layout.G
	if memory.Word(g.raw, int(l.M)-goruntime.PanicBeforeM) != 0 {
		return nil, false
	}
	link := x.bin.Release.DeferLink()
	for at := memory.Word(g.raw, int(l.M)-goruntime.DeferBeforeM); at != 0; {
		if at < g.used || at+link+8 > g.hi || len(list) > len(g.stack) {
			return nil, false
		}
		list = append(list, at)
		at = memory.Word(g.stack, int(at+link-g.used))
	}
	return list, true
}

// stackWords are the words of a stack, and which of them count.
type stackWords struct {
	words   []uint64
	keep    []bool
	lo      uint64
	objects []addressed
	todo    []uint64
}

// keepAll keeps all words in a range.
func (s *stackWords) keepAll(from, to uint64) {
	for at := from; at < to; at += 8 {
		s.keepWord(at)
	}
}

// keepWord keeps one word, if it is on the stack.
func (s *stackWords) keepWord(at uint64) {
	i := (at - s.lo) / 8
	if at >= s.lo && i < uint64(len(s.words)) && !s.keep[i] {
		s.keep[i] = true
		s.push(s.words[i])
	}
}

// push follows a pointer to a variable on the stack.
func (s *stackWords) push(w uint64) {
	if w >= s.lo && w < s.lo+uint64(len(s.words))*8 {
		s.todo = append(s.todo, w)
	}
}

// keepFrame keeps the words of a frame that the map has. A saved
// frame pointer lies above the local variables, and on amd64 the
// return address.
func (s *stackWords) keepFrame(m *frameMap, args uint64) {
	locals := args - 16
	for k := range m.Locals.N {
		if m.Locals.Has(k) {
			s.keepWord(locals - uint64(m.Locals.N-k)*8)
		}
	}
	for k := range m.Args.N {
		if m.Args.Has(k) {
			s.keepWord(args + uint64(k)*8)
		}
	}
	for _, o := range m.Objects {
		at := args
		if o.Offset < 0 {
			at = locals
		}
		at += uint64(int64(o.Offset))
		s.objects = append(s.objects, addressed{lo: at, hi: at + uint64(o.Size)})
	}
}

// follow keeps the variables that words point to, and those that
// these point to.
func (s *stackWords) follow() {
	slices.SortFunc(s.objects, func(a, b addressed) int { return cmp.Compare(a.lo, b.lo) })
	for len(s.todo) > 0 {
		w := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		k := sort.Search(len(s.objects), func(i int) bool { return s.objects[i].lo > w }) - 1
		if k >= 0 && w < s.objects[k].hi && !s.objects[k].done {
			s.objects[k].done = true
			s.keepAll(s.objects[k].lo, s.objects[k].hi)
		}
	}
}

// kept returns the words that count.
func (s *stackWords) kept() []uint64 {
	kept := make([]uint64, 0, 32)
	for i, w := range s.words {
		if s.keep[i] && w != 0 {
			kept = append(kept, w)
		}
	}
	return kept
}
