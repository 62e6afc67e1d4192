package monitor

import (
	"maps"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The software events agree with /proc, for threads that were
// there and for those that began later. Each event has values or
// says why not.
func TestPerf(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "grower"))
	r := readerOf(t, performance(perfEvents), target.Pid())
	proc := func() map[string]float64 {
		now := numbers(t, readerOf(t, processStat, target.Pid()))
		maps.Copy(now, numbers(t, readerOf(t, processClock, target.Pid())))
		return now
	}
	before, procBefore := numbers(t, r), proc()
	fixture.Check(t, target.Process.Signal(syscall.SIGUSR1))
	fixture.Must(target.Out.ReadString('\n'))(t)
	after, procAfter := numbers(t, r), proc()
	measured := 0
	for _, m := range r.Monitors() {
		if _, ok := after[m.Name]; ok != (m.Unmeasured == "") {
			t.Errorf("%s: measured %v, reason %q", m.Name, ok, m.Unmeasured)
		} else if ok {
			measured++
		}
	}
	if measured == 0 {
		t.Skip("no event is measured: ", r.Monitors()[len(perfEvents)-1].Unmeasured)
	}
	grown := func(of, from map[string]float64, name string) float64 { return of[name] - from[name] }
	cpu, want := grown(after, before, "perf.task_clock"), grown(procAfter, procBefore, "process.cpu")
	if cpu < want-50e6 || cpu > want+50e6 || want < 400e6 {
		t.Errorf("task clock grew by %v ns, processor time by %v", cpu, want)
	}
	if faults, want := grown(after, before, "perf.minor_faults"), grown(procAfter, procBefore, "process.minor_faults"); faults < want*0.95 || faults > want || want == 0 {
		t.Errorf("%v minor faults, want %v", faults, want)
	}
}

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		count, enabled, running, want uint64
		ok                            bool
	}{
		{10, 100, 100, 10, true},
		{0, 0, 0, 0, true}, // the thread has not run
		{10, 100, 25, 40, true},
		{0, 100, 0, 0, false}, // it never had a counter
	} {
		if got, ok := scaled(c.count, c.enabled, c.running); got != c.want || ok != c.ok {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
}

func TestPerfRefused(t *testing.T) {
	for err, want := range map[error]string{
		unix.EACCES: "CAP_PERFMON", unix.ENOENT: "no PMU", unix.EMFILE: "ulimit -n", unix.ENOSYS: "not implemented",
	} {
		if got := perfRefused(&perfEvents[0], err); !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if _, err := Choose(false, []Request{{"perf.cycels", true}}); err == nil || !strings.Contains(err.Error(), "did you mean perf.cycles?") {
		t.Errorf("%v", err)
	}
}
