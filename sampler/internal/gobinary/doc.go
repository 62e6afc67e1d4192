// Package gobinary reads from a Go program's executable what is needed to sample the program from copied memory: for Linux on
// amd64 and arm64, the releases of Go that package goruntime names, however the program was linked.
//
// Open reads the file once. All of its addresses are those of the running process.
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
// What can be trusted, in this order: a binary's own DWARF and symbols; the table of layouts for its release;
// globals found by disassembly (Binary.Disassembled); the layout of another release (layout.Guessed). A sampler
// validates the last two when it attaches: procid of some m is a thread of the process, curg.m of a running one
// leads back to its m.
package gobinary
