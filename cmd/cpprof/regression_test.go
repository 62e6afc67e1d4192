//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// TestRegressionOfAProcess records a program without and with a
// copy under a lock. find lists the copy first.
func TestRegressionOfAProcessLong(t *testing.T) {
	fixture.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	program := fixture.Build(t, "regression")
	const enough = 40 // samples, so that the difference is more than chance
	recordOf := func(args ...string) string {
		target := fixture.Start(t, program, args...)
		defer target.Process.Kill()
		for time := 2; ; time *= 2 {
			r := startRecording(t, "-d", fmt.Sprintf("%ds", time), "-p", fmt.Sprint(target.Pid()))
			r.finish(t, 0, sampledata.EndDuration)
			if n := r.recording(t).Samples.Len(); n >= enough || time > 16 {
				t.Logf("%d samples in %d s", n, time)
				return r.file
			}
		}
	}
	before, after := recordOf("plain"), recordOf("copy")
	for _, c := range []struct{ view, culprit string }{
		{"--server", "main.(*journal).publish"},
		{"--thread=main.worker", "main.(*journal).add"}, // most of it is waiting for the lock
	} {
		out := fixture.Must(self(t, "find", after, "--against", before, c.view, "--json").Output())(t)
		var found struct {
			Bottlenecks []struct{ Path []string }
		}
		fixture.Check(t, json.Unmarshal(out, &found))
		if len(found.Bottlenecks) == 0 || !slices.Contains(found.Bottlenecks[0].Path, c.culprit) {
			t.Errorf("%s: the first entry is not in %s:\n%s", c.view, c.culprit, out)
		}
	}
}
