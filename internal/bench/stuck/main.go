//go:build linux

// Stuck measures what cpprof finds of goroutines that can never
// run again, and what it claims falsely. From the top of the
// repository:
//
//	go run ./internal/bench/stuck
//
// builds the test programs of the runtime's own profile of
// leaked goroutines
// (GOROOT/src/runtime/testdata/testgoroutineleakprofile) as they
// would be built by anybody, runs each, examines it from
// outside, and compares with the leaks that the runtime's test
// expects. Then come 30 healthy programs, in which nothing is
// stuck: kernels of the same kind with their fixes, pools of
// workers, what the collector must not overlook, databases, and
// servers under load.
//
//	-run REGEXP      only these programs
//	-tenth N         only each tenth program, from the N-th on, half of them stripped, and no
//	                 foreign module: for CI
//	-toolchain NAME  builds with another release of Go, which is fetched: go1.21.13
//	-oracle          builds with GOEXPERIMENT=goroutineleakprofile, and compares with the profile
//	                 of the same process, and with goleak, which is fetched
//	-stripped        builds them without symbols and debug information
//	-causes          prints the causes that were found
//	-healthy D       how long each healthy program is examined, again and again
//	-costs           only measures what an examination costs a server, by the size of its heap
//	-lanes N         how many healthy programs run at the same time
package main

import (
	"flag"
	"regexp"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

func main() {
	b := &bench{}
	pattern := flag.String("run", "", "only the programs whose names match")
	flag.IntVar(&b.tenth, "tenth", -1, "only each tenth program, from this one on")
	flag.StringVar(&b.toolchain, "toolchain", "", "release of Go that builds the programs")
	flag.BoolVar(&b.oracle, "oracle", false, "compare with the runtime's profile in the same process")
	flag.DurationVar(&b.healthy, "healthy", 10*time.Second, "how long each healthy program is examined")
	flag.IntVar(&b.lanes, "lanes", 3, "how many healthy programs run at the same time")
	flag.BoolVar(&b.stripped, "stripped", false, "strip the programs")
	flag.BoolVar(&b.causes, "causes", false, "print the causes that were found")
	flag.BoolVar(&b.costs, "costs", false, "only measure what an examination costs a server")
	flag.Parse()
	b.names = regexp.MustCompile(*pattern)
	tool.Main("stuck", b.run)
}
