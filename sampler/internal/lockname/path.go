package lockname

import (
	"debug/dwarf"
	"fmt"
	"regexp"
	"strings"
)

// plain removes names that stand for other types.
func plain(t dwarf.Type) dwarf.Type {
	for range 10 {
		def, ok := t.(*dwarf.TypedefType)
		if !ok {
			break
		}
		t = def.Type
	}
	return t
}

// isLock tells whether a type is a lock that goroutines wait for.
func isLock(t dwarf.Type) bool {
	s, ok := t.(*dwarf.StructType)
	return ok && (s.StructName == "sync.Mutex" || s.StructName == "sync.RWMutex")
}

// named gives the name of a type that the program has defined; "" for other types, and for those of package sync, which
// say nothing of what they are for.
func named(t dwarf.Type) string {
	s, ok := t.(*dwarf.StructType)
	if !ok || strings.HasPrefix(s.StructName, "struct {") || strings.HasPrefix(s.StructName, "[]") {
		return ""
	}
	for _, prefix := range []string{"sync.", "internal/sync."} {
		if strings.HasPrefix(s.StructName, prefix) {
			return ""
		}
	}
	return s.StructName
}

// A fieldPath leads from a type to a lock in it.
type fieldPath struct {
	owner string // the innermost defined type on the way; "" for none
	field string // from there on: ".mu", ".shards[3].mu"; "" where the lock is the whole
	whole string // the same from the outermost type on
}

// lockAt gives the way to the lock that lies at an offset in a type.
func lockAt(t dwarf.Type, offset int64) (p fieldPath, ok bool) {
	for range 100 {
		t = plain(t)
		if isLock(t) {
			return p, offset == 0
		}
		if name := named(t); name != "" {
			p.owner, p.field = name, ""
		}
		var step string
		switch s := t.(type) {
		case *dwarf.StructType:
			f := fieldAt(s, offset)
			if f == nil {
				return p, false
			}
			step, t, offset = "."+f.Name, f.Type, offset-f.ByteOffset
		case *dwarf.ArrayType:
			size := s.Type.Size()
			if size <= 0 || s.Count <= 0 || offset/size >= s.Count {
				return p, false
			}
			step, t, offset = fmt.Sprintf("[%d]", offset/size), s.Type, offset%size
		default:
			return p, false
		}
		p.field += step
		p.whole += step
	}
	return p, false
}

// fieldAt gives the field that has the byte at an offset.
func fieldAt(s *dwarf.StructType, offset int64) *dwarf.StructField {
	for _, f := range s.Field {
		if size := f.Type.Size(); offset >= f.ByteOffset && offset-f.ByteOffset < size {
			return f
		}
	}
	return nil
}

// fieldName writes a field of a type as the symbols of its methods are: "net/http.(*Server).mu".
func fieldName(owner, field string) string {
	base, arguments, _ := strings.Cut(owner, "[")
	if arguments != "" {
		arguments = "[" + arguments
	}
	slash := strings.LastIndexByte(base, '/') + 1
	dot := strings.IndexByte(base[slash:], '.')
	if dot < 0 {
		return fmt.Sprintf("(*%s)%s", owner, field)
	}
	dot += slash
	return fmt.Sprintf("%s.(*%s%s)%s", base[:dot], base[dot+1:], arguments, field)
}

// closures are what the compiler adds to the name of the function that a function literal stands in.
var closures = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+)+$`)

// variableName names a variable of a function. A literal's variable is mostly one of the function around it.
func variableName(name, function string) string {
	return strings.TrimPrefix(name, "&") + " in " + closures.ReplaceAllString(function, "")
}
