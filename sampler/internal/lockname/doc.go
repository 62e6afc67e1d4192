// Package lockname finds out what the lock at an address is called in the program's source: "main.server.mu" for a variable,
// "main.(*cache).mu" for a field of a type, "mu in main.run" for a variable of a function.
//
// A variable of a package is found by the symbol table. Anything else is found by way of a goroutine that waits for the
// lock: the variables of the functions on its stack lead to the lock, at once ("c" of "c.mu.Lock()") or over a few pointers.
// What they are, and where they lie at that place in the code, is in the program's DWARF. A program without it has names
// for variables only, and one without symbols none.
//
//	dwarf.go      the debug information: units, functions, variables
//	variables.go  the variables of a function at an instruction, and where they lie
//	argument.go   the argument by which a function reached a lock, if its code says so
//	path.go       from an address within a type to the names of fields
//	search.go     from variables over pointers to the lock
//	globals.go    variables of packages
//	namer.go      all of it, beside the sampler's own work
package lockname
