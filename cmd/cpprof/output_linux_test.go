package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What can't be written ends every command with an error.
func TestOutputThatIsFull(t *testing.T) {
	bob := filepath.Join(recordingOfBob(t), "bob.cpprof")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is full: %v", err)
	}
	defer full.Close()
	for _, line := range []string{"report", "classes", "locks", "why", "info", "report --json"} {
		command, flags, _ := strings.Cut(line, " ")
		var said strings.Builder
		status := run(t.Context(), append([]string{command, bob}, strings.Fields(flags)...), terminal{out: full, err: &said})
		if status != exitFailed || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%s ends with %d: %s", line, status, said.String())
		}
	}
}
