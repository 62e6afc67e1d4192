package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Secrets in a command line are in no recording, list or output,
// unless --full-command asks for them.
func TestSecretsInCommandLines(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	program := fixture.Build(t, "lifecycle")
	target := fixture.Start(t, program, "wait", "--password="+secret, "--token", secret, "PASSWORD="+secret, "db://me:"+secret+"@host")
	needsTracing(t, target.Pid())
	dir, pid := t.TempDir(), fmt.Sprint(target.Pid())
	output := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &out, err: &out}); status != exitFine {
			t.Fatalf("%q: %s", args, out.String())
		}
		return out.String()
	}
	for _, full := range []bool{false, true} {
		file := filepath.Join(dir, "run.cpprof")
		args := []string{"record", "-f", "-d", "100ms", "-o", file, "-p", pid}
		if full {
			args = append(args, "--full-command")
		}
		output(args...)
		r := fixture.Must(sampledata.Open(file))(t)
		recorded := strings.Join(r.Header.Command, " ")
		if got := strings.Count(recorded, secret); full != (got == 4) || !full && got > 0 || !strings.HasPrefix(recorded, program+" wait --password=") {
			t.Errorf("recorded is %q, with the secrets: %v", recorded, full)
		}
		for _, info := range []string{output("info", file), output("info", "--json", file)} {
			if full != strings.Contains(info, secret) {
				t.Errorf("with the secrets: %v, but info prints\n%s", full, info)
			}
		}
	}
	if text := output("dump-goroutines", "--json", "-p", pid); strings.Contains(text, secret) {
		t.Errorf("dump-goroutines prints\n%s", text)
	}
	c := startMCP(t)
	for _, text := range []any{c.object("list_processes", nil), c.object("record", map[string]any{"process": pid, "seconds": 0.1})} {
		if said := fmt.Sprint(text); strings.Contains(said, secret) || !strings.Contains(said, "lifecycle") {
			t.Errorf("an assistant gets %s", said)
		}
	}
	// A launched program, which cpprof does not read from /proc.
	r := startRecording(t, "--", program, "wait", "--password="+secret)
	defer r.Process.Kill()
	recorded := fixture.Must(sampledata.Open(r.file))(t)
	defer syscall.Kill(int(recorded.Header.PID), syscall.SIGKILL)
	if text := output("info", "--json", r.file); strings.Contains(text, secret) || !strings.Contains(text, "--password=***") {
		t.Errorf("info prints\n%s", text)
	}
}
