package locks_test

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// Summarise says which locks goroutines waited for, and who held them.
func ExampleSummarise() {
	r, err := interchange.ReadRecording("../../cmd/cpprof/testdata/bob.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range a.Locks {
		fmt.Println(l, l.Hits.RatString(), a.Mean(&l.Evidence).FloatString(2))
	}
	// Output: a lock taken in bob.(*manager).transact 120 4.00
}
