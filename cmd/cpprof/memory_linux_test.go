package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// mostMemory runs cpprof, and returns the most memory that it had at a time, in MB.
func mostMemory(t *testing.T, cpprof string, args ...string) int64 {
	t.Helper()
	cmd := exec.Command(cpprof, args...)
	cmd.Stdin = strings.NewReader("q\n")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Logf("cpprof %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
}

// In this recording, the holders of locks wait for other locks in very many ways. The file has 2 MB. When whole documents were
// made in memory, and chains of locks were followed to their end, the JSON of its locks took 840 MB.
func TestMemoryOfLocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run.cpprof")
	w, err := sampledata.Create(dir, synthetic.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := synthetic.Record(w, 4000, 2000, 0.05); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cpprof := fixture.Cpprof(t)
	for _, args := range [][]string{{"locks", dir}, {"locks", dir, "--json"}, {"report", dir}, {"classes", dir, "--json"}} {
		if got := mostMemory(t, cpprof, args...); got > 200 {
			t.Errorf("cpprof %s: %d MB", strings.Join(args, " "), got)
		}
	}
}
