package syncflow

import (
	"encoding/binary"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

// FuzzCode lets a function consist of whatever bytes: the
// analysis ends, and nothing is out of bounds. The function is
// one of a real program's, whose table goes on saying which
// calls are inlined in it.
func FuzzCode(f *testing.F) {
	programs := []Program{build(f, "amd64"), build(f, "arm64")}
	names := []string{"main.(*thing).field", "main.(*shared).read", "main.(*thing).deferredList", "main.nested", "main.choose",
		"main.cond"}
	for i, p := range programs {
		for k, fn := range p.Table.Find(names...) {
			code := make([]byte, fn.End-fn.Entry)
			if err := p.Read(fn.Entry, code); err != nil {
				f.Fatal(k, err)
			}
			f.Add(i == 1, uint8(k[len(k)-1]), code)
		}
	}
	f.Fuzz(func(t *testing.T, arm64 bool, which uint8, code []byte) {
		p := programs[0]
		if arm64 {
			p = programs[1]
		}
		name := names[int(which)%len(names)]
		fn := p.Table.Find(name)[name]
		real := p.Read
		p.Read = func(addr uint64, b []byte) error {
			if err := real(addr, b); err != nil {
				return err
			}
			if addr < fn.End && addr+uint64(len(b)) > fn.Entry && addr >= fn.Entry {
				copy(b, code[min(uint64(len(code)), addr-fn.Entry):])
			}
			return nil
		}
		a := fixture.Must(New(p))(t)
		a.Refill(1 << 20)
		var frames []unwind.Frame
		for pc := fn.Entry; pc < fn.End; pc++ {
			frames = append(frames, unwind.Frame{PC: pc, SP: 1 << 20, Site: unwind.Site(2 * (pc - fn.Entry)), Exact: true},
				unwind.Frame{PC: pc, SP: 1 << 20, Site: unwind.Site(2*(pc-fn.Entry) + 1)})
		}
		held, _ := a.Held(nil, frames, words(code), make([]uint64, 16))
		if len(held) > len(frames)*64 {
			t.Errorf("%d locks", len(held))
		}
		uses, _ := a.Actions(nil, frames, words(code), make([]uint64, 16))
		if len(uses) > len(frames)*maxActions {
			t.Errorf("%d uses", len(uses))
		}
		a.DeferredActions(nil, fn.Entry, words(code))
		a.effectsOf(a.callee(fn.Entry), 1)
		a.argumentActions(a.callee(fn.Entry), maxActionDepth)
	})
}

// words is memory that repeats some bytes.
type words []byte

func (w words) Stack(addr uint64) (uint64, bool) {
	if len(w) < 8 || addr%3 == 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(w[addr%uint64(len(w)-7):]), true
}

func (w words) Heap(addr uint64) (uint64, bool) { return w.Stack(addr + 1) }
