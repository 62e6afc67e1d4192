//go:build linux

// Bugs tries 'cpprof why' on real performance bugs of Go
// libraries that were fixed. From the top of the repository:
//
//	go run ./internal/bench/bugs [-d 4s] [-run REGEXP]
//
// builds the workload of each report (testdata) with the version
// before the fix and with the one that has it, records both, and
// looks where the answer names what the fix changed: a function
// or a lock. Profiles of as many seconds stand beside it, and
// what the fix brought beside the gain that was predicted.
// Versions come from the module proxy.
//
// With -planted it tries the causes in testdata/programs/planted, and prints
// as JSON where each profiler names them.
package main

import (
	"flag"
	"regexp"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

func main() {
	b := &bench{}
	flag.DurationVar(&b.length, "d", 4*time.Second, "how long each version is recorded")
	flag.BoolVar(&b.before, "before", false, "only the versions before the fix, and print as JSON where each profiler "+
		"names the cause")
	flag.BoolVar(&b.verbose, "v", false, "print what cpprof says of both versions, too")
	ownCauses := flag.Bool("planted", false, "the causes in testdata/programs/planted instead, as with -before")
	pattern := flag.String("run", "", "only the bugs whose names match")
	flag.Parse()
	if *ownCauses {
		b.corpus, b.before = planted(), true
	} else {
		b.corpus = reported()
	}
	b.names = regexp.MustCompile(*pattern)
	tool.Main("bugs", func() (good bool, err error) { return true, b.run() })
}
