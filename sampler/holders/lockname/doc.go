// Package lockname finds out what the lock at an address is
// called in the program's source, or the channel, group or
// condition: "main.server.mu" for a variable, "main.(*cache).mu"
// for a field of a type, "mu in main.run" for a variable of a
// function.
//
// A package's variable is found in the symbol table. Any other
// lock is found through a goroutine that waits for it: the
// variables of the functions on its stack lead to the lock,
// directly ("c" of "c.mu.Lock()") or over a few pointers, or one
// of their packages' variables points to it. The program's DWARF
// has their types, and where they are stored at that
// instruction. For a program without DWARF, only locks in
// packages' variables have names; for one without symbols, none.
//
// Example: goroutine 4 waits for the lock at 0xc000012088, in a
// call of Lock in main.(*cache).get. DWARF says that this
// function has a variable c of type *main.cache, stored 16 bytes
// below the frame's end. The word there is 0xc000012080, and
// main.cache has a field mu of type sync.Mutex at offset 8. So
// the lock's name is "main.(*cache).mu".
//
//	argument.go   the variables by which a function reached a lock, if its code says so
//	path.go       from an address within a type to the names of fields
//	search.go     from variables over pointers to the lock
//	globals.go    variables of packages
//	namer.go      all of it, beside the sampler's own work
package lockname
