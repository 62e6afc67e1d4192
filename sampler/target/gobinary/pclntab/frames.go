package pclntab

import "encoding/binary"

// maxInlined is the maximum depth of calls inlined into one
// another at one place.
const maxInlined = 1000

// inlinedCallSize is the length of a node of an inline tree
// (runtime.inlinedCall).
const inlinedCallSize = 16

// A Frame is one logical call: a function, or a call that was
// inlined into the frame that follows it.
type Frame struct {
	Func      string // linker's name: net/http.(*conn).serve
	File      string // as the compiler recorded it; "?" if it did not
	Line      int32  // 0 if unknown
	StartLine int32  // the line of the func keyword
	Inlined   bool   // Func's code is part of the next frame's function
}

// Frames appends the logical frames at the instruction pc,
// innermost first, and reports whether pc is in a function. The
// last of them is the function itself. For a return address pass
// pc-1.
func (t *Table) Frames(dst []Frame, pc uint64) ([]Frame, bool) {
	f, ok := t.Func(pc)
	if !ok {
		return dst, false
	}
	return f.Frames(dst, pc), true
}

// Frames is Table.Frames for a pc in f.
func (f *Func) Frames(dst []Frame, pc uint64) []Frame {
	tree := f.funcdata(funcdataInlTree)
	for range maxInlined {
		file, line := f.Line(pc)
		call, ok := f.inlinedAt(tree, pc)
		if !ok {
			break
		}
		dst = append(dst, Frame{
			Func:      f.table.intern(f.table.names, f.table.funcname, call.name),
			File:      file,
			Line:      line,
			StartLine: call.startLine,
			Inlined:   true,
		})
		pc = f.Entry + uint64(call.parentPC)
	}
	file, line := f.Line(pc)
	return append(dst, Frame{Func: f.Name(), File: file, Line: line, StartLine: f.StartLine()})
}

// Line returns the source position of the instruction at pc. If
// the instruction belongs to inlined calls, this is the position
// in the innermost one.
func (f *Func) Line(pc uint64) (file string, line int32) {
	line = max(f.pcvalue(f.word(24), pc), 0)
	no := f.pcvalue(f.word(20), pc)
	at := (uint64(f.word(32)) + uint64(uint32(no))) * 4
	if no < 0 || at+4 > uint64(len(f.table.cutab)) {
		return "?", line
	}
	off := binary.LittleEndian.Uint32(f.table.cutab[at:])
	if file = f.table.intern(f.table.files, f.table.filetab, off); file == "" {
		file = "?"
	}
	return file, line
}

// An inlinedCall is a node of a function's inline tree.
type inlinedCall struct {
	name      uint32
	parentPC  uint32 // offset from the function's entry, of an instruction that stands for the call
	startLine int32
}

// inlinedAt returns the innermost call that was inlined at pc.
func (f *Func) inlinedAt(tree uint32, pc uint64) (inlinedCall, bool) {
	if tree == noFuncdata {
		return inlinedCall{}, false
	}
	ix := f.pcvalue(f.pcdata(pcdataInlTreeIndex), pc)
	at := uint64(tree) + uint64(uint32(ix))*inlinedCallSize
	if ix < 0 || at+inlinedCallSize > uint64(len(f.table.mod.GoFunc)) {
		return inlinedCall{}, false
	}
	b := f.table.mod.GoFunc[at:]
	return inlinedCall{
		name:      binary.LittleEndian.Uint32(b[4:]),
		parentPC:  binary.LittleEndian.Uint32(b[8:]),
		startLine: int32(binary.LittleEndian.Uint32(b[12:])),
	}, true
}
