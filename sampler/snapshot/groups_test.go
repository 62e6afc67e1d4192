//go:build linux && (amd64 || arm64)

package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// groupEnders maps functions of testdata/programs/groups, whose
// goroutines wait, to the functions whose goroutines may end the
// wait.
var groupEnders = map[string][]string{
	"main.waitCaptured":  {"main.startCaptured.func1", "main.startCaptured.func1"},
	"main.waitParameter": {"main.parameter", "main.parameter"},
	"main.waitLast":      {"main.last", "main.last"},
	"main.waitClosure":   {"main.closure", "main.closure"},
	"main.waitLoop":      {"main.loop", "main.loop"},
	"main.waitList":      {"main.list", "main.list"},
	"main.waitHelper":    {"main.helper", "main.helper"},
	"main.waitComputing": {"main.computing"},
	"main.waitField":     {"main.(*job).do", "main.(*job).do"},
	"main.waitGlobal":    {"main.global", "main.global"},
	"main.waitGo":        {"sync.(*WaitGroup).Go.func1", "sync.(*WaitGroup).Go.func1"},
	"main.waitSome":      {"main.parameter"},
	"main.pops":          {"main.pushes"},
	"main.waitTold":      {"main.tells"},
}

// groupFunction returns the function of the program by which a
// stack's goroutine is identified. Up to Go 1.21, it is called
// by one that the compiler generated for the go statement.
func groupFunction(r *sampledata.Recording, stack sampledata.NodeID) (known string) {
	for n := stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
		name := r.Functions[r.Nodes[n].Function].Name
		endsOne := func(enders []string) bool { return slices.Contains(enders, name) }
		if groupEnders[name] != nil || slices.ContainsFunc(slices.Collect(maps.Values(groupEnders)), endsOne) {
			known = name
		}
	}
	return known
}

// checkGroups samples the program and checks for whom its
// goroutines are reported to wait.
func checkGroups(t *testing.T, path string) {
	t.Helper()
	v := fixture.Start(t, path)
	b := open(t, v.Pid())
	r := record(t, b, 60)
	names := map[sampledata.GoroutineID]string{}
	for _, run := range r.Runs.All() {
		names[run.Goroutine] = cmp.Or(groupFunction(r, run.Stack), names[run.Goroutine])
	}
	named := map[string][]string{}
	for _, run := range r.Runs.All() {
		name := names[run.Goroutine]
		if groupEnders[name] == nil && run.Holders != 0 {
			t.Errorf("%s waits for %v", name, r.HolderSets[run.Holders])
		}
		if groupEnders[name] == nil || run.Last != int32(r.Samples.Len())-1 {
			continue
		}
		if run.Run != sampledata.Waiting || goruntime.ReasonOf(run.Reason).Awaits < goruntime.AwaitsChannels || run.Lock == 0 {
			t.Errorf("%s is in state %v for %q at %#x", name, run.Run, run.Reason, run.Lock)
		}
		enders := []string{}
		for _, g := range r.HolderSets[run.Holders] {
			enders = append(enders, names[g])
		}
		slices.Sort(enders)
		named[name] = enders
	}
	for name, want := range groupEnders {
		got, ok := named[name]
		if !ok && name == "main.waitGo" {
			continue // built before Go 1.25
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s may be waiting for %v, want %v", name, got, want)
		}
	}
}

// For a goroutine that waits for a group or a condition, those
// that have yet to do what it waits for are named.
func TestGroupsLong(t *testing.T) {
	fixture.Long(t)
	for name, flags := range map[string][]string{
		"plain":         nil,
		"stripped PIE":  {"-buildmode=pie", "-ldflags=-s -w"},
		"not inlined":   {"-gcflags=-l"},
		"not optimised": {"-gcflags=-N -l"},
	} {
		t.Run(name, func(t *testing.T) { checkGroups(t, fixture.Build(t, "groups", flags...)) })
	}
}
