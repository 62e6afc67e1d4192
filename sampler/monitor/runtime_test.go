//go:build linux && (amd64 || arm64)

package monitor

import (
	"encoding/json"
	"maps"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// readOnce returns the current values of a reader's monitors, by name.
func readOnce(t *testing.T, r Reader) map[string]sampledata.Value {
	t.Helper()
	list := fixture.Must(r.Read(nil))(t)
	values := map[string]sampledata.Value{}
	for i, m := range r.Monitors() {
		values[m.Name] = list[i]
		if m.Unmeasured != "" || !list[i].Measured() {
			t.Errorf("%s is not measured: %s", m.Name, m.Unmeasured)
		}
	}
	return values
}

// The statistics in the program's memory are what the program's
// own runtime reports, with and without debug information.
func TestRuntimeStatistics(t *testing.T) {
	for name, flags := range map[string][]string{"debug information": nil, "stripped": {"-ldflags=-s -w"}} {
		t.Run(name, func(t *testing.T) { compareRuntime(t, fixture.Build(t, "statistics", flags...)) })
	}
}

func compareRuntime(t *testing.T, program string) {
	target := fixture.Start(t, program)
	var want map[string]float64
	if err := json.Unmarshal([]byte(target.Line), &want); err != nil {
		t.Fatalf("%s: %v", target.Line, err)
	}
	time.Sleep(50 * time.Millisecond) // until the program waits
	r := readerOf(t, runtimeStatistics, target.Pid())
	got := readOnce(t, r)
	maps.Copy(got, readOnce(t, readerOf(t, heapObjects, target.Pid())))
	for name, w := range want {
		if name == "heap.free" || name == "heap.released" {
			continue // the runtime releases memory in the background: only their sum stays
		}
		// Printing allocates a little.
		within := map[string]float64{
			"heap.allocated_objects": 300, "heap.freed_objects": 0, "gc.cycles": 0, "gc.pause": 0, "sched.processors": 0, "sched.threads": 1,
			"gc.assist": 1, "gc.workers": 1, "gc.idle_workers": 1, "heap.live": 2 << 20, "heap.freed_bytes": 0,
		}
		tolerance, ok := within[name]
		if !ok {
			tolerance = 256 << 10
		}
		v, _ := got[name].Float()
		if math.Abs(v-w) > tolerance {
			t.Errorf("%s is %v, but the program reports %v", name, v, w)
		}
	}
	free, _ := got["heap.free"].Float()
	released, _ := got["heap.released"].Float()
	if w := want["heap.free"] + want["heap.released"]; math.Abs(free+released-w) > 256<<10 {
		t.Errorf("%v + %v bytes are free or released, but the program reports %v", free, released, w)
	}
	if idle, _ := got["sched.idle_processors"].Float(); idle != want["sched.processors"] || got["gc.phase"] != sampledata.Word("off") {
		t.Errorf("%v idle processors of %v, phase %v", idle, want["sched.processors"], got["gc.phase"])
	}
	if want["gc.cycles"] < 2 || want["gc.workers"] == 0 || want["heap.freed_objects"] < 100_000 {
		t.Errorf("the program does too little: %v", want)
	}
	checkQueues(t, target, r, want["sched.processors"])
}

// checkQueues lets twenty goroutines compute: all but those that
// have a processor are in the queues.
func checkQueues(t *testing.T, target *fixture.Running, r Reader, processors float64) {
	fixture.Check(t, target.Process.Signal(syscall.SIGUSR1))
	fixture.Must(target.Out.ReadString('\n'))(t)
	for range 200 {
		now := readOnce(t, r)
		number := func(name string) float64 { f, _ := now[name].Float(); return f }
		queued := number("sched.queue") + number("sched.local_queues")
		if queued == 20-processors && number("sched.idle_processors") == 0 && number("sched.longest_queue") <= queued {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("not once are %v goroutines in the queues: %v", 20-processors, readOnce(t, r))
}
