// Package variable finds the numbers in a running Go program
// that a path leads to from a package's variable, through
// fields, pointers and indices:
//
//	main.served                 a variable
//	main.srv.stats[0].hits      through a pointer, fields and an index
//	len(main.srv.queue.items)   the length of a slice, string, map, array or channel; cap is its capacity
//
// [Parse] reads an expression, [Info.Resolve] finds out by the
// debug information where its number is, and a [Reader] reads
// the numbers of several expressions together: those that don't
// move with one system call.
package variable
