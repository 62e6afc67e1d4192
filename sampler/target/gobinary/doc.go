// Package gobinary reads what is needed to sample a Go program
// from copied memory out of the program's executable. It
// supports Linux on amd64 and arm64, the releases of Go that
// package goruntime lists, and every way to link a program.
//
// Open reads the file once. All of its addresses are the running
// process's.
//
//	b, err := gobinary.Open(exe, atEntry)   // exe: /proc/PID/exe; atEntry: AT_ENTRY of /proc/PID/auxv
//	b.Layout.G.AtomicStatus                 // package layout: where fields of the runtime's structs lie
//	b.Globals.AllGs                         // package globals: where the runtime's variables lie
//	b.Table.Func(pc)                        // package pclntab: functions, and lines with inlined calls
//
//	u, err := unwind.New(b.Table, b.Arch)   // package unwind: stacks
//	frames, res := u.Unwind(frames[:0], mem, &ctx)
//	u.Frames(frames[0].Site)                // logical frames of one place, innermost first
//
// These sources are listed from most to least trustworthy: a
// binary's own DWARF and symbols; the table of layouts for its
// release; globals found by disassembly (Binary.Disassembled);
// the layout of another release (layout.Guessed). A sampler
// validates the last two when it attaches: procid of some m is a
// thread of the process, and curg.m of a running one points back
// to its m.
package gobinary
