//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// With each backend, the recording has the program's processor time and memory beside its stacks.
func TestRecordMonitors(t *testing.T) {
	for _, backend := range backendNames() {
		t.Run(backend, func(t *testing.T) {
			target := fixture.Start(t, fixture.BuildOnce(t, "grower"))
			needsTracing(t, target.Pid())
			r := startRecording(t, "--backend", backend, "-p", fmt.Sprint(target.Pid()))
			if err := target.Process.Signal(syscall.SIGUSR1); err != nil {
				t.Fatal(err)
			}
			line, err := target.Out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			used, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				t.Fatal(err)
			}
			for n := r.recording(t).Samples.Len() + 2; r.recording(t).Samples.Len() < n; { // so that one of them began after the line was printed
				time.Sleep(20 * time.Millisecond)
			}
			if err := r.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := r.Wait(); err != nil {
				t.Fatalf("%v: %s", err, &r.stderr)
			}
			rec := r.recording(t)
			first, last := map[string]float64{}, map[string]float64{}
			for _, s := range rec.Series {
				for _, v := range s.All() {
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
