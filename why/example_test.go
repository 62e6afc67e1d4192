package why_test

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/why"
)

// Find says what is slow, and where.
func ExampleFind() {
	r, err := interchange.ReadRecording("../cmd/cpprof/testdata/bob.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := why.Find(r, why.Options{Threshold: why.DefaultThreshold})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range answer.Findings {
		fmt.Printf("%s in %s: %.2f\n", f.Kind, f.Where.Function, f.Share.Share)
	}
	// Output:
	// lock in bob.(*manager).transact: 0.80
	// compute in bob.(*date).field: 0.33
}
