package variable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/cpprof/cpprof/sampler/target/debuginfo"
)

// A Place says where a number is in the program's memory.
type Place struct {
	Type string // "int", "time.Duration"
	Real bool   // a floating-point number

	addr   uint64
	hops   []hop
	number number
	offset int64 // of the number from where the last hop leads
	fixed  bool  // it is the value below: the length of an array
	value  int64
}

// A number is how a number is represented.
type number struct {
	size                int // in bytes
	signed, real, truth bool
}

// A hop leads through a pointer. The pointer lies some bytes
// behind where the hop before leads.
type hop struct {
	offset int64
	slice  bool  // the pointer is a slice's, whose length follows; it leads to an element
	index  int64 // of the element
	size   int64 // of an element
	zero   bool  // if the pointer is nil, the number is 0: the length of a map or channel
}

// A resolver goes along an expression.
type resolver struct {
	e     *Expr
	place Place
	at    int64 // offset from where the last hop leads
	typ   godwarf.Type
	end   int // offset in the name or, if negative, 0
}

// Resolve finds out where an expression's number is.
func (in *Info) Resolve(e *Expr) (_ *Place, err error) {
	defer debuginfo.Damaged(&err)
	v, fields, err := in.find(e)
	if err != nil {
		return nil, err
	}
	r := &resolver{e: e, place: Place{addr: v.Addr + in.bias}}
	if r.typ, err = in.debug.GoType(v.Type); err != nil {
		return nil, e.errorf(len(e.name), "its type can't be read: %v", err)
	}
	end := e.at + len(e.name)
	steps := make([]step, 0, len(fields)+len(e.steps))
	for i := range fields {
		steps = append(steps, step{field: fields[i],
			end: end - len(strings.Join(fields[i+1:], ".")) - min(1, len(fields)-1-i)})
	}
	for _, s := range append(steps, e.steps...) {
		r.end = s.end - e.at
		if err := r.step(s); err != nil {
			return nil, err
		}
	}
	r.end = len(e.Text) - e.at
	if e.call == "" {
		return r.number()
	}
	return r.length()
}

// through goes through a pointer.
func (r *resolver) through(p *godwarf.PtrType) {
	r.place.hops = append(r.place.hops, hop{offset: r.at})
	r.at, r.typ = 0, p.Type
}

// step goes to a field or an element. As in Go, a pointer to a
// struct or array is followed.
func (r *resolver) step(s step) error {
	if p, ok := underlying(r.typ).(*godwarf.PtrType); ok {
		r.through(p)
	}
	switch t := underlying(r.typ).(type) {
	case *godwarf.StructType:
		if s.field == "" {
			break
		}
		if r.field(t, s.field, maxEmbedded) {
			return nil
		}
		var names []string
		for _, f := range t.Field {
			names = append(names, f.Name)
		}
		return r.e.errorf(r.end, "%s has no field %s; it has %s", name(r.typ),
			s.field, strings.Join(names, ", "))
	case *godwarf.ArrayType:
		if s.field != "" {
			break
		}
		if s.index >= t.Count {
			return r.e.errorf(r.end, "%s has only %d elements", name(r.typ), t.Count)
		}
		r.at += s.index * t.Type.Size()
		r.typ = t.Type
		return nil
	case *godwarf.SliceType:
		if s.field != "" {
			break
		}
		r.place.hops = append(r.place.hops,
			hop{offset: r.at, slice: true, index: s.index, size: t.ElemType.Size()})
		r.at, r.typ = 0, t.ElemType
		return nil
	}
	if s.field != "" {
		return r.e.errorf(r.end, "it is of type %s, which has no fields", name(r.typ))
	}
	return r.e.errorf(r.end,
		"it is of type %s: only an array or a slice has elements that can be read", name(r.typ))
}

// maxEmbedded is how deep the search for a field goes into
// embedded structs.
const maxEmbedded = 4

// field goes to a field of a struct, or of a struct that is
// embedded in it.
func (r *resolver) field(t *godwarf.StructType, name string, depth int) bool {
	for _, f := range t.Field {
		if f.Name == name {
			r.at += f.ByteOffset
			r.typ = f.Type
			return true
		}
	}
	if depth == 0 {
		return false
	}
	for _, f := range t.Field {
		if !f.Embedded {
			continue
		}
		in := *r
		in.at, in.typ = in.at+f.ByteOffset, f.Type
		if p, ok := underlying(in.typ).(*godwarf.PtrType); ok {
			in.place.hops = append([]hop(nil), r.place.hops...)
			in.through(p)
		}
		if s, ok := underlying(in.typ).(*godwarf.StructType); ok && in.field(s, name, depth-1) {
			*r = in
			return true
		}
	}
	return false
}

// number completes the place of a number.
func (r *resolver) number() (*Place, error) {
	r.place.Type = name(r.typ)
	if s, ok := underlying(r.typ).(*godwarf.StructType); ok &&
		strings.HasPrefix(s.StructName, "sync/atomic.") {
		r.field(s, "v", 0)
	}
	n, ok := numberOf(r.typ)
	if !ok {
		return nil, r.noNumber()
	}
	r.place.number, r.place.offset, r.place.Real = n, r.at, n.real
	return &r.place, nil
}

// noNumber returns an error that lists the numbers that a value has.
func (r *resolver) noNumber() error {
	base := r.e.Text
	switch t := underlying(r.typ).(type) {
	case *godwarf.SliceType, *godwarf.StringType, *godwarf.MapType, *godwarf.ChanType:
		return r.e.errorf(r.end, "it is of type %s, which is no number; len(%s) is",
			name(r.typ), base)
	case *godwarf.PtrType, *godwarf.StructType:
		if p, ok := t.(*godwarf.PtrType); ok {
			t = underlying(p.Type)
		}
		s, ok := t.(*godwarf.StructType)
		if !ok {
			break
		}
		list := numbersIn(s, base, 2)
		if len(list) == 0 {
			return r.e.errorf(r.end, "it is of type %s, which has no numbers", name(r.typ))
		}
		more := ""
		if len(list) > maxListed {
			list, more = list[:maxListed], ", ..."
		}
		return r.e.errorf(r.end, "it is of type %s, which is no number; these are: %s%s",
			name(r.typ), strings.Join(list, ", "), more)
	}
	return r.e.errorf(r.end, "it is of type %s, which is no number", name(r.typ))
}

// maxListed is how many numbers an error lists.
const maxListed = 12

// numbersIn returns expressions for the numbers in a struct.
func numbersIn(t *godwarf.StructType, base string, depth int) (list []string) {
	for _, f := range t.Field {
		path := base + "." + f.Name
		switch u := underlying(f.Type).(type) {
		case *godwarf.SliceType, *godwarf.StringType, *godwarf.MapType, *godwarf.ChanType:
			list = append(list, "len("+path+")")
		case *godwarf.StructType:
			if strings.HasPrefix(u.StructName, "sync/atomic.") && len(u.Field) > 0 &&
				isNumber(u.Field[len(u.Field)-1].Type) {
				list = append(list, path)
			} else if depth > 0 {
				list = append(list, numbersIn(u, path, depth-1)...)
			}
		default:
			if isNumber(f.Type) && f.Name != "_" {
				list = append(list, path)
			}
		}
	}
	return list
}

// length completes the place of the length or capacity of a value.
func (r *resolver) length() (*Place, error) {
	r.place.Type, r.place.number = "int", number{size: 8, signed: true}
	if p, ok := underlying(r.typ).(*godwarf.PtrType); ok {
		if _, ok := underlying(p.Type).(*godwarf.ArrayType); ok {
			r.through(p)
		}
	}
	isLen := r.e.call == "len"
	switch t := underlying(r.typ).(type) {
	case *godwarf.ArrayType:
		r.place.fixed, r.place.value = true, t.Count
		return &r.place, nil
	case *godwarf.SliceType:
		return r.inner(&t.StructType, r.e.call)
	case *godwarf.StringType:
		if isLen {
			return r.inner(&t.StructType, "len")
		}
	case *godwarf.MapType:
		if isLen {
			return r.behind(t.TypedefType.Type, "used", "count")
		}
	case *godwarf.ChanType:
		if isLen {
			return r.behind(t.TypedefType.Type, "qcount")
		}
		return r.behind(t.TypedefType.Type, "dataqsiz")
	}
	return nil, r.e.errorf(r.end, "it is of type %s, which has no %s", name(r.typ), r.e.call)
}

// inner completes the place with a field of the runtime's.
func (r *resolver) inner(t *godwarf.StructType, fields ...string) (*Place, error) {
	for _, f := range fields {
		if r.field(t, f, 0) {
			r.place.offset = r.at
			return &r.place, nil
		}
	}
	return nil, r.e.errorf(r.end, "the debug information of %s has no field %s",
		name(r.typ), strings.Join(fields, " or "))
}

// behind completes the place with a field of what the runtime's
// pointer leads to. If that is nil, there are no elements.
func (r *resolver) behind(pointer godwarf.Type, fields ...string) (*Place, error) {
	var s *godwarf.StructType
	if p, ok := underlying(pointer).(*godwarf.PtrType); ok {
		s, _ = underlying(p.Type).(*godwarf.StructType)
	}
	if s == nil {
		return nil, r.e.errorf(r.end, "the debug information of %s is not as expected", name(r.typ))
	}
	r.place.hops = append(r.place.hops, hop{offset: r.at, zero: true})
	r.at = 0
	return r.inner(s, fields...)
}

// underlying returns the type that typedefs stand for. A map or
// channel stays what it is.
func underlying(t godwarf.Type) godwarf.Type { return godwarf.ResolveTypedef(t) }

// numberOf returns how a type represents a number; false if it
// is not one of a number.
func numberOf(t godwarf.Type) (n number, ok bool) {
	sizes := []int{1, 2, 4, 8}
	u := underlying(t)
	switch u.(type) {
	case *godwarf.IntType, *godwarf.CharType:
		n.signed = true
	case *godwarf.UintType, *godwarf.UcharType:
	case *godwarf.FloatType:
		n.real, sizes = true, sizes[2:]
	case *godwarf.BoolType:
		return number{size: 1, truth: true}, true
	default:
		return n, false
	}
	n.size = int(u.Size())
	return n, slices.Contains(sizes, n.size)
}

// isNumber reports whether a type represents a number.
func isNumber(t godwarf.Type) bool {
	_, ok := numberOf(t)
	return ok
}

// name returns the name of a type.
func name(t godwarf.Type) string { return strings.TrimPrefix(fmt.Sprint(t), "struct ") }
