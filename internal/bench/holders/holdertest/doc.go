// Package holdertest checks the holders of locks that a sampler
// reports against what a program knows itself. The programs are
// testdata/programs/holders and others like it: their goroutines
// contend for locks of many kinds, and a table in their memory
// says who holds each.
//
//	table, err := holdertest.Open(pid, line)    // line is the first that the program printed
//	scores, mistakes, err := holdertest.Judge(ctx, backend, table, options)
//	fmt.Print(scores.Table())
package holdertest
