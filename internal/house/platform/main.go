// Platform vets the module's packages and tests for a platform.
// It does what `go vet` does, but reads all dependencies from
// their source: to compile them takes three times as long, and
// to start vet for each package twice as long. A file is parsed
// once for all platforms.
//
//	go run ./internal/house/platform windows/amd64 ...
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	debug.SetGCPercent(400) // little of what is read is garbage
	sources := &sources{set: token.NewFileSet()}
	for _, platform := range os.Args[1:] {
		if err := sources.examine(platform); err != nil {
			fmt.Fprintf(os.Stderr, "platform %s: %v\n", platform, err)
			os.Exit(1)
		}
	}
}

// sources are the files that have been parsed.
type sources struct {
	set   *token.FileSet
	files sync.Map // by their names: functions that return them
}

// parse parses a file unless it has been parsed.
func (s *sources) parse(set *token.FileSet, name string, src []byte) (*ast.File, error) {
	file, _ := s.files.LoadOrStore(name, sync.OnceValues(func() (*ast.File, error) {
		return parser.ParseFile(set, name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
	}))
	return file.(func() (*ast.File, error))()
}

// examine says what is wrong on standard output, and fails if anything is.
func (s *sources) examine(platform string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want a platform, such as windows/amd64")
	}
	list, err := packages.Load(&packages.Config{
		Mode:      packages.LoadAllSyntax | packages.NeedModule,
		Env:       append(os.Environ(), "GOOS="+system, "GOARCH="+processor), // without cgo unless it is this one
		Tests:     true,
		Fset:      s.set,
		ParseFile: s.parse,
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
