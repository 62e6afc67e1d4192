// Ask opens a recording, and prints the locks for which
// goroutines waited the longest, and who held each: a beginning
// for your own questions.
//
//	go run github.com/cpprof/cpprof/docs/ask run.cpprof
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

func main() {
	recording, err := interchange.ReadRecording(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	answer, err := locks.AnalyseHolders(recording, views.Options{}, locks.ByInstance)
	if err != nil {
		log.Fatal(err)
	}
	for _, lock := range answer.Locks {
		mean := answer.Mean(&lock.Evidence)
		fmt.Printf("%s: %s goroutines waited on average\n", lock, mean.FloatString(2))
		for _, holder := range lock.Holders {
			share := lock.Share(holder.Total)
			fmt.Printf("  %s held it %s of that time\n", holder.Class, share.FloatString(2))
		}
	}
}
