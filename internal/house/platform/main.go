// Platform vets the module's packages and tests for a platform. It does what
// `go vet` does, but reads all dependencies from their source: to compile them
// takes three times as long, and to start vet for each package twice as long.
//
//	go run ./internal/house/platform windows/amd64
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	debug.SetGCPercent(400) // little of what is read is garbage
	if err := examine(strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "platform:", err)
		os.Exit(1)
	}
}

// examine says what is wrong on standard output, and fails if anything is.
func examine(platform string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want a platform, such as windows/amd64")
	}
	list, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor), // without cgo unless it is this one
		Tests: true,
	}, "./...")
	if err != nil {
		return err
	}
	if packages.PrintErrors(list) > 0 {
		return errors.New("does not compile")
	}
	findings, err := checker.Analyze(vet.Suite, list, nil)
	if err != nil {
		return err
	}
	if err := findings.PrintText(os.Stdout, -1); err != nil {
		return err
	}
	for act := range findings.All() {
		if act.Err != nil || act.IsRoot && len(act.Diagnostics) > 0 {
			return errors.New("go vet is not content")
		}
	}
	return nil
}
