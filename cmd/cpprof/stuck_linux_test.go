package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// stuckOutput is what the tests read of the JSON output.
type stuckOutput struct {
	Stuck    int
	Proved   bool
	Findings []struct {
		Fault, Verdict string
		Cause          string
		Goroutines     int
		Groups, Behind []struct {
			IDs      []int64
			WaitsFor string `json:"waits_for"`
			Frames   []struct{ Function string }
		}
	}
}

// runStuck runs the command, and returns its output and status.
func runStuck(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e strings.Builder
	status = run(t.Context(), append([]string{"stuck"}, args...), terminal{in: strings.NewReader(""), out: &o, err: &e})
	return o.String(), e.String(), status
}

// causes are what the program of that name has. An old pointer
// may hide one of them, now and then.
var causes = map[string]string{
	"12 main.send": "nobody left", "1 main.produce, behind: 5 main.consume": "nobody left", "1 main.nilChannel.func1": "nil channel",
	"1 main.(*box).late": "holder gone", "1 main.waiter": "nobody left", "1 main.condition.func1": "nobody left",
	"1 main.receiver": "nobody left", "1 main.undecided.func1": "nobody left", "1 main.(*box).inner": "itself",
	"1 main.(*box).first, 1 main.(*box).second": "circle", "1 main.(*box).reader, 1 main.(*box).writer": "recursive read",
	"1 main.(*pool).run": "nobody left",
}

// waitedFor are the names of what goroutines of that program
// wait for, by function.
var waitedFor = map[string]string{
	"main.send": "c in main.send", "main.receiver": "main.(*box).done", "main.(*box).late": "main.(*box).a",
	"main.waiter": "g in main.waiter", "main.condition.func1": "c in main.condition", "main.(*box).writer": "main.(*box).rw",
	"main.nilChannel.func1": "", "main.undecided.func1": "a or b in main.undecided", "main.(*pool).run": "done in main.(*pool).run",
}

// Each way to get stuck has its cause, and what is waited for
// has its name.
func TestStuck(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	for try := 0; try < 4 && len(found) < len(causes); try++ {
		target := fixture.Start(t, fixture.Build(t, "stuck"))
		needsTracing(t, target.Pid())
		text, errs, status := runStuck(t, "-p", fmt.Sprint(target.Pid()), "--json", "--max-halt", "500ms", "--fail-above", "20%")
		var got stuckOutput
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v: %s%s", err, text, errs)
		}
		if got.Stuck < 22 || got.Stuck > 30 || !got.Proved || status != exitAbove || !strings.Contains(errs, "cpprof: more than 20%: ") {
			t.Errorf("%d are stuck, proved %v; status %d: %s", got.Stuck, got.Proved, status, errs)
		}
		for names, fault := range got.faults(t) {
			if causes[names] == fault {
				found[names] = fault
			} else if try == 3 {
				t.Errorf("%s: %q", names, fault)
			}
		}
	}
	for names, fault := range causes {
		if found[names] == "" {
			t.Errorf("no finding is %s: %s", fault, names)
		}
	}
}

// faults returns the faults by the functions of goroutines,
// whose names it checks.
func (o *stuckOutput) faults(t *testing.T) map[string]string {
	faults := map[string]string{}
	for _, f := range o.Findings {
		var names []string
		for _, g := range f.Groups {
			function := programFunction(g.Frames)
			if want, known := waitedFor[function]; known && g.WaitsFor != want {
				t.Errorf("%s waits for %q, want %q", function, g.WaitsFor, want)
			}
			names = append(names, fmt.Sprintf("%d %s", len(g.IDs), function))
		}
		slices.Sort(names)
		for _, g := range f.Behind {
			names = append(names, fmt.Sprintf("behind: %d %s", len(g.IDs), programFunction(g.Frames)))
		}
		faults[strings.Join(names, ", ")] = f.Fault
		if f.Fault == "holder gone" && !strings.Contains(f.Cause, "main.(*box).keep (main.go:") {
			t.Errorf("the function that has returned with the lock is not named: %s", f.Cause)
		}
	}
	return faults
}

// programFunction returns the innermost function of the program itself.
func programFunction(frames []struct{ Function string }) string {
	for _, f := range frames {
		if strings.HasPrefix(f.Function, "main.") {
			return f.Function
		}
	}
	return ""
}

// What was stuck when a program ended is named, and its exit
// status is kept.
func TestStuckCommand(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "stuck")
	out, errs, status := runStuck(t, "--max-halt", "500ms", "--fail-above", "0", "--", program, "forgotten", "0", "3s")
	if status != exitAbove || !strings.Contains(out, "1 goroutine is stuck for good: no goroutine that is left can send") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if _, errs, status := runStuck(t, "--max-halt", "1us", "-p", "1"); status != exitUsage || !strings.Contains(errs, "--max-halt 1µs: want") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// Of a program in which nothing is stuck, nothing is claimed.
func TestNothingStuckLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "groups"))
	needsTracing(t, target.Pid())
	out, errs, status := runStuck(t, "-p", fmt.Sprint(target.Pid()), "--fail-above", "0")
	if status != exitFine || !strings.Contains(out, "none was found to be stuck for good") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// crash lets a program write a core dump with some of its
// memory, and returns its path.
func crash(t *testing.T, program, filter string) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		t.Skipf("this system writes core dumps elsewhere: %s", pattern)
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited && echo "+filter+" > /proc/self/coredump_filter && exec "+program)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTRACEBACK=crash")
	cmd.Stdout, _ = os.Create(filepath.Join(dir, "out"))
	fixture.Check(t, cmd.Start())
	for b := []byte(nil); !strings.Contains(string(b), "ready"); time.Sleep(10 * time.Millisecond) {
		b, _ = os.ReadFile(filepath.Join(dir, "out"))
	}
	cmd.Process.Signal(syscall.SIGABRT)
	cmd.Wait()
	dumps, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(dumps) == 0 {
		t.Skip("the kernel wrote no core dump")
	}
	return dumps[0]
}

// A core dump is of one moment, and so a proof.
func TestStuckCore(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "stuck")
	dump := crash(t, program, "0x7f")
	text, errs, _ := runStuck(t, dump, "--program", program, "--json")
	var got stuckOutput
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s%s", err, text, errs)
	}
	if got.Stuck < 22 || got.Stuck > 30 || !got.Proved {
		t.Errorf("%d are stuck, proved %v: %s", got.Stuck, got.Proved, text)
	}
	if _, errs, status := runStuck(t, dump); status == exitFine || !strings.Contains(errs, "--program") {
		t.Errorf("without a program: status %d: %s", status, errs)
	}
	_, errs, status := runStuck(t, crash(t, program, "0x10"), "--program", program)
	if status != exitFailed || !strings.Contains(errs, "it lacks pages of the heap") {
		t.Errorf("without the heap: status %d: %s", status, errs)
	}
	damaged := filepath.Join(t.TempDir(), "core")
	whole := fixture.Must(os.ReadFile(dump))(t)
	fixture.Check(t, os.WriteFile(damaged, whole[:len(whole)/2], 0o666))
	text, errs, _ = runStuck(t, damaged, "--program", program)
	if strings.Contains(text, "are stuck for good") {
		t.Errorf("of half a core dump: %s%s", text, errs)
	}
}

// What a recording found, why, stuck and a dump of the same
// program say alike.
func TestStuckRecordingLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "stuck"))
	needsTracing(t, target.Pid())
	dir := filepath.Join(t.TempDir(), "run.cpprof")
	attached(t, target, "record", "-o", dir, "-d", "5s", "--max-halt", "500ms", "--max-cpu", "1")
	text, errs, status := runStuck(t, dir, "--json")
	var got stuckOutput
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %d: %s%s", err, status, text, errs)
	}
	if got.Stuck < 21 || got.Stuck > 30 || !got.Proved {
		t.Errorf("%d are stuck, proved %v: %s", got.Stuck, got.Proved, text)
	}
	var o, e strings.Builder
	if status := run(t.Context(), []string{"why", dir, "--top", "0"}, terminal{in: strings.NewReader(""), out: &o, err: &e}); status != exitFine {
		t.Fatalf("why ends with %d: %s", status, e.String())
	}
	if !strings.Contains(o.String(), " 1. 12 goroutines are stuck for good: no goroutine that is left can receive") {
		t.Errorf("why says: %s", o.String())
	}
	if strings.Contains(o.String(), " spends ") {
		t.Errorf("why says again what is stuck: %s", o.String())
	}
	dump := attached(t, target, "dump-goroutines", "--max-halt", "500ms")
	if !strings.Contains(dump, "\n12 waiting: chan send, stuck for good\n") {
		t.Errorf("the dump is %s", dump)
	}
	if dump = attached(t, target, "dump-goroutines", "--max-halt", "0"); strings.Contains(dump, "stuck for good") {
		t.Errorf("with --max-halt 0, the dump is %s", dump)
	}
	attached(t, target, "record", "-o", dir, "-f", "-d", "200ms", "--max-halt", "0")
	if _, errs, status := runStuck(t, dir); status != exitUsage || !strings.Contains(errs, "heap was not marked") {
		t.Errorf("without a marking: status %d: %s", status, errs)
	}
}

// If no goroutine holds a lock, the functions are named that can
// return with it.
func TestStuckLeftLocked(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "leftlocked"))
	needsTracing(t, target.Pid())
	text, errs := "", ""
	for try := 0; try < 5 && !strings.Contains(text, "holds the lock"); try++ { // it takes a moment to get stuck
		text, errs, _ = runStuck(t, "-p", fmt.Sprint(target.Pid()), "--max-halt", "500ms")
	}
	for _, want := range []string{
		"no goroutine that is left holds the lock", "main.(*store).update (main.go:30)", "main.(*store).forgets (main.go:88)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s%s", want, text, errs)
		}
	}
	if strings.Contains(text, "(*store).balanced (") || strings.Contains(text, "(*store).take (") {
		t.Errorf("a function that gives the lock back is blamed:\n%s", text)
	}
}
