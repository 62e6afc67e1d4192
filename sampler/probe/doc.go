// Package probe puts instruments into a running Go program that
// say what samples can't: how often a function is called, from
// where, with which arguments, and how long its calls take.
//
//	program, err := probe.Open(pid)             // reads the executable
//	f, err := program.Function("main.(*queue).push")
//	set, err := probe.Start(program, []probe.Function{f}, probe.Options{...})
//	...
//	results := set.Results()                    // at any time
//	set.Close()                                 // takes everything out
//
// An instrument is one of two:
//
//   - uprobes: the kernel replaces an instruction in the memory of the process by a breakpoint, and runs a small program of
//     ours (BPF) at each hit. One is at the first instruction behind the prologue's check of the stack, so that a call counts
//     once although its prologue begins again after the stack has grown. Others are at each return. Return probes of the
//     kernel (uretprobes) are never used: they replace return addresses on the stack, and Go moves stacks.
//   - breakpoints of the processor, if uprobes are not permitted. Nothing is written. There are four, so that they count
//     calls only.
//
// Both are bound to file descriptors of this process. When it
// ends, even by SIGKILL, the kernel takes them out. Close does
// so before, and compares the code with the file: see limits.md
// on what may be left after SIGKILL.
//
// The files, in the order of the work:
//
//	program.go    which functions can be probed: function.go finds the places in the code, refusal.go says why not
//	arguments.go  which registers hold arguments, by the debug information
//	set.go        instruments that are in the program, and what they cost: throttle.go takes out those that cost too much
//	close.go      the end of a set, and how long it may last
//	uprobe_*.go, bpf_*.go, breakpoint_*.go   the kernel's part
//	insert_*.go   ways to put uprobes in; takeout_*.go takes them out, and looks at the code (image_*.go)
//	calls.go      hits of entries and returns become calls
package probe
