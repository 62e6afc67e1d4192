package pclntab

import "encoding/binary"

// Numbers of the tables with the pointers of a frame (internal/abi).
const (
	pcdataStackMap       = 1
	funcdataArgsPointers = 0
	funcdataLocals       = 1
	funcdataObjects      = 2
)

const (
	unknownArgs     = 1 << 31 // size of the arguments of a function that doesn't say it
	maxStackObjects = 1 << 12
	stackObjectSize = 16 // runtime.stackObjectRecord
)

// A Bitmap has a bit for each word of a part of a frame. It is
// set if the word has a pointer.
type Bitmap struct {
	N    int
	bits []byte
}

// Has reports whether bit i is set.
func (b Bitmap) Has(i int) bool { return b.bits[i/8]>>(i%8)&1 != 0 }

// A StackObject is a variable on the stack whose address was
// taken. A negative offset counts from the end of the local
// variables, another one from the first argument.
type StackObject struct{ Offset, Size int32 }

// A StackMap says which words of a frame have pointers that the
// function still uses.
type StackMap struct {
	Locals    Bitmap // its last bit is the last word of the local variables
	HasLocals bool   // false: nothing is known of them
	Args      Bitmap
	Objects   []StackObject
}

// StackMap returns the pointers of a frame at a call. It returns
// false if the table does not have them, or if they make no
// sense.
func (f *Func) StackMap(pc uint64) (m StackMap, ok bool) {
	index := int32(0)
	if pc != f.Entry {
		index = max(f.pcvalue(f.pcdata(pcdataStackMap), pc), 0)
	}
	if m.Locals, m.HasLocals, ok = f.bitmap(funcdataLocals, index); !ok {
		return m, false
	}
	switch size := f.word(8); {
	case size == unknownArgs:
		return m, false
	case size > 0:
		var has bool
		if m.Args, has, ok = f.bitmap(funcdataArgsPointers, index); !ok || !has {
			return m, false
		}
	}
	m.Objects, ok = f.stackObjects()
	return m, ok
}

// bitmap reads a bitmap of a list (runtime.stackmap). has reports whether
// there is a list.
func (f *Func) bitmap(list int, index int32) (b Bitmap, has, ok bool) {
	data, has, ok := f.datum(list, 8)
	if !has || !ok {
		return b, has, ok
	}
	n, bits := int32(binary.LittleEndian.Uint32(data)), int32(binary.LittleEndian.Uint32(data[4:]))
	if bits == 0 && n > 0 {
		return b, true, true
	}
	size := (uint64(uint32(bits)) + 7) / 8
	from := 8 + uint64(index)*size
	if index >= n || bits < 0 || from+size > uint64(len(data)) {
		return b, true, false
	}
	return Bitmap{N: int(bits), bits: data[from : from+size]}, true, true
}

// stackObjects reads the variables of a frame whose addresses were taken.
func (f *Func) stackObjects() (objects []StackObject, ok bool) {
	data, has, ok := f.datum(funcdataObjects, 8)
	if !has || !ok {
		return nil, ok
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxStackObjects || 8+n*stackObjectSize > uint64(len(data)) {
		return nil, false
	}
	for i := range n {
		b := data[8+i*stackObjectSize:]
		o := StackObject{int32(binary.LittleEndian.Uint32(b)),
			int32(binary.LittleEndian.Uint32(b[4:]))}
		if o.Size < 0 {
			return nil, false
		}
		objects = append(objects, o)
	}
	return objects, true
}

// datum returns the bytes from a datum of the function on: at
// least a given number. has reports whether the function has the
// datum.
func (f *Func) datum(number, least int) (data []byte, has, ok bool) {
	at := f.funcdata(number)
	if at == noFuncdata {
		return nil, false, true
	}
	if uint64(at)+uint64(least) > uint64(len(f.table.mod.GoFunc)) {
		return nil, true, false
	}
	return f.table.mod.GoFunc[at:], true, true
}
