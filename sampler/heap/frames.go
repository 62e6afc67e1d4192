package heap

import (
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// unwind returns the physical frames of a parked goroutine, innermost first.
func (x *Examination) unwind(g *goroutine) ([]unwind.Frame, unwind.Result) {
	mem := memory.Copy{{Addr: g.used, Buf: g.stack}}
	return x.u.Unwind(nil, mem, &unwind.Context{
		StackLo: g.lo, StackHi: g.hi, SchedPC: g.pc, SchedSP: g.sp, SchedLR: g.lr,
		SyscallPC: g.sysPC, SyscallSP: g.sysSP,
	})
}

// frames returns the logical frames of a parked goroutine, innermost first.
func (x *Examination) frames(g *goroutine) (all []pclntab.Frame, whole bool) {
	physical, r := x.unwind(g)
	for _, f := range physical {
		all = append(all, x.u.Frames(f.Site)...)
	}
	return all, !r.Torn
}

// argumentWord is how far above its frame the callee may keep
// its first argument.
const argumentWord = 16

// condFrame returns the words in the frame of Cond.Wait, and its argument.
func (x *Examination) condFrame(g *goroutine) []uint64 {
	frames, _ := x.unwind(g)
	for i, f := range frames {
		names := x.u.Frames(f.Site)
		if len(names) == 0 || i+1 >= len(frames) {
			continue
		}
		for _, n := range names {
			if n.Func == "sync.(*Cond).Wait" {
				lo, hi := f.SP-g.used, min(frames[i+1].SP+argumentWord-g.used, uint64(len(g.stack)))
				if f.SP < g.used || lo > hi || lo%8 != 0 {
					return nil
				}
				return gostate.Words(g.stack[lo:hi])
			}
		}
	}
	return nil
}
