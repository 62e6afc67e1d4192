package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// writeOtherTools writes files of other tools, with the names
// that they have in the documentation.
func writeOtherTools(t *testing.T, folder string) {
	t.Helper()
	create := func(name string) *os.File {
		f := fixture.Must(os.Create(filepath.Join(folder, name)))(t)
		t.Cleanup(func() { f.Close() })
		return f
	}
	if err := pprof.StartCPUProfile(create("cpu.pb.gz")); err != nil {
		t.Skipf("something else profiles this test: %v", err)
	}
	pprof.Do(t.Context(), pprof.Labels("route", "/api"), func(context.Context) {
		for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		}
	})
	pprof.StopCPUProfile()
	for _, name := range []string{"heap", "mutex"} {
		fixture.Check(t, pprof.Lookup(name).WriteTo(create(name+".pb.gz"), 0))
	}
	if err := trace.Start(create("trace.out")); err != nil {
		t.Skipf("something else traces this test: %v", err)
	}
	for range 40 {
		time.Sleep(time.Millisecond)
	}
	trace.Stop()
	for name, text := range map[string]string{
		"dump.txt":      "goroutine 1 [chan receive]:\nmain.main()\n\t/srv/main.go:12 +0x1d\n\n",
		"stacks.folded": "main;handle;encode 42\nmain;handle 7\n",
		"perf.txt":      "server 4711 [001] 8302.041214: 250000 cpu-clock:\n\t48a3c4 main.encode+0x24 (/srv/server)\n\t49b210 main.handle+0x1b0 (/srv/server)\n\n",
	} {
		fixture.Must(create(name).WriteString(text))(t)
	}
	fixture.Must(create("calls.txt").WriteString("0 > main.main\n1 > main.f\n4 < main.f\n5 < main.main\n"))(t)
}
