//go:build linux

// Torture records programs in circumstances that are dangerous for them. It prints how often it tried each, how many
// programs were harmed, and what they lost:
//
//	go run ./internal/bench/torture -d 8h
//
// It ends with status 1 if anything was harmed or lost.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	long := flag.Duration("d", time.Minute, "how long to go on")
	lanes := flag.Int("lanes", 2, "how many programs to record at the same time")
	flag.Parse()
	good, err := run(*long, *lanes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(long time.Duration, lanes int) (good bool, err error) {
	dir, err := os.MkdirTemp("", "cpprof-torture-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, cpprof: filepath.Join(dir, "cpprof"), victim: filepath.Join(dir, "victim")}
	for path, pkg := range map[string]string{b.cpprof: "cmd/cpprof", b.victim: "testdata/programs/victim"} {
		if out, err := exec.Command("go", "build", "-o", path, "github.com/cpprof/cpprof/"+pkg).CombinedOutput(); err != nil {
			return false, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
		}
	}
	end := time.Now().Add(long)
	t := newTable()
	var wait sync.WaitGroup
	for lane := range lanes {
		wait.Go(func() {
			for i := lane; time.Now().Before(end); i++ {
				h := &hardships[i%len(hardships)]
				t.add(h.name, b.try(h))
			}
		})
	}
	wait.Wait()
	return t.print(os.Stdout, long), nil
}
