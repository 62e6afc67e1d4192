package lockholder

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
)

// A Held is a lock that a goroutine holds.
type Held struct {
	Lock uint64 // address of the sync.Mutex or sync.RWMutex
	Mode Mode
}

// Held appends the locks that a goroutine holds, each once. Its frames come from the innermost to the outermost.
// Registers are those of the innermost frame, by the numbers that instructions have for them; nil where it is not
// known what they were. What isn't complete is worth asking again after a Refill.
func (a *Analyzer) Held(dst []Held, frames []unwind.Frame, m Memory, registers []uint64) (held []Held, complete bool) {
	complete = true
	first := len(dst)
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.System {
			continue
		}
		p := a.place(f)
		switch {
		case p == nil:
			dst, complete = dst[:first], false
			continue
		case p.Void:
			dst = dst[:first]
			continue
		case len(p.Holds) == 0 && len(p.Releases) == 0:
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		dst = p.apply(dst, first, &fr)
	}
	return dst, complete
}

// apply changes what the frames outside of this one hold to what they and this one hold.
func (p *Place) apply(dst []Held, first int, f *frame) []Held {
	for _, r := range p.Releases {
		lock, ok := r.Lock.eval(f)
		kept := slices.DeleteFunc(dst[first:], func(h Held) bool { return h.Mode == r.Mode && (!ok || h.Lock == lock) })
		dst = dst[:first+len(kept)]
	}
	for _, c := range p.Holds {
		lock, ok := c.Lock.eval(f)
		if h := (Held{lock, c.Mode}); ok && lock != 0 && !slices.Contains(dst[first:], h) {
			dst = append(dst, h)
		}
	}
	return dst
}

// registers gives access to the registers of a frame that stands at an instruction and not in a call.
func (a *Analyzer) registers(frames []unwind.Frame, i int, m Memory, innermost []uint64) func(int) (uint64, bool) {
	if !frames[i].Exact {
		return nil
	}
	if i == 0 {
		return func(r int) (uint64, bool) {
			if r >= len(innermost) {
				return 0, false
			}
			return innermost[r], true
		}
	}
	inner := &frames[i-1]
	p := a.place(inner)
	if p == nil || p.Saved == nil {
		return nil
	}
	return func(r int) (uint64, bool) {
		at, ok := p.Saved[r]
		if !ok {
			return 0, false
		}
		return m.Stack(inner.SP + uint64(at))
	}
}
