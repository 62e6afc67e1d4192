package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/why"
)

// TestWhyProbesLong asks why two programs are slow, with probes:
// of one, whose function is waited in and which lock is held; of
// the other, whose function has no frame.
func TestWhyProbesLong(t *testing.T) {
	fixture.Long(t)
	program := fixture.Build(t, "planted")
	ask := func(name string) (*why.Finding, *asked) {
		target := fixture.Start(t, program, name)
		defer target.Process.Kill()
		needsTracing(t, target.Pid())
		file := filepath.Join(t.TempDir(), "run.cpprof")
		a := &asked{}
		a.ask(self(t, "why", "--probes", "--log", "-d", patience, "--json", "-o", file, "-p", strconv.Itoa(target.Pid())))
		f := a.findings(t)
		if len(f) == 0 {
			t.Fatalf("no finding; it is %s", a.State)
		}
		if len(f[0].Measured) == 0 {
			t.Skipf("no probes are possible here: %s", a.said)
		}
		again := &asked{}
		again.ask(self(t, "why", "--json", file))
		if len(again.findings(t)) == 0 || len(again.Findings[0].Measured) != len(f[0].Measured) {
			t.Errorf("the recording has %+v, want %+v", again.Findings, f[0].Measured)
		}
		return f[0], a
	}
	lock, a := ask("lock")
	at := func(role why.Role) why.Measured {
		i := slices.IndexFunc(lock.Measured, func(m why.Measured) bool { return m.Role == role })
		if i < 0 {
			t.Fatalf("no probe of the %s: %+v", role, lock.Measured)
		}
		return lock.Measured[i]
	}
	if m := at(why.PlaceRole); m.Function != "main.(*journal).add" || m.Calls == 0 {
		t.Errorf("%+v", m)
	}
	if m := at(why.HolderRole); m.Function != "main.(*journal).flush" || m.Calls == 0 || m.Mean == 0 {
		t.Errorf("%+v", m)
	}
	if !slices.ContainsFunc(a.Hypotheses, func(h why.Hypothesis) bool { return len(h.Course) > 0 }) {
		t.Errorf("no hypothesis has a course: %+v", a.Hypotheses)
	}
	spin, _ := ask("pipeline")
	if m := spin.Measured; spin.Where.Function != "main.spin" || !strings.Contains(m[0].Refused, "no frame") || len(m) != 2 || m[1].Function != "main.transform" {
		t.Errorf("%+v", m)
	}
}

// TestProbeLaunches probes a program that it starts, and ends it.
func TestProbeLaunches(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "probed")
	in, out, err := os.Pipe()
	fixture.Check(t, err)
	defer in.Close()
	defer out.Close()
	needsTracing(t, fixture.StartWith(t, exec.Command(program, "count", "1"), in).Pid())
	c := self(t, "probe", "-d", "1s", "-o", filepath.Join(t.TempDir(), "run.cpprof"), "main.work", "--", program, "paced", "3000000")
	c.Stdin = strings.NewReader("\n")
	said, err := c.CombinedOutput()
	if strings.Contains(string(said), "not permitted") {
		t.Skip(string(said))
	}
	if err != nil || !strings.Contains(string(said), "the probes are out") || !strings.Contains(string(said), "calls, ") {
		t.Fatalf("%v: %s", err, said)
	}
}
