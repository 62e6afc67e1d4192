//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// With each backend, the recording has the program's processor
// time and memory beside its stacks.
func TestRecordMonitors(t *testing.T) {
	t.Parallel()
	for _, backend := range backendNames() {
		t.Run(backend, func(t *testing.T) {
			target := fixture.Start(t, fixture.Build(t, "grower"))
			needsTracing(t, target.Pid())
			r := startRecording(t, "--backend", backend, "-p", fmt.Sprint(target.Pid()))
			used := target.Answer(t)
			// Until all monitors were read after the line was
			// printed: the slower ones are read once a second.
			for end := r.lastSample(t) + 1500*time.Millisecond; r.lastSample(t) < end; {
				time.Sleep(20 * time.Millisecond)
			}
			fixture.Check(t, r.Process.Signal(os.Interrupt))
			if err := r.Wait(); err != nil {
				t.Fatalf("%v: %s", err, &r.stderr)
			}
			rec := r.recording(t)
			first, last := map[string]float64{}, map[string]float64{}
			for _, s := range rec.Series {
				for _, v := range s.All() {
					if s.Kind == sampledata.Nominal {
						continue
					}
					f, ok := v.Float()
					if !ok {
						t.Errorf("%s is %v", s.Name, v)
					}
					if _, was := first[s.Name]; !was {
						first[s.Name] = f
					}
					last[s.Name] = f
				}
			}
			if cpu := last["process.cpu"]; cpu < used-20e6 || first["process.cpu"] > cpu-400e6 {
				t.Errorf("processor time goes from %v to %v ns, but the program says that it used %v", first["process.cpu"], cpu, used)
			}
			if from, to := first["process.resident"], last["process.resident"]; from < 1<<19 || to < from+60<<20 {
				t.Errorf("resident memory goes from %v to %v bytes, want 64 MiB more", from, to)
			}
			for _, w := range rec.Warnings {
				if w.Kind == "unread-monitor" {
					t.Errorf("warning: %+v", w)
				}
			}
		})
	}
}

// record --monitor and the config file add the program's own
// variables; what --monitor names must be there.
func TestRecordVariables(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "variables"))
	needsTracing(t, target.Pid())
	dir := t.TempDir()
	t.Chdir(dir)
	fixture.Check(t, os.WriteFile("cpprof.yaml", []byte("monitors: [main.q.size, main.nothing]\n"), 0o666))
	var out, errs bytes.Buffer
	pid := fmt.Sprint(target.Pid())
	run := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return run(t.Context(), args, terminal{in: strings.NewReader(""), out: &out, err: &errs})
	}
	if code := run("record", "-d", "2s", "-o", "a.cpprof", "-m", "len(main.numbers)", "-p", pid); code != 0 {
		t.Fatalf("%d: %s", code, &errs)
	}
	if code := run("info", "a.cpprof"); code != 0 {
		t.Fatalf("%d: %s", code, &errs)
	}
	for _, want := range []string{"beside the stacks (application 3, runtime ", "not measured: main.nothing (package main has no such variable"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if code := run("monitors", "--csv", "a.cpprof"); code != 0 {
		t.Fatalf("%d: %s", code, &errs)
	}
	for _, want := range []string{"\nlen(main.numbers),application,level,", "\nmain.q.size,application,level,", "\nheap.live,runtime,level,"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if code := run("record", "-d", "2s", "-o", "b.cpprof", "-m", "main.numbers", "-p", pid); code != exitFailed ||
		!strings.Contains(errs.String(), "which is no number; len(main.numbers) is\n    main.numbers\n               ^") {
		t.Errorf("%d: %s", code, &errs)
	}
	if code := run("record", "-d", "2s", "-o", "b.cpprof", "-m", "heap.liv", "-p", pid); code != exitFailed ||
		!strings.Contains(errs.String(), "monitor heap.liv: there is no such monitor: did you mean heap.live?") {
		t.Errorf("%d: %s", code, &errs)
	}
	if _, err := os.Stat("b.cpprof"); err == nil {
		t.Error("a recording without samples is left")
	}
	kept := fixture.Must(os.ReadFile("a.cpprof/SampleData"))(t)
	if code := run("record", "-f", "-d", "2s", "-o", "a.cpprof", "-m", "main.nothing", "-p", pid); code != exitFailed {
		t.Errorf("%d: %s", code, &errs)
	}
	if now, err := os.ReadFile("a.cpprof/SampleData"); err != nil || !bytes.Equal(now, kept) {
		t.Errorf("a recording that was refused has replaced an earlier one: %v", err)
	}
	if code := run("record", "-d", "2s", "-o", "c.cpprof", "--no-monitors", "-p", pid); code != 0 {
		t.Errorf("%d: %s", code, &errs)
	}
	if code := run("info", "c.cpprof"); code != 0 || strings.Contains(out.String(), "series") {
		t.Errorf("%d: %s", code, &out)
	}
}
