//go:build linux && (amd64 || arm64)

// Holders measures how often the holders that are found are
// right, on programs that know who holds their locks:
//
//	go run ./internal/bench/holders zoo [-samples N] [-interval DURATION] [-still] [PROGRAM...]
//
// With -still, it stops the programs while it compares: a slow
// machine needs that. It ends with status 1 if a holder was
// wrong.
package main

import (
	"flag"
	"os"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

func main() {
	flags := flag.NewFlagSet("holders zoo", flag.ExitOnError)
	samples := flags.Int("samples", 100_000, "how many goroutines that wait to compare, summed over the samples")
	interval := flags.Duration("interval", 5*time.Millisecond, "between samples")
	still := flags.Bool("still", false, "stop the program while a sample is compared")
	if len(os.Args) < 2 || os.Args[1] != "zoo" {
		flags.Usage()
		os.Exit(2)
	}
	flags.Parse(os.Args[2:])
	tool.Main("holders", func() (good bool, err error) {
		return zoo(os.Stdout, *samples, *interval, *still, flags.Args())
	})
}
