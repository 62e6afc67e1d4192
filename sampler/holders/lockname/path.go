package lockname

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/debuginfo"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// isLock reports whether a type is a lock, or something else
// that goroutines wait for: what a channel points to, a group,
// or a condition.
func isLock(t dwarf.Type) bool {
	s, ok := t.(*dwarf.StructType)
	if !ok {
		return false
	}
	switch s.StructName {
	case "sync.Mutex", "sync.RWMutex", "sync.WaitGroup", "sync.Cond":
		return true
	}
	return isChannel(s)
}

func isChannel(s *dwarf.StructType) bool { return strings.HasPrefix(s.StructName, "hchan<") }

func isSemaphore(s *dwarf.StructType) bool {
	return strings.HasSuffix(s.StructName, "golang.org/x/sync/semaphore.Weighted")
}

// isLockOf returns a function that reports whether a type can be
// the type of what a goroutine waits for. A word of a frame may
// be taken for a variable of any type, and what it points to may
// then seem to have the lock in one of its fields. But a select
// waits for no mutex, and the runtime knows the size of a
// channel's elements.
func (n *Namer) isLockOf(w *Waiter) func(dwarf.Type) bool {
	return func(t dwarf.Type) bool {
		if !w.Channel && !isLock(t) {
			return false
		}
		s, ok := t.(*dwarf.StructType)
		if !ok || w.Channel && !isChannel(s) && !isSemaphore(s) {
			return false
		}
		at, size := elements(s)
		var b [2]byte
		return at == nil || n.read(w.Lock+uint64(at.ByteOffset), b[:]) != nil ||
			int64(binary.LittleEndian.Uint16(b[:])) == size
	}
}

// elements returns where a channel has the size of its elements,
// and that size by its type, a hchan<T>: its queues have
// pointers to a T. It returns nil if the type is not of a
// channel.
func elements(channel *dwarf.StructType) (at *dwarf.StructField, size int64) {
	t := dwarf.Type(channel)
	for _, name := range []string{"recvq", "first", "elem"} {
		s, ok := debuginfo.Underlying(t).(*dwarf.StructType)
		if !ok {
			return nil, 0
		}
		f := fieldNamed(s, name)
		if f == nil {
			return nil, 0
		}
		t = f.Type
		if p, ok := debuginfo.Underlying(t).(*dwarf.PtrType); ok {
			t = p.Type
		}
	}
	return fieldNamed(channel, "elemsize"), t.Size()
}

// fieldNamed returns the field with a name; nil if there is none.
func fieldNamed(s *dwarf.StructType, name string) *dwarf.StructField {
	i := slices.IndexFunc(s.Field, func(f *dwarf.StructField) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return s.Field[i]
}

// named returns the name of a type that the program has defined;
// "" for other types. Names of package sync don't say what a
// lock is for.
func named(t dwarf.Type) string {
	s, ok := t.(*dwarf.StructType)
	if !ok || strings.HasPrefix(s.StructName, "struct {") || strings.HasPrefix(s.StructName, "[]") {
		return ""
	}
	if goruntime.IsSync(s.StructName) {
		return ""
	}
	return s.StructName
}

// A fieldPath leads from a type to a lock in it. Example: in a
// main.server with a field caches [4]cache, whose type has a
// field mu: owner "main.cache", field ".mu", whole
// ".caches[2].mu".
type fieldPath struct {
	owner string // the innermost type on the path that the program has defined; "" if none
	field string // the path from the owner on: ".mu", ".shards[3].mu"; "" if the lock is the whole
	whole string // the path from the outermost type on
}

// isPointer reports whether a type is a pointer.
func isPointer(t dwarf.Type) bool {
	_, ok := t.(*dwarf.PtrType)
	return ok
}

// pathTo returns the path to what lies at an offset in a type,
// if that is of a kind, and its type.
func pathTo(t dwarf.Type, offset int64, isWanted func(dwarf.Type) bool) (p fieldPath, to dwarf.Type,
	ok bool) {
	for range 100 {
		t = debuginfo.Underlying(t)
		if isWanted(t) {
			return p, t, offset == 0
		}
		if name := named(t); name != "" {
			p.owner, p.field = name, ""
		}
		var step string
		switch s := t.(type) {
		case *dwarf.StructType:
			f := fieldAt(s, offset)
			if f == nil {
				return p, nil, false
			}
			step, t, offset = "."+f.Name, f.Type, offset-f.ByteOffset
		case *dwarf.ArrayType:
			size := s.Type.Size()
			if size <= 0 || s.Count <= 0 || offset/size >= s.Count {
				return p, nil, false
			}
			step, t, offset = fmt.Sprintf("[%d]", offset/size), s.Type, offset%size
		default:
			return p, nil, false
		}
		p.field += step
		p.whole += step
	}
	return p, nil, false
}

// fieldAt returns the field that contains the byte at an offset.
func fieldAt(s *dwarf.StructType, offset int64) *dwarf.StructField {
	for _, f := range s.Field {
		if size := f.Type.Size(); offset >= f.ByteOffset && offset-f.ByteOffset < size {
			return f
		}
	}
	return nil
}

// fieldName writes a type's field like the symbols of its
// methods: "net/http.(*Server).mu". Type arguments become
// "[...]", as in Go's own stack traces, since several instances
// of a generic type may share a method.
func fieldName(owner, field string) string {
	base, _, generic := strings.Cut(owner, "[")
	pkg := goruntime.Package(base)
	typ, found := strings.CutPrefix(base[len(pkg):], ".")
	if generic {
		typ += "[...]"
	}
	if !found {
		return fmt.Sprintf("(*%s)%s", owner, field)
	}
	return fmt.Sprintf("%s.(*%s)%s", pkg, typ, field)
}

// closures is what the compiler appends to the name of a
// function for a function literal in it.
var closures = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+)+$`)

// A variableName is the name of a function's variable: "mu" and
// " in main.run". A field, such as ".field", goes in between.
type variableName struct {
	name, in string
}

// nameOf names a variable of a function. A function literal's
// variable is usually one of the enclosing function.
func nameOf(name, function string) variableName {
	return variableName{strings.TrimPrefix(name, "&"),
		" in " + closures.ReplaceAllString(function, "")}
}

// element returns the name of an element of an array or a slice.
func (v variableName) element() variableName { return variableName{v.name + "[...]", v.in} }

// along returns the name of what lies at a path in a variable:
// by the path's innermost type, if that has a name.
func (v variableName) along(p fieldPath) variableName {
	if p.owner != "" {
		return variableName{name: fieldName(p.owner, p.field)}
	}
	return variableName{v.name + p.whole, v.in}
}

func (v variableName) String() string { return v.name + v.in }

// Either returns the names of several things as one: "c or d in
// main.run" for variables of one function.
func Either(names []string) string {
	in := ""
	for i, name := range names {
		at := strings.LastIndex(name, " in ")
		if at < 0 || i > 0 && name[at:] != in {
			return strings.Join(names, " or ")
		}
		in = name[at:]
	}
	return strings.ReplaceAll(strings.Join(names, " or "), in+" or ", " or ")
}
