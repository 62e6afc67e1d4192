package main

import (
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/internal/demo"
	"github.com/cpprof/cpprof/internal/fixture"
)

// TestDemoTellsTheTruth records the demo and holds its profile against the problems that it has on purpose.
//
// The least costs are about half of the usual ones. A cost is a mean over the recording's samples; with n samples a
// cost of c strays by 4*sqrt(c*(1-c)/n) at most, where samples are independent and goroutines of a class are alike.
func TestDemoTellsTheTruth(t *testing.T) {
	needsTracing(t, fixture.Start(t, fixture.BuildOnce(t, "mutex")).Pid())
	file := filepath.Join(t.TempDir(), "demo.cpprof")
	said, err := exec.CommandContext(t.Context(), fixture.Cpprof(t), "demo", "-o", file).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	s, err := (&viewFlags{accounting: "observed"}).open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.recording.Check(); err != nil {
		t.Error(err)
	}
	if s.config, err = config.Parse("demo.yaml", demo.Config()); err != nil {
		t.Fatal(err)
	}
	n := float64(len(s.recording.Samples))
	if n < 30 {
		t.Skipf("only %v samples: this machine is too busy for a profile", n)
	}
	for _, problem := range demo.Truth() {
		for _, e := range problem.Evidence {
			if e.Holders && s.recording.Header.Sampler.Backend != "snapshot" {
				continue // which alone names holders
			}
			exact, err := evidenceCost(s, e)
			if err != nil {
				t.Fatal(err)
			}
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
