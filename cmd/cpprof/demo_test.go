package main

import (
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/demo"
	"github.com/cpprof/cpprof/internal/fixture"
)

// TestDemoShowsItsProblemsLong records the demo and checks that
// its profile shows the problems that it has on purpose.
//
// The least costs are about half of the usual ones. A cost is a
// mean over the recording's samples. If samples are independent
// and the goroutines of a class are alike, a cost of c from n
// samples varies by at most 4*sqrt(c*(1-c)/n).
func TestDemoShowsItsProblemsLong(t *testing.T) {
	fixture.Long(t)
	needsTracing(t, fixture.Start(t, fixture.Build(t, "mutex")).Pid())
	file := filepath.Join(t.TempDir(), "demo.cpprof")
	said, err := exec.CommandContext(t.Context(), fixture.Cpprof(t), "demo", "-o", file).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	s := fixture.Must((&viewFlags{inputFlags: inputFlags{err: io.Discard}}).open(file))(t)
	if err := s.recording.Check(); err != nil {
		t.Error(err)
	}
	s.config = fixture.Must(config.Parse("demo.yaml", demo.Config()))(t)
	n := float64(s.recording.Samples.Len())
	if n < 30 {
		t.Skipf("only %v samples: this machine is too busy for a profile", n)
	}
	for _, problem := range demo.Truth() {
		for _, e := range problem.Evidence {
			if e.Holders && s.recording.Header.Sampler.Backend != "snapshot" {
				continue // only the snapshot backend names holders
			}
			exact := fixture.Must(evidenceCost(s, e))(t)
			cost, _ := exact.Float64()
			least, _ := e.Least.Float64()
			if least -= 4 * math.Sqrt(least*(1-least)/n); cost < least {
				t.Errorf("%s: %s costs %.3f in %v samples, want at least %.3f", problem.Name, e.Path, cost, n, least)
			}
		}
		if !strings.Contains(string(said), problem.Name) {
			t.Errorf("the demo does not name its problem %q", problem.Name)
		}
	}
}
