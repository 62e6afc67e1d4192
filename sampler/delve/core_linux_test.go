package delve

import (
	"path/filepath"
	"testing"

	"github.com/go-delve/delve/service/rpc2"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A core dump that a debugger wrote has goroutines that run. (If
// a program crashes, its runtime stops them before.)
func TestCoreOfRunningGoroutinesLong(t *testing.T) {
	fixture.Long(t)
	program := fixture.Build(t, "states")
	client := rpc2.NewClient(serveRunning(t, fixture.Start(t, program, "runnable")))
	defer client.Disconnect(false)
	path := filepath.Join(t.TempDir(), "core")
	state, err := client.CoreDumpStart(path)
	for err == nil && state.Dumping {
		state = client.CoreDumpWait(1000)
	}
	if err != nil || state.Err != "" {
		t.Fatal(err, state.Err)
	}
	r := fixture.Must(ReadCore(path, program))(t)
	states := map[sampledata.RunState]int{}
	for _, s := range samples(r, "main.spin")[0] {
		states[s.state.Run]++
		if s.state.Run == sampledata.Running && (s.state.Torn || !s.has("main.spin")) {
			t.Errorf("the stack of the running goroutine is %v", s.stack())
		}
	}
	if states[sampledata.Running] != 1 || states[sampledata.Runnable] != 3 {
		t.Errorf("the states are %v, want 1 running and 3 runnable", states)
	}
}
