package delve

import (
	"errors"
	"fmt"
	"go/constant"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// absent is the offset of a field that this version of the runtime does not have.
const absent = -1

// A layout has the addresses of the target runtime's variables and the
// offsets of its fields, as far as they are needed.
type layout struct {
	allgs, allglen, allp, gomaxprocs, sched, gcphase, semtable uint64
	semtableSize                                               int

	g struct {
		size                                         int
		stackLo, stackHi, m, sp, pc, bp, lr          int
		syscallSP, syscallPC, syscallBP              int
		status, goid, reason, parent, creator, start int
		waiting, labels                              int
	}
	m     struct{ size, procid, curg, g0, gsignal, p, oldp, syscallTick int }
	p     struct{ size, status, m, syscallTick int }
	sudog struct{ size, g, next, prev, elem, elemNumber, waitlink int }

	gcwaiting     int // offset in sched
	schedSize     int
	labelsAreMaps bool // up to Go 1.23

	reasons []goruntime.WaitReason // by their numbers
}

// newLayout reads types and variables from the debug information.
func newLayout(bi *proc.BinaryInfo, mem proc.MemoryReadWriter) (*layout, error) {
	l := &layout{}
	if err := l.structs(bi); err != nil {
		return nil, err
	}
	if err := l.variables(bi, mem); err != nil {
		return nil, err
	}
	if t, err := bi.FindType("runtime/pprof.labelMap"); err == nil {
		_, l.labelsAreMaps = godwarf.ResolveTypedef(t).(*godwarf.MapType)
	}
	return l, nil
}

// A wanted field is one whose offset is needed. An optional one may be absent.
type wanted struct {
	path     string
	to       *int
	optional bool
}

func (l *layout) structs(bi *proc.BinaryInfo) error {
	for _, s := range []struct {
		name   string
		size   *int
		fields []wanted
	}{
		{"runtime.g", &l.g.size, []wanted{
			{"stack.lo", &l.g.stackLo, false}, {"stack.hi", &l.g.stackHi, false},
			{"m", &l.g.m, false},
			{"sched.sp", &l.g.sp, false}, {"sched.pc", &l.g.pc, false}, {"sched.bp", &l.g.bp, true},
			{"sched.lr", &l.g.lr, true},
			{"syscallsp", &l.g.syscallSP, false}, {"syscallpc", &l.g.syscallPC, false},
			{"syscallbp", &l.g.syscallBP, true},
			{"atomicstatus", &l.g.status, false}, {"goid", &l.g.goid, false},
			{"waitreason", &l.g.reason, false},
			{"parentGoid", &l.g.parent, true}, {"gopc", &l.g.creator, false},
			{"startpc", &l.g.start, false},
			{"waiting", &l.g.waiting, false}, {"labels", &l.g.labels, true},
		}},
		{"runtime.m", &l.m.size, []wanted{
			{"procid", &l.m.procid, false}, {"curg", &l.m.curg, false}, {"g0", &l.m.g0, false},
			{"gsignal", &l.m.gsignal, false},
			{"p", &l.m.p, false}, {"oldp", &l.m.oldp, true},
			{"syscalltick", &l.m.syscallTick, true},
		}},
		{"runtime.p", &l.p.size,
			[]wanted{{"status", &l.p.status, false}, {"m", &l.p.m, false},
				{"syscalltick", &l.p.syscallTick, true}}},
		{"runtime.sudog", &l.sudog.size, []wanted{
			{"g", &l.sudog.g, false}, {"next", &l.sudog.next, false},
			{"prev", &l.sudog.prev, false},
			{"elem", &l.sudog.elem, false}, {"elem.vu", &l.sudog.elemNumber, true},
			{"waitlink", &l.sudog.waitlink, false},
		}},
		{"runtime.schedt", &l.schedSize, []wanted{{"gcwaiting", &l.gcwaiting, true}}},
	} {
		t, err := bi.FindType(s.name)
		if err != nil {
			return fmt.Errorf("debug information of %s: %w", s.name, err)
		}
		*s.size = int(t.Size())
		for _, f := range s.fields {
			off, ok := offset(t, f.path)
			switch {
			case ok:
				*f.to = off
			case f.optional:
				*f.to = absent
			default:
				return fmt.Errorf("the runtime's %s has no field %s: this Go version is not supported", s.name, f.path)
			}
		}
	}
	// Only the beginning of a p is needed.
	l.p.size = max(l.p.status, l.p.m, l.p.syscallTick) + 8
	return nil
}

// offset returns the offset of a field, given its path through nested structs.
func offset(t godwarf.Type, path string) (int, bool) {
	st, ok := godwarf.ResolveTypedef(t).(*godwarf.StructType)
	if !ok {
		return 0, false
	}
	name, rest, nested := strings.Cut(path, ".")
	for _, f := range st.Field {
		if f.Name != name {
			continue
		}
		if !nested {
			return int(f.ByteOffset), true
		}
		inner, ok := offset(f.Type, rest)
		return int(f.ByteOffset) + inner, ok
	}
	return 0, false
}

// variables finds the addresses of the runtime's variables, and reads the
// wait reasons, which never change.
func (l *layout) variables(bi *proc.BinaryInfo, mem proc.MemoryReadWriter) error {
	scope := &proc.EvalScope{
		Mem: mem, BinInfo: bi, Regs: op.DwarfRegisters{StaticBase: bi.Images[0].StaticBase},
	}
	for _, v := range []struct {
		name string
		to   *uint64
	}{
		{"allgs", &l.allgs}, {"allglen", &l.allglen}, {"allp", &l.allp},
		{"gomaxprocs", &l.gomaxprocs},
		{"sched", &l.sched}, {"gcphase", &l.gcphase}, {"semtable", &l.semtable},
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
	x, err := scope.EvalExpression("runtime.waitReasonStrings",
		proc.LoadConfig{MaxArrayValues: 256, MaxStringLen: 256})
	if err != nil {
		return fmt.Errorf("reading runtime.waitReasonStrings: %w", err)
	}
	if x.Unreadable != nil {
		return fmt.Errorf("reading runtime.waitReasonStrings: %w", x.Unreadable)
	}
	for i := range x.Children {
		c := &x.Children[i]
		if c.Unreadable != nil || c.Value == nil {
			return errors.New("reading runtime.waitReasonStrings: unreadable text")
		}
		l.reasons = append(l.reasons, goruntime.ReasonOf(constant.StringVal(c.Value)))
	}
	return nil
}
