package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// The program of a Delve server is recorded, and its goroutines are shown.
func TestConnectLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	program := fixture.Build(t, "mutex")
	target := fixture.Start(t, program)
	address, _ := fixture.DelveServer(t, "attach", fmt.Sprint(target.Pid()), "--accept-multiclient", "--continue")
	name := filepath.Join(t.TempDir(), "remote.cpprof")
	var out, errs strings.Builder
	command := []string{"record", "--connect", address, "--program", program, "-d", "2s", "-o", name}
	if status := run(t.Context(), command, terminal{in: strings.NewReader(""), out: &out, err: &errs}); status != 0 {
		t.Fatalf("%d: %s", status, errs.String())
	}
	if !strings.Contains(errs.String(), "the program continues") {
		t.Errorf("record says %q", errs.String())
	}
	r, err := sampledata.Open(name)
	fixture.Check(t, err)
	if r.Header.PID != int64(target.Pid()) || r.Header.Sampler.Backend != "delve" || r.Samples.Len() == 0 || !r.Complete() {
		t.Errorf("%d samples of %+v", r.Samples.Len(), r.Header)
	}
	out.Reset()
	errs.Reset()
	command = []string{"dump-goroutines", "--connect", address, "--program", program}
	if status := run(t.Context(), command, terminal{in: strings.NewReader(""), out: &out, err: &errs}); status != 0 {
		t.Fatalf("%d: %s", status, errs.String())
	}
	for _, want := range []string{"4 blocked: sync.RWMutex.RLock", "  class go:main.reader, created by main.main"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing: %s", want, out.String())
		}
	}
	refuses(t, []refusal{
		{"record --connect nowhere --program " + program, exitUsage, "want the address of a headless Delve server"},
		{"record --connect localhost:1", exitUsage, "--program"},
		{"record --program " + program + " -- true", exitUsage, "--program goes with --connect"},
		{"record --connect localhost:1 --program " + program + " -p 4711", exitUsage, "--pid needs a program on this system"},
		{"record --connect localhost:1 --program " + program + " --backend snapshot", exitUsage, "--backend delve only"},
		{"record --connect localhost:1 --program " + program + " -m main.x", exitUsage, "--monitor needs"},
		{"record --connect localhost:1 --program " + program + " -- true", exitUsage, "not both"},
		{"dump-goroutines --connect localhost:1", exitUsage, "--program"},
		{"dump-goroutines --connect localhost:1 --program " + program, exitFailed, "is a server there"},
	})
}
