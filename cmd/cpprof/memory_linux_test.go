package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// mostMemory runs cpprof, and returns the most memory that it
// had at a time, in MB.
func mostMemory(t *testing.T, cpprof string, args ...string) int64 {
	t.Helper()
	most, said := peakOf(t, cpprof, args...)
	if said != "" {
		t.Logf("cpprof %s: %s", strings.Join(args, " "), said)
	}
	return most
}

// peakOf runs cpprof, and returns the most memory that it had at
// a time, in MB, and what it said on standard error. To the
// kernel, a process had as much as the one that started it, and
// that must not be these tests.
func peakOf(t *testing.T, cpprof string, args ...string) (most int64, said string) {
	t.Helper()
	cmd := self(t, append([]string{cpprof}, args...)...)
	cmd.Args[0] = "peak"
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("cpprof %s: %v", strings.Join(args, " "), err)
	}
	if _, err := fmt.Sscan(out.String(), &most); err != nil {
		t.Fatalf("cpprof %s: %v: %s", strings.Join(args, " "), err, out.String())
	}
	return most, errs.String()
}

func init() { programs["peak"] = peak }

// peak runs a program, and prints the most memory that it had at
// a time, in MB.
func peak() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stderr = strings.NewReader("q\n"), os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10)
}

// In this recording, the holders of locks wait for other locks
// in very many ways. The file has 2 MB. When whole documents
// were made in memory, and chains of locks were followed to
// their end, the JSON of its locks took 840 MB.
func TestMemoryOfLocksLong(t *testing.T) {
	fixture.LongInTurn(t, 1)
	t.Parallel()
	dir := synthesized(t, 4000)
	cpprof := fixture.Cpprof(t)
	for _, c := range fixture.Third([]struct {
		most int64 // MB
		args []string
	}{
		{200, []string{"locks", dir}},
		{200, []string{"locks", dir, "--json"}},
		{200, []string{"report", dir}},
		{200, []string{"classes", dir, "--json"}},
		{200, []string{"why", dir}},
		{200, []string{"monitors", "suggest", dir, "goroutines"}},
		{200, []string{"export", dir, "--to", "folded", "-o", "-"}}, // all classes in one view, each with the holders that it waits for
		{200, []string{"export", dir, "--to", "html", "-o", "-"}},   // with all their changes
		{130, []string{"export", dir, "--thread", "go:main.worker1", "--to", "csv", "-o", "-"}},
		{300, []string{"export", dir, "--to", "pprof", "-o", "-"}}, // two views, of which the second one has the names of locks
	}) {
		if got := mostMemory(t, cpprof, c.args...); got > c.most {
			t.Errorf("cpprof %s: %d MB, want at most %d", strings.Join(c.args, " "), got, c.most)
		}
	}
	testMemoryOfLongNames(t, cpprof)
}

// synthesized writes a recording of some samples, and returns its folder.
func synthesized(t *testing.T, samples int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run.cpprof")
	w := fixture.Must(sampledata.Create(dir, synthetic.Header()))(t)
	fixture.Check(t, errors.Join(synthetic.Record(w, samples, 2000, 0.05), w.Close()))
	return dir
}

// What is printed of very long names is not kept in memory until
// the end. Here they take 30 MB; when a whole profile was made
// into JSON at once, that took ten times as much.
func testMemoryOfLongNames(t *testing.T, cpprof string) {
	dir := filepath.Join(t.TempDir(), "run.cpprof")
	w := fixture.Must(sampledata.Create(dir, synthetic.Header()))(t)
	const names, length = 30, 1_000_000
	var changes []sampledata.Change
	for i := range names {
		f := w.Function(sampledata.Function{Name: fmt.Sprintf("main.f%d%s", i, strings.Repeat("x", length)), File: "main.go", Line: 1})
		changes = append(changes, sampledata.Change{
			Goroutine: w.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: f}),
			State:     sampledata.State{Stack: w.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f, Line: 2}), Run: sampledata.Running},
		})
	}
	for i := range 20 {
		fixture.Check(t, w.Sample(sampledata.Sample{Time: time.Duration(i+1) * time.Millisecond}, changes))
		changes = nil
	}
	fixture.Check(t, errors.Join(w.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: time.Second}), w.Close()))
	for _, args := range fixture.Third([][]string{
		{"report", dir, "--server", "--json"}, {"report", dir, "--server"}, {"export", dir, "--to", "folded", "-o", "-"},
	}) {
		if got := mostMemory(t, cpprof, args...); got > 200 {
			t.Errorf("cpprof %s, with names of %d MB: %d MB", strings.Join(args, " "), names*length>>20, got)
		}
	}
}

// When a recording has been read, garbage is limited: to some
// more than a small one needs, and for a large one to as much as
// it takes itself. A limit in the environment goes before.
func TestGarbageIsLimited(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(123 << 20)
	limitGarbage()
	if got := debug.SetMemoryLimit(-1); got != 123<<20 {
		t.Errorf("the limit of the environment is replaced by %d", got)
	}
	t.Setenv("GOMEMLIMIT", "")
	limitGarbage()
	if got := debug.SetMemoryLimit(-1); got < 200<<20 || got > 1<<30 {
		t.Errorf("with little in memory the limit is %d", got)
	}
	recording := make([]byte, 300<<20)
	limitGarbage()
	if got := debug.SetMemoryLimit(-1); got < 2*int64(len(recording)) || got > 1<<30 {
		t.Errorf("with %d bytes in memory the limit is %d", len(recording), got)
	}
	runtime.KeepAlive(recording)
}
