package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// programCalled returns a copy of a test program under another name.
func programCalled(t *testing.T, name string) string {
	t.Helper()
	built := fixture.Must(os.ReadFile(fixture.Build(t, "mutex")))(t)
	path := filepath.Join(t.TempDir(), name)
	fixture.Check(t, os.WriteFile(path, built, 0o777))
	return path
}

// -p takes the name of a program if only one process runs it. Otherwise, and without a value, the error lists what there is.
func TestProcessByName(t *testing.T) {
	const name = "ledger-of-the-test"
	path := programCalled(t, name)
	target := fixture.Start(t, path, "--first")
	needsTracing(t, target.Pid())
	pid := fmt.Sprint(target.Pid())
	if got := call(t, []string{"dump-goroutines", "-p", name}, map[string]string{}); got.status != exitFine || !strings.Contains(got.out, "process "+pid) {
		t.Errorf("status %d: %s%s", got.status, got.out, got.err)
	}
	completed := func(word string) string {
		return call(t, []string{"__complete", "top", "-p", word}, map[string]string{}).out
	}
	if out := completed(""); !strings.Contains(out, name+"\t"+name+" --first\n") {
		t.Errorf("it completes with %s", out)
	}
	if out := completed(pid); !strings.Contains(out, pid+"\t"+name+" --first\n") {
		t.Errorf("it completes with %s", out)
	}
	line := fmt.Sprintf("\n  -p %-8s %s --first\n", pid, name)
	for _, args := range [][]string{{"top", "-p"}, {"top"}, {"record"}, {"dump-goroutines", "-p", "nobody-has-this-name"}} {
		if got := call(t, args, map[string]string{}); got.status != exitUsage || !strings.Contains(got.err, line) || strings.Contains(got.err, "strconv") {
			t.Errorf("%q: status %d: %s", args, got.status, got.err)
		}
	}

	second := fixture.Start(t, path, "--second")
	got := call(t, []string{"top", "-p", name}, map[string]string{})
	for _, want := range []string{"several programs have this name", pid, fmt.Sprint(second.Pid()), "--second"} {
		if got.status != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("status %d, without %q: %s", got.status, want, got.err)
		}
	}
	if out := completed(""); !strings.Contains("\n"+out, "\n"+pid+"\t"+name+" --first\n") {
		t.Errorf("it completes with %s", out)
	}
}

// A name that a shell would interpret isn't offered, only the
// pid of its process.
func TestCompletionOfShellCode(t *testing.T) {
	target := fixture.Start(t, programCalled(t, "$(reboot)"))
	needsTracing(t, target.Pid())
	if out := call(t, []string{"__complete", "top", "-p", ""}, map[string]string{}).out; !strings.Contains(out, fmt.Sprintf("%d\t$(reboot)\n", target.Pid())) {
		t.Errorf("it completes with %s", out)
	}
	for name, plain := range map[string]bool{"server": true, "api-2.1_x": true, "4711": false, "-x": false, "a b": false, "a;b": false, "": false, "é": false} {
		if isPlainName(name) != plain {
			t.Errorf("%q", name)
		}
	}
}
