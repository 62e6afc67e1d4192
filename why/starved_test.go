package why

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Threads without a CPU are the machine's fault only if others
// have the CPUs.
func TestWhoHasTheCPUs(t *testing.T) {
	const second = int64(1e9)
	noCPU := runs
	noCPU.NoCPU = true
	for name, c := range map[string]struct {
		others  int64 // ns a second
		cpus    int64
		measure bool
		delay   int64 // ns for each of 1,000 turns a second; 0 if not measured
		kind    Kind
		remedy  string
	}{
		"others have them":         {2 * second, 4, true, 0, MachineKind, "run it where CPUs are free"},
		"others use hardly any":    {second / 10, 4, true, 0, CrowdedKind, ""},
		"there are free ones":      {2 * second, 16, true, 0, CrowdedKind, ""},
		"free ones that wake soon": {2 * second, 16, true, 30e3, WakingKind, "do more at each wake: hand over several pieces of work at once"},
		"they run one by one":      {2 * second, 16, true, 3e6, CrowdedKind, ""},
		"soon, but none is free":   {second / 10, 2, true, 30e3, CrowdedKind, "set GOMAXPROCS to the CPUs that it may run on, 2"},
		"too many processors":      {second / 10, 2, true, 0, CrowdedKind, "set GOMAXPROCS to the CPUs that it may run on, 2"},
		"that was not measured":    {2 * second, 4, false, 0, MachineKind, "run it where CPUs are free"},
		"it is not known how many": {second / 10, 0, true, 0, MachineKind, "run it where CPUs are free"},
	} {
		s := newScene()
		all := s.spawn(4, "main.compute")
		monitor := func(name, unit string, kind sampledata.Kind) sampledata.MonitorID {
			return s.Monitor(sampledata.Monitor{Name: name, Layer: sampledata.Kernel, Kind: kind, Unit: unit})
		}
		machine := monitor("machine.cpu", "ns", sampledata.Counter)
		own := monitor("process.cpu", "ns", sampledata.Counter)
		cpus := monitor("process.cpus", "CPUs", sampledata.Level)
		turns := monitor("threads.switches", "", sampledata.Counter)
		delay := monitor("threads.run_delay", "ns", sampledata.Counter)
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(noCPU, "main.compute"))
			s.those(all, func(j int) bool { return j%2 == i%2 }, s.at(runs, "main.compute"))
			if now := int64(i/25) * 25 * second / 50; c.measure { // 20 ms a sample, read each 500 ms
				s.Measure(machine, sampledata.Count(uint64(c.others*now/second+now*2)))
				s.Measure(own, sampledata.Count(uint64(now*2)))
				if c.delay > 0 {
					s.Measure(turns, sampledata.Count(uint64(now*1000/second)))
					s.Measure(delay, sampledata.Count(uint64(now*1000/second*c.delay)))
				}
				if c.cpus > 0 {
					s.Measure(cpus, sampledata.Number(c.cpus))
				}
			}
		})
		found := false
		for _, f := range s.find(t).Findings {
			if !f.LacksCPU() {
				continue
			}
			found = true
			if remedy := f.Remedy; f.Kind != c.kind || strings.TrimSpace(remedy) != c.remedy {
				t.Errorf("%s: %s, remedy %q: %+v", name, f.Kind, remedy, f.Crowd)
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of threads without a CPU", name)
		}
	}
}

// The collector's threads wait for CPUs where the program's do:
// it holds up the program.
func TestWhoLacksCPUs(t *testing.T) {
	noCPU, ready := runs, sampledata.State{Run: sampledata.Runnable}
	noCPU.NoCPU = true
	s := newScene()
	workers := s.spawn(8, "main.serve")
	collector := s.spawn(1, "runtime.gcBgMarkWorker")
	s.samples(t, 100, func(i int) {
		s.all(collector, s.at(noCPU, "runtime.gcBgMarkWorker"))
		s.those(workers, func(j int) bool { return j == i%8 }, s.at(noCPU, "main.serve"))
		s.those(workers, func(j int) bool { return j != i%8 }, s.at(ready, "main.serve"))
	})
	for _, f := range s.find(t).Findings {
		if f.Kind == MachineKind {
			if len(f.Others) != 1 || f.Others[0].Name != "go:main.serve" || f.Others[0].Share != 1./8 {
				t.Errorf("it holds up %+v", f.Others)
			}
			return
		}
	}
	t.Error("nothing is said of threads without a CPU")
}
