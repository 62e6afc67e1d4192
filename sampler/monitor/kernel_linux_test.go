package monitor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

func readerOf(t *testing.T, s Source, pid int) Reader {
	t.Helper()
	r := fixture.Must(s.Open(Target{PID: pid}))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// numbers returns the current values of a source, by name; those
// that are not measured are left out.
func numbers(t *testing.T, r Reader) map[string]float64 {
	t.Helper()
	list := fixture.Must(r.Read(nil))(t)
	now := map[string]float64{}
	for i, m := range r.Monitors() {
		if f, ok := list[i].Float(); ok {
			now[m.Name] = f
		}
	}
	return now
}

// The times of threads add up to what the process reports, and
// those that have ended keep their share.
func TestThreadTimes(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "grower"), "thread")
	r := readerOf(t, threadTimes, target.Pid())
	before := numbers(t, r)
	used := target.Answer(t)
	after := numbers(t, r)
	if got := after["threads.cpu"]; before["threads.cpu"] < 290e6 || got < used-20e6 || got > used+20e6 {
		t.Errorf("%v ns before a thread ended, %v after, but the process reports %v", before["threads.cpu"], got, used)
	}
	for name, v := range after {
		if v < before[name] || v == 0 {
			t.Errorf("%s goes from %v to %v", name, before[name], v)
		}
	}
}

// What the process writes, reads and maps is in the files of
// /proc that are read once a second.
func TestProcessFiles(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "grower"), "thread")
	for name, s := range map[string]Source{"io": processIO, "status": processStatus} {
		now := numbers(t, readerOf(t, s, target.Pid()))
		switch name {
		case "io":
			if now["io.write_chars"] < float64(len("ready\n")) || now["io.write_calls"] < 1 {
				t.Errorf("%v", now)
			}
		case "status":
			if now["process.anonymous"] < 1<<16 || now["process.peak_resident"] < now["process.anonymous"] {
				t.Errorf("%v", now)
			}
		}
	}
}

// The kernel throttles a process in a cgroup with a quota.
func TestThrottled(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/sys/fs/cgroup/cpu", "cpprof")
	if err != nil {
		t.Skipf("cgroups of version 1 are not there, or can't be made: %v", err)
	}
	target := fixture.Start(t, fixture.Build(t, "statistics"))
	t.Cleanup(func() {
		target.Process.Kill()
		target.Wait()
		os.Remove(dir)
	})
	for _, w := range [][2]string{{"cpu.cfs_quota_us", "2000"}, {"cgroup.procs", fmt.Sprint(target.Pid())}} {
		if err := os.WriteFile(filepath.Join(dir, w[0]), []byte(w[1]), 0); err != nil {
			t.Skip(err)
		}
	}
	r := readerOf(t, cgroupUse, target.Pid())
	if limits := numbers(t, readerOf(t, cgroupLimits, target.Pid())); limits["cgroup.cpu_limit"] != 0.02 {
		t.Errorf("the limits are %v", limits)
	}
	before := numbers(t, r)
	target.Process.Signal(syscall.SIGUSR1)
	for deadline := time.Now().Add(time.Minute); numbers(t, r)["cgroup.throttled"] < before["cgroup.throttled"]+100e6; {
		if time.Now().After(deadline) {
			t.Fatalf("it is hardly throttled: %v, then %v", before, numbers(t, r))
		}
		time.Sleep(20 * time.Millisecond)
	}
	after := numbers(t, r)
	if after["cgroup.throttled_periods"] <= before["cgroup.throttled_periods"] || after["cgroup.memory"] == 0 {
		t.Errorf("%v, then %v", before, after)
	}
}

// A cgroup of version 2: the least limit counts, and a file may
// be in a group around it only.
func TestCgroupVersion2(t *testing.T) {
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	fixture.Check(t, os.Mkdir(inner, 0o777))
	for name, text := range map[string]string{
		"inner/cpu.stat": "usage_usec 12\nuser_usec 10\nsystem_usec 2\nnr_periods 7\nnr_throttled 3\nthrottled_usec 5\n",
		"memory.current": "4096\n", "memory.max": "8192\n", "inner/memory.max": "max\n",
		"cpu.max": "150000 100000\n", "inner/cpu.max": "200000 100000\n",
	} {
		fixture.Check(t, os.WriteFile(filepath.Join(outer, name), []byte(text), 0o666))
	}
	g := openVersion2([]string{inner, outer})
	defer g.close()
	var got cgroupStats
	var bounds cgroupBounds
	fixture.Check(t, errors.Join(g.readUse(&got), g.readBounds(&bounds)))
	if want := (cgroupStats{
		cpu: sampledata.Count(12000), periods: sampledata.Count(7), throttledPeriods: sampledata.Count(3), throttled: sampledata.Count(5000),
		memory: sampledata.Number(4096),
	}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := (cgroupBounds{sampledata.Number(8192), sampledata.Real(1.5)}); bounds != want {
		t.Errorf("got %v, want %v", bounds, want)
	}
}

// Limits that are not there are not measured, with the reason.
func TestNoLimit(t *testing.T) {
	r := readerOf(t, cgroupLimits, os.Getpid())
	for _, m := range r.Monitors() {
		if _, has := numbers(t, r)[m.Name]; !has && m.Unmeasured == "" {
			t.Errorf("%s is not measured without a reason", m.Name)
		}
	}
}

// The kernel's files have a value on each line, in several
// forms; a line that is not there is not measured.
func TestLines(t *testing.T) {
	for name, text := range map[string]string{
		"io.read_chars":         "rchar: 323934931\nwchar: 323929600\n",
		"io.write_bytes":        "read_bytes: 7\nwrite_bytes: 323932160\ncancelled_write_bytes: 0\n",
		"process.anonymous":     "Name:\tRssAnon: 3\nRssAnon:\t   12340 kB\nRssFile:\t 8 kB\n",
		"process.swapped":       "VmSwap:\t       0 kB\n",
		"pressure.memory_some":  "some avg10=1.00 avg60=0.22 avg300=0.05 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n",
		"pressure.memory_full":  "some avg10=1.00 avg60=0.22 avg300=0.05 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n",
		"pressure.io_full":      "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
		"pressure.cpu_some":     "some avg10=0.00\n",
		"io.write_calls":        "syscw: -1\n",
		"machine.cpu":           "cpu  10 20 30 40000 50000 3 4 7 1 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
		"process.cpus":          "Cpus_allowed:\tff,0000000f\nCpus_allowed_list:\t0-3,32-39\n",
		"process.peak_resident": "VmHWM:",
		"process.file_backed":   "RssFile:\tmany kB\n",
		"io.read_bytes":         "read_bytes:",
	} {
		want := map[string]sampledata.Value{
			"io.read_chars": sampledata.Count(323934931), "io.write_bytes": sampledata.Count(323932160),
			"process.anonymous": sampledata.Number(12340 << 10), "process.swapped": sampledata.Number(0),
			"machine.cpu": sampledata.Count(670_000_000), "process.cpus": sampledata.Number(12),
			"pressure.memory_some": sampledata.Count(12345000), "pressure.memory_full": sampledata.Count(77000),
		}[name]
		for _, c := range slices.Concat(ioColumns, statusColumns, machineColumns, pressureColumns("cpu"), pressureColumns("memory"), pressureColumns("io")) {
			if c.Name != name {
				continue
			}
			if got := c.value(&content{[]byte(text)}); got != want {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
		}
	}
}

// A read of the files of a program allocates nothing. Only its
// connections are listed, every few seconds.
func TestReadsAllocateNothing(t *testing.T) {
	for _, s := range Builtin() {
		if s.Monitors[0].Name == ownConnections.Monitors[0].Name {
			continue
		}
		r, err := s.Open(Target{PID: os.Getpid()})
		if err != nil {
			t.Logf("%s: %v", s.Monitors[0].Name, err)
			continue
		}
		defer r.Close()
		values := make([]sampledata.Value, 0, len(s.Monitors))
		if n := testing.AllocsPerRun(10, func() { values, err = r.Read(values[:0]) }); n > 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", s.Monitors[0].Name, n, err)
		}
	}
}
