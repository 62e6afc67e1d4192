package layout

import (
	"fmt"
	"reflect"
)

// sizeField is the tag of a struct's size.
const sizeField = "-"

// eachStruct calls yield with the runtime's name of each struct and its fields in l, by the runtime's names.
func (l *Layout) eachStruct(yield func(name string, fields map[string]*Offset)) {
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("rt")
		if name == "" {
			continue
		}
		s := v.Field(i)
		fields := make(map[string]*Offset, s.NumField())
		for j := range s.NumField() {
			fields[s.Type().Field(j).Tag.Get("rt")] = s.Field(j).Addr().Interface().(*Offset)
		}
		yield(name, fields)
	}
}

// fill makes a layout of offsets per struct and field, both by the runtime's names.
func fill(structs map[string]map[string]Offset) *Layout {
	l := &Layout{}
	l.eachStruct(func(name string, fields map[string]*Offset) {
		for f, p := range fields {
			*p = Missing
			if off, ok := structs[name][f]; ok {
				*p = off
			}
		}
	})
	return l
}

// check says what a sampler can't do without and l lacks. It also bounds every offset by its struct's size.
func (l *Layout) check() error {
	var err error
	l.eachStruct(func(name string, fields map[string]*Offset) {
		size := *fields[sizeField]
		for f, p := range fields {
			if f != sizeField && *p >= max(size, 0) && err == nil {
				err = fmt.Errorf("runtime.%s.%s lies at %d, outside of the %d bytes of the struct", name, f, *p, size)
			}
		}
	})
	for _, o := range []struct {
		name string
		off  Offset
	}{
		{"g.stack.lo", l.G.StackLo}, {"g.sched.sp", l.G.SchedSP}, {"g.sched.pc", l.G.SchedPC},
		{"g.atomicstatus", l.G.AtomicStatus}, {"g.goid", l.G.Goid}, {"g.m", l.G.M}, {"m.g0", l.M.G0},
		{"m.curg", l.M.CurG}, {"m.procid", l.M.ProcID}, {"m.alllink", l.M.AllLink}, {"p.m", l.P.M},
		{"p.status", l.P.Status}, {"moduledata.pcHeader", l.Module.PCHeader}, {"moduledata.text", l.Module.Text},
		{"moduledata.etext", l.Module.EText}, {"moduledata.gofunc", l.Module.GoFunc},
		{"moduledata.textsectmap", l.Module.TextMap},
	} {
		if !o.off.Has() && err == nil {
			err = fmt.Errorf("runtime.%s is not described", o.name)
		}
	}
	return err
}
