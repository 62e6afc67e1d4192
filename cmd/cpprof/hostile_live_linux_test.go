package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// hostileProgram returns the path of a program whose functions, types, variables, labels and file have hostile names.
func hostileProgram(t *testing.T) string {
	t.Helper()
	built, err := os.ReadFile(fixture.Build(t, "renamed", "-ldflags=-compressdwarf=false"))
	if err != nil {
		t.Fatal(err)
	}
	const end = "IsLongEnoughToBeReplacedByAnotherOne"
	for _, begin := range []string{"aTypeWhoseName", "aFieldWhoseName", "aVariableWhoseName", "aLabelWhoseText", "aWaiterWhoseName", "aRunnerWhoseName"} {
		long := begin + end
		if !bytes.Contains(built, []byte(long)) {
			t.Fatalf("the program has no %s", long)
		}
		built = bytes.ReplaceAll(built, []byte(long), []byte(hostile+long[len(hostile):]))
	}
	path := filepath.Join(t.TempDir(), "x"+hostile)
	if err := os.WriteFile(path, built, 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever a running program and its functions, types, labels and arguments are called, nothing but text and line ends
// reaches the terminal.
func TestHostilePrograms(t *testing.T) {
	target := fixture.Start(t, hostileProgram(t), hostile)
	needsTracing(t, target.Pid())
	t.Chdir(t.TempDir())
	pid, renamed := fmt.Sprint(target.Pid()), 0
	for _, args := range [][]string{
		{"record", "-d", "300ms", "-p", pid},
		{"record", "-d", "300ms", "-o", "record" + hostile, "-p", pid},
		{"record", "-d", "300ms", "--backend", "delve", "-o", "delve", "-p", pid},
		{"record", "-d", "300ms", "-o", "launched", "--", target.Path, hostile, "briefly"},
		{"top", "-n", "2", "-d", "200ms", "-p", pid},
		{"top", "-n", "2", "-d", "200ms", "--class-by", "label:key " + hostile, "-p", pid},
		{"dump-goroutines", "-p", pid},
		{"dump-goroutines", "--json", "-p", pid},
		{"dump-goroutines", "-p", "x" + hostile},
		{"dump-goroutines", "-p", hostile},
		{"dump-goroutines"},
		{"top", "-p"},
		{"record"},
		{"__complete", "record", "-p", ""},
		{"__complete", "record", "-p", pid},
	} {
		t.Run(strings.Join(args[:min(len(args), 2)], " "), func(t *testing.T) {
			got := call(t, args, map[string]string{})
			all := strings.ReplaceAll(got.out, "\t", " ") + got.err // a tab is between a completion and its description
			checkTame(t, all)
			if strings.Contains(all, "INJECTED") {
				renamed++
			}
		})
	}
	if renamed < 10 {
		t.Errorf("only %d commands have shown a hostile name", renamed)
	}
	for _, recording := range []string{"record" + hostile, "delve", "launched"} {
		for _, args := range [][]string{{"report", recording}, {"classes", recording}, {"locks", recording}, {"info", recording}} {
			got := call(t, args, map[string]string{})
			if got.status != exitFine {
				t.Errorf("%q: %s", args, got.err)
			}
			checkTame(t, got.out+got.err)
		}
	}
}
