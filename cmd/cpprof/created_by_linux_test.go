package main

import (
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// A request owns the goroutines that it started, and those that
// they started.
func TestCreatedByOfAProgram(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "fanout"))
	needsTracing(t, target.Pid())
	file := filepath.Join(t.TempDir(), "run.cpprof")
	var out strings.Builder
	in := func(line ...string) string {
		t.Helper()
		out.Reset()
		if status := run(t.Context(), line, terminal{in: strings.NewReader(""), out: &out, err: &out}); status != exitFine {
			t.Fatalf("%q ends with status %d: %s", line, status, &out)
		}
		return out.String()
	}
	in("record", "-o", file, "-p", strconv.Itoa(target.Pid()), "-d", "2s", "--max-cpu", "0")
	r := fixture.Must(sampledata.Open(file))(t)
	helped := func(r *sampledata.Recording, o views.Options) *big.Rat {
		t.Helper()
		v := fixture.Must(views.Thread(r, "go:main.request", o))(t)
		path, err := callpath.Parse("* main.request main.search main.fan +go:main.work main.work +go:main.help")
		fixture.Check(t, err)
		return callpath.Total(v.Tree, nil, path).Weight
	}
	classes := fixture.Must(views.Classes(r, views.Options{}))(t)
	o := views.Options{CreatedBy: true}
	for _, c := range classes {
		// the requests of some helpers may have gone when these
		// were first seen
		if least := new(big.Rat).Mul(c.Time, big.NewRat(9, 10)); c.Class == "go:main.help" && helped(r, o).Cmp(least) < 0 {
			t.Errorf("the requests own %v of the %v ns of their helpers", helped(r, o), c.Time)
		}
	}
	table := fixture.Must(calls.Of(r, "main.search"))(t)
	within := fixture.Must(table.Restrict(calls.Condition{}, true))(t)
	if a, b := helped(within, o), helped(r, o); a.Cmp(new(big.Rat).Mul(b, big.NewRat(8, 10))) < 0 || a.Cmp(b) > 0 {
		t.Errorf("in the calls, helpers have %v of %v ns", a, b)
	}
	shown := in("report", file, "--created-by", "--thread", "main.request", "--calls", "main.search", "--extended", "* ..+go:main.help")
	if !strings.Contains(shown, "goroutines charged to their creators, in ") || strings.Contains(shown, "main.ping") {
		t.Errorf("the calls of main.search with what they started:\n%s", shown)
	}
	if shown := in("classes", file, "--created-by"); !strings.Contains(shown, "classes overlap") {
		t.Errorf("the classes are\n%s", shown)
	}
}
