//go:build linux && (amd64 || arm64)

package monitor

import (
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// requests opens a set of monitors of a program.
func requests(t *testing.T, pid int, list ...Request) (*Set, *sampledata.Builder, error) {
	t.Helper()
	sources := fixture.Must(Choose(false, list))(t)
	b := sampledata.NewBuilder(sampledata.Header{})
	s, err := Open(Target{PID: pid}, sources)
	if err == nil {
		t.Cleanup(func() { s.Close() })
		s.Define(b)
	}
	return s, b, err
}

// The values of expressions follow the program's variables; a
// nil pointer on the way is not measured.
func TestVariables(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "variables"))
	s, b, err := requests(t, target.Pid(), Request{"main.served", true}, Request{"main.srv.next.id", true},
		Request{"len(main.q.items)", true}, Request{"main.srv.nothing", false}, Request{"process.cpu", true})
	fixture.Check(t, err)
	measured(t, s, b)
	fixture.Check(t, target.Process.Signal(syscall.SIGUSR1))
	fixture.Must(target.Out.ReadString('\n'))(t)
	measured(t, s, b)
	got := map[string]string{}
	for _, series := range b.Recording().Series {
		var values []string
		for at, v := range series.All() {
			values = append(values, strings.Repeat("-", at)+v.String())
		}
		got[series.Name] = strings.Join(values, " ") + series.Unmeasured
		if series.Name == "main.served" && (series.Layer != sampledata.Application || series.Source != "the program's memory: main.served int") {
			t.Errorf("%+v", series.Monitor)
		}
	}
	for name, want := range map[string]string{
		"main.served": "0 -2", "main.srv.next.id": "-0", "len(main.q.items)": "0 -2",
		"main.srv.nothing": "main.server has no field nothing; it has base, name, open, stats, table, byName, ch, next, served, handler",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if n := len(strings.Fields(got["process.cpu"])); n < 1 || n > 2 || len(got) != 5 { // it is not read at each sample
		t.Errorf("%v", got)
	}
}

// What is required and can't be measured is an error; otherwise
// the recording has the reason.
func TestRequired(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "variables", "-ldflags=-w"))
	if _, _, err := requests(t, target.Pid(), Request{"main.served", true}); err == nil || !strings.Contains(err.Error(), "no debug information") {
		t.Errorf("%v", err)
	}
	s, b, err := requests(t, target.Pid(), Request{"main.served", false})
	fixture.Check(t, err)
	measured(t, s, b)
	if list := b.Recording().Series; len(list) != 1 || !strings.Contains(list[0].Unmeasured, "build it without -ldflags=-s and -w") {
		t.Errorf("%+v", list)
	}
	if _, err := Choose(true, []Request{{"main.a b", true}}); err == nil {
		t.Error("no error for an expression that can't be read")
	}
}
