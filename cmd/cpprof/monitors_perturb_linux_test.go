package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// perturbed runs cpprof perturb, and returns the quantities that
// it compares, by name, and their names in order.
func perturbed(t *testing.T, args ...string) (map[string]perturbedQuantity, []string) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"monitors", "perturb", "--json"}, args...), terminal{in: strings.NewReader(""), out: &out, err: &errs}); status != exitFine {
		t.Fatalf("status %d: %s", status, &errs)
	}
	var found struct{ Effects []perturbedQuantity }
	fixture.Check(t, json.Unmarshal(out.Bytes(), &found))
	of := map[string]perturbedQuantity{}
	var names []string
	for _, e := range found.Effects {
		of[e.Name] = e
		names = append(names, e.Name)
	}
	return of, names
}

type perturbedQuantity struct {
	Name          string
	With, Without []*float64
	Difference    *float64
}

// A command is run with and without a recording, as often as
// asked for, and its time and memory are compared.
func TestPerturbCommandLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	needsTracing(t, fixture.Start(t, fixture.Build(t, "states"), "parked", "1").Pid())
	of, names := perturbed(t, "-n", "2", "--", fixture.Build(t, "brief"))
	if names[0] != "elapsed" {
		t.Errorf("the first is %s", names[0])
	}
	for name, least := range map[string]float64{"elapsed": 2, "processor time": 0.01, "peak resident": 1 << 20, "minor faults": 10} {
		e := of[name]
		if len(e.With) != 2 || len(e.Without) != 2 || e.Difference == nil {
			t.Errorf("%s: %+v", name, e)
			continue
		}
		for _, x := range slices.Concat(e.With, e.Without) {
			if x == nil || *x < least {
				t.Errorf("%s: %v, want at least %v", name, x, least)
			}
		}
	}
}

// A running program is sampled in some turns and not in others,
// and is left as it was.
func TestPerturbProcessLong(t *testing.T) {
	fixture.Long(t)
	target := fixture.Start(t, fixture.Build(t, "states"), "collector")
	needsTracing(t, target.Pid())
	of, names := perturbed(t, "-n", "3", "-d", "300ms", "-p", fmt.Sprint(target.Pid()), "--progress", "rate(heap.allocated_bytes) / 2")
	if names[0] != "rate(heap.allocated_bytes) / 2" {
		t.Errorf("the first is %s", names[0])
	}
	for _, name := range []string{names[0], "rate(process.cpu)", "heap.live"} {
		e := of[name]
		if len(e.With) != 3 || len(e.Without) != 3 {
			t.Fatalf("%s: %+v", name, e)
		}
		for _, x := range slices.Concat(e.With, e.Without) {
			if x == nil || *x <= 0 {
				t.Errorf("%s: %v", name, x)
			}
		}
	}
	needsTracing(t, target.Pid()) // nobody else traces it
}

// What makes no sense is refused before anything runs.
func TestPerturbRefuses(t *testing.T) {
	for _, of := range []struct{ args, want string }{
		{"-n 1 -- true", "one value has no deviation"},
		{"--base all -- true", "want nothing or stacks"},
		{"--base stacks --no-monitors -- true", "compares a recording with itself"},
		{"--progress time -- true", "--progress is for a running program"},
		{"-d 1ms -p 1", "want turns of 200ms or more"},
		{"", "give a command"},
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), append([]string{"monitors", "perturb"}, strings.Fields(of.args)...), terminal{in: strings.NewReader(""), out: &out, err: &errs})
		if status != exitUsage || !strings.Contains(errs.String(), of.want) {
			t.Errorf("%s: status %d: %s", of.args, status, &errs)
		}
	}
}
