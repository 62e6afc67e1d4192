// Package calls finds the calls of a function in a recording:
// what a goroutine did from its entry to its return.
//
//	calls.go      a Table of calls, and how long they took
//	samples.go    calls as the samples show them
//	marked.go     calls that a label or a class of goroutines marks
//	condition.go  which calls: "main.handle > p99"
//	contrast.go   the slow calls beside the rest
//	features.go   what calls have in common, for the ranking
//	propose.go    functions whose calls are pieces of work
//	heat.go       how many calls took how long, over time
//	steps.go      one call, sample by sample
package calls
