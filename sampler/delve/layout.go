package delve

import (
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A runtimeLayout has the addresses of the target runtime's
// variables, the offsets of its fields, and its wait reasons, by
// their numbers.
type runtimeLayout struct {
	*layout.Layout
	pSize         int // only the beginning of a p is needed
	gsignal, bp   layout.Offset
	labelsAreMaps bool // up to Go 1.23

	allgs, allp, gomaxprocs, sched, gcphase, semtable uint64
	semtableSize                                      int

	reasons goruntime.Reasons
}

// newLayout reads types and variables from the debug information.
func newLayout(bi *proc.BinaryInfo, mem *memory) (*runtimeLayout, error) {
	l := &runtimeLayout{Layout: layout.Of(func(name, path string) layout.Offset {
		t, err := bi.FindType("runtime." + name)
		if err != nil {
			return layout.Missing
		}
		return layout.OffsetIn(t, path)
	})}
	for _, o := range []*layout.Offset{
		&l.G.Size, &l.G.StackLo, &l.G.StackHi, &l.G.M, &l.G.SchedSP, &l.G.SchedPC, &l.G.SyscallSP,
		&l.G.SyscallPC, &l.G.AtomicStatus, &l.G.Goid, &l.G.WaitReason, &l.G.GoPC, &l.G.StartPC,
		&l.G.Waiting, &l.M.Size, &l.M.ProcID, &l.M.CurG, &l.M.G0, &l.M.P, &l.P.Status, &l.P.M,
		&l.Sudog.Size, &l.Sudog.G, &l.Sudog.Next, &l.Sudog.Prev, &l.Sudog.Elem, &l.Sudog.WaitLink,
		&l.Sched.Size,
	} {
		if !o.Has() {
			return nil, fmt.Errorf("the debug information has no runtime.%s: this Go version is not supported", l.NameOf(o))
		}
	}
	l.pSize = int(max(l.P.Status, l.P.M, l.P.SyscallTick)) + 8
	l.gsignal, l.bp = l.M.ProcID+goruntime.MGSignalAfterProcID, l.G.SchedLR+goruntime.BPAfterLR
	if t, err := bi.FindType("runtime/pprof.labelMap"); err == nil {
		_, l.labelsAreMaps = godwarf.ResolveTypedef(t).(*godwarf.MapType)
	}
	return l, l.variables(bi, mem)
}

// variables finds the addresses of the runtime's variables, and reads the
// wait reasons, which never change.
func (l *runtimeLayout) variables(bi *proc.BinaryInfo, mem *memory) (err error) {
	scope := &proc.EvalScope{
		Mem: mem, BinInfo: bi, Regs: op.DwarfRegisters{StaticBase: bi.Images[0].StaticBase},
	}
	var reasons uint64
	for _, v := range []struct {
		name string
		to   *uint64
	}{
		{"allgs", &l.allgs}, {"allp", &l.allp},
		{"gomaxprocs", &l.gomaxprocs}, {"sched", &l.sched}, {"gcphase", &l.gcphase},
		{"semtable", &l.semtable}, {"waitReasonStrings", &reasons},
	} {
		x, err := scope.EvalExpression("runtime."+v.name, proc.LoadConfig{})
		if err != nil {
			return fmt.Errorf("debug information of runtime.%s: %w", v.name, err)
		}
		*v.to = x.Addr
		if v.to == &l.semtable {
			l.semtableSize = int(x.RealType.Size())
		}
	}
	// A server reads what was asked for before: all texts are
	// asked for at once.
	headers := make([]byte, 64*16)
	_ = mem.read(reasons, headers)
	for i := 0; i < len(headers) && word(headers, i+8) < 200; i += 16 {
		_ = mem.read(word(headers, i), make([]byte, word(headers, i+8)))
	}
	if l.reasons, err = goruntime.ReadReasons(mem.read, reasons); err != nil {
		return fmt.Errorf("reading runtime.waitReasonStrings: %w", err)
	}
	return nil
}
