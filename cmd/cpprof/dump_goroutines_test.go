package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// attached runs a command on a running target, in this process.
func attached(t testing.TB, target *fixture.Running, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	args = append(args, "-p", fmt.Sprint(target.Pid()))
	status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &out, err: &errs})
	if status != exitFine {
		t.Fatalf("cpprof %q ends with %d: %s", args, status, errs.String())
	}
	return out.String()
}

// With each backend, the dump shows what the goroutines of a
// program do, and the program continues.
func TestDumpGoroutines(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	type group struct {
		Count   int
		State   string
		Classes []struct{ Class string }
		Locks   []struct{ Address string }
		Frames  []struct {
			Function, File string
			Line           int
		}
	}
	for _, backend := range backendNames() {
		t.Run(backend, func(t *testing.T) {
			var got struct {
				PID    int
				Groups []group
			}
			text := attached(t, target, "dump-goroutines", "--json", "--backend", backend)
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if got.PID != target.Pid() {
				t.Errorf("the dump is of process %d, want %d", got.PID, target.Pid())
			}
			readers := 0
			for i, g := range got.Groups {
				if i > 0 && g.Count > got.Groups[i-1].Count {
					t.Errorf("group %d is larger than the one before", i)
				}
				if len(g.Classes) == 1 && g.Classes[0].Class == "go:main.reader" {
					readers += g.Count
					outermost := g.Frames[len(g.Frames)-1]
					if g.State != "blocked" || len(g.Locks) != 1 || outermost.Function != "main.reader" ||
						!strings.HasSuffix(outermost.File, "mutex/main.go") || outermost.Line == 0 {
						t.Errorf("the readers wait for a lock: %+v", g)
					}
				}
			}
			if readers != 4 {
				t.Errorf("%d readers, want 4: %s", readers, text)
			}
		})
	}
	text := attached(t, target, "dump-goroutines")
	for _, want := range []string{"4 blocked: sync.RWMutex.RLock", "  class go:main.reader, created by main.main", "    main.reader  /"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing: %s", want, text)
		}
	}
}

func TestDumpGoroutinesRefuses(t *testing.T) {
	refuses(t, []refusal{
		{"dump-goroutines", exitUsage, "give a process: cpprof dump-goroutines -p PROCESS"},
		{"dump-goroutines 4711", exitUsage, "there is no file 4711"},
		{"dump-goroutines -p 1 --backend magic", exitUsage, "no such backend"},
		{"dump-goroutines -p 99999999", exitFailed, "attach to 99999999: no such process"},
	})
}

// A refusal is a wrong command line with its exit status and a
// part of its error.
type refusal struct {
	line   string
	status int
	want   string
}

func refuses(t *testing.T, list []refusal) {
	t.Helper()
	for _, c := range list {
		var errs strings.Builder
		status := run(t.Context(), strings.Fields(c.line), terminal{in: strings.NewReader(""), out: &errs, err: &errs})
		if status != c.status || !strings.Contains(errs.String(), c.want) {
			t.Errorf("cpprof %s ends with %d, want %d; it says %q, want %q", c.line, status, c.status, errs.String(), c.want)
		}
	}
}

// The dump names the goroutines that may end a wait that is not
// for a lock, each with its function.
func TestDumpGoroutinesNamesCandidatesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "groups"))
	needsTracing(t, target.Pid())
	fixture.Measure(t, func(t testing.TB) { namesCandidates(t, target) })
}

type frame struct{ Function string }

// outermost returns the outermost frame of a stack, if the stack is known.
func outermost(frames []frame) frame {
	if len(frames) == 0 {
		return frame{}
	}
	return frames[len(frames)-1]
}

// namesCandidates checks one dump. The stack of a running
// goroutine may be missing in it.
func namesCandidates(t testing.TB, target *fixture.Running) {
	var got struct {
		Groups []struct {
			Reason string
			Waits  []struct {
				Candidates []struct {
					ID       int64
					Function string
				}
			}
			IDs    []int64
			Frames []frame
		}
	}
	text := attached(t, target, "dump-goroutines", "--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	jobs := map[int64]bool{}
	for _, g := range got.Groups {
		if outermost(g.Frames).Function == "main.(*job).do" {
			for _, id := range g.IDs {
				jobs[id] = true
			}
		}
	}
	for _, g := range got.Groups {
		if outermost(g.Frames).Function != "main.waitField" {
			continue
		}
		if g.Reason != "sync.WaitGroup.Wait" || len(g.Waits) != 1 || len(g.Waits[0].Candidates) != 2 {
			t.Fatalf("it waits for two: %+v", g)
		}
		for _, c := range g.Waits[0].Candidates {
			if !jobs[c.ID] || c.Function != "main.work" {
				t.Errorf("candidate %+v, want one of %v", c, jobs)
			}
		}
		return
	}
	t.Errorf("nobody waits: %s", text)
}
