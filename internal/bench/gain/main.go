//go:build linux

// Gain compares what 'cpprof why --without' predicts with what is measured.
// From the top of the repository:
//
//	go run ./internal/bench/gain [-turns 5] [-d 5s] [-run REGEXP]
//
// runs the programs of testdata/programs/effects, whose costs
// have a known effect: with the cost, with half of it, and
// without. The prediction is of the first turn's recording with
// the cost. It prints both for each program, how well they
// agree, and where cpprof was silent, with its reason.
package main

import (
	"flag"
	"regexp"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

func main() {
	b := &bench{}
	flag.IntVar(&b.turns, "turns", 5, "how often each program is run")
	flag.DurationVar(&b.length, "d", 5*time.Second, "how long it is recorded and measured")
	pattern := flag.String("run", "", "only the programs whose names match")
	flag.Parse()
	b.names = regexp.MustCompile(*pattern)
	tool.Main("gain", func() (good bool, err error) { return true, b.run() })
}
