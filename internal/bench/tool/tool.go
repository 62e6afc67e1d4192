// Package tool has what benchmarks share.
package tool

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/cpprof/cpprof/internal/termtext"
)

// Main runs a benchmark. It ends with status 1 if something is
// not as it should be, and with status 2 if the benchmark fails.
func Main(name string, run func() (good bool, err error)) {
	good, err := run()
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, termtext.Error(err))
		os.Exit(2)
	case !good:
		os.Exit(1)
	}
}

// Build builds packages of this module in a new folder. The
// caller removes it. Without the paths of sources, Go has most
// packages in its cache.
func Build(packages ...string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "cpprof-bench-"); err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-o", folder}
	for _, name := range packages {
		args = append(args, "github.com/cpprof/cpprof/"+name)
	}
	if err := Go("", nil, args...); err != nil {
		os.RemoveAll(folder)
		return "", err
	}
	return folder, nil
}

// Median sorts values, and returns the middle one.
func Median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
