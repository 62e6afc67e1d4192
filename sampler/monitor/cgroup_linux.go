//go:build amd64 || arm64

package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/cpprof/cpprof/sampledata"
)

// How often the files of the cgroup are read: the kernel adds up
// the numbers of all CPUs for each read.
const (
	cgroupEvery = time.Second
	limitsEvery = 5 * time.Second
)

// cgroupUse reads what the target's control group uses, and what
// the kernel denies it (cgroups(7), version 1 and 2).
var cgroupUse = source(Source{Every: cgroupEvery}, []column[cgroupStats]{
	cgroupColumn("cgroup.cpu", sampledata.Counter, "ns", "cpu.stat: usage",
		func(s *cgroupStats) sampledata.Value { return s.cpu }),
	cgroupColumn("cgroup.periods", sampledata.Counter, "", "cpu.stat: nr_periods",
		func(s *cgroupStats) sampledata.Value { return s.periods }),
	cgroupColumn("cgroup.throttled_periods", sampledata.Counter, "", "cpu.stat: nr_throttled",
		func(s *cgroupStats) sampledata.Value { return s.throttledPeriods }),
	cgroupColumn("cgroup.throttled", sampledata.Counter, "ns", "cpu.stat: throttled time",
		func(s *cgroupStats) sampledata.Value { return s.throttled }),
	cgroupColumn("cgroup.memory", sampledata.Level, "bytes", "memory.current",
		func(s *cgroupStats) sampledata.Value { return s.memory }),
}, func(t Target) (func(*cgroupStats) error, func() error, error) {
	g, err := openCgroup(t)
	return g.readUse, g.close, err
})

func cgroupColumn(name string, kind sampledata.Kind, unit, source string,
	value func(*cgroupStats) sampledata.Value) column[cgroupStats] {
	return column[cgroupStats]{
		Monitor: kernel(name, kind, unit, "the target's cgroup: "+source, cgroupEvery.String()),
		value:   value,
		absent:  "the target's cgroup has no such file or number: its controller is off",
	}
}

// cgroupLimits reads the limits of the target's cgroup.
var cgroupLimits = source(Source{Every: limitsEvery}, []column[cgroupBounds]{
	limitColumn("cgroup.memory_limit", "bytes", "memory.max", false,
		func(b *cgroupBounds) sampledata.Value { return b.memory }),
	limitColumn("cgroup.cpu_limit", "CPUs", "cpu.max", true,
		func(b *cgroupBounds) sampledata.Value { return b.cpu }),
}, func(t Target) (func(*cgroupBounds) error, func() error, error) {
	g, err := openCgroup(t)
	return g.readBounds, g.close, err
})

func limitColumn(name, unit, source string, real bool,
	value func(*cgroupBounds) sampledata.Value) column[cgroupBounds] {
	m := kernel(name, sampledata.Level, unit, "the target's cgroup, and those around it: "+source,
		limitsEvery.String())
	m.Real = real
	return column[cgroupBounds]{Monitor: m, value: value, absent: "there is no limit"}
}

// cgroupStats are the values of a cgroup; those that it does not
// have are not measured.
type cgroupStats struct {
	cpu, periods, throttledPeriods, throttled, memory sampledata.Value
}

// cgroupBounds are the limits of a cgroup. The lowest limit
// counts, of the group and of the groups around it.
type cgroupBounds struct {
	memory, cpu sampledata.Value
}

// A cgroup has the open files of a control group.
type cgroup struct {
	version1 bool
	cpu      *file // cpu.stat; of version 1 without the time used
	used     *file // of version 1: cpuacct.usage
	memory   *file // memory.current
	// of the group and those around it; lengths only of version 1
	memoryLimits, quotas, lengths []*file
	open                          []*file
}

func openCgroup(t Target) (*cgroup, error) {
	p, err := procfs.NewProc(t.PID)
	if err != nil {
		return nil, err
	}
	groups, err := p.Cgroups()
	if err != nil {
		return nil, err
	}
	mounts, err := procfs.GetProcMounts(os.Getpid())
	if err != nil {
		return nil, err
	}
	var g *cgroup
	if cpu, memory := folders(groups, mounts, "cpu"),
		folders(groups, mounts, "memory"); len(cpu)+len(memory) > 0 {
		g = openVersion1(cpu, folders(groups, mounts, "cpuacct"), memory)
	} else {
		g = openVersion2(folders(groups, mounts, ""))
	}
	if len(g.open) == 0 {
		return nil, errors.New("the target's cgroup is not visible: mount /sys/fs/cgroup, or run cpprof outside of the container")
	}
	return g, nil
}

// openVersion1 opens the files in the folders of three controllers.
func openVersion1(cpu, cpuacct, memory []string) *cgroup {
	g := &cgroup{version1: true}
	g.cpu, g.used = g.nearest(cpu, "cpu.stat"), g.nearest(cpuacct, "cpuacct.usage")
	g.memory, g.memoryLimits = g.nearest(memory, "memory.usage_in_bytes"),
		g.all(memory, "memory.limit_in_bytes")
	g.quotas, g.lengths = g.all(cpu, "cpu.cfs_quota_us"), g.all(cpu, "cpu.cfs_period_us")
	return g
}

func openVersion2(dirs []string) *cgroup {
	g := &cgroup{}
	g.cpu, g.memory = g.nearest(dirs, "cpu.stat"), g.nearest(dirs, "memory.current")
	g.memoryLimits, g.quotas = g.all(dirs, "memory.max"), g.all(dirs, "cpu.max")
	return g
}

// folders returns the folders of a process's cgroup and of the
// cgroups around it, innermost first, for a controller of
// version 1, or for version 2 ("").
func folders(groups []procfs.Cgroup, mounts []*procfs.MountInfo,
	controller string) (dirs []string) {
	i := slices.IndexFunc(groups, func(g procfs.Cgroup) bool {
		if controller == "" {
			return g.HierarchyID == 0
		}
		return slices.Contains(g.Controllers, controller)
	})
	k := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool {
		_, has := m.SuperOptions[controller]
		return controller == "" && m.FSType == "cgroup2" || m.FSType == "cgroup" && has
	})
	if i < 0 || k < 0 {
		return nil
	}
	root, at := mounts[k].Root, groups[i].Path
	rel, err := filepath.Rel(root, at)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(at, "/..") {
		return nil
	}
	for {
		dirs = append(dirs, filepath.Join(mounts[k].MountPoint, rel))
		if rel == "." {
			return dirs
		}
		rel = filepath.Dir(rel)
	}
}

// nearest opens a file in the first folder that has it; nil if none does.
func (g *cgroup) nearest(dirs []string, name string) *file {
	for _, d := range dirs {
		if f, err := openFile(filepath.Join(d, name)); err == nil {
			g.open = append(g.open, f)
			return f
		}
	}
	return nil
}

// all opens a file in every folder that has it.
func (g *cgroup) all(dirs []string, name string) (files []*file) {
	for _, d := range dirs {
		if f := g.nearest([]string{d}, name); f != nil {
			files = append(files, f)
		}
	}
	return files
}

func (g *cgroup) close() error {
	var failed error
	for _, f := range g.open {
		failed = errors.Join(failed, f.close())
	}
	return failed
}

func (g *cgroup) readUse(s *cgroupStats) error {
	*s = cgroupStats{}
	if n, ok := numberOf(g.contentOf(g.memory)); ok {
		s.memory = sampledata.Number(int64(n))
	}
	if g.version1 {
		s.cpu = countOf(g.contentOf(g.used), 1)
	}
	text := g.contentOf(g.cpu)
	s.periods, s.throttledPeriods = countOf(valueOf(text, "nr_periods"), 1),
		countOf(valueOf(text, "nr_throttled"), 1)
	if g.version1 {
		s.throttled = countOf(valueOf(text, "throttled_time"), 1)
	} else {
		s.cpu, s.throttled = countOf(valueOf(text, "usage_usec"), 1000),
			countOf(valueOf(text, "throttled_usec"), 1000)
	}
	if !s.cpu.Measured() && !s.periods.Measured() && !s.memory.Measured() {
		return fmt.Errorf("read the target's cgroup: none of its %d files can be read", len(g.open))
	}
	return nil
}

func (g *cgroup) readBounds(b *cgroupBounds) error {
	*b = cgroupBounds{}
	const none = 1 << 62 // version 1 has a number about as large if there is no limit
	limit := uint64(none)
	for _, f := range g.memoryLimits {
		if n, ok := numberOf(g.contentOf(f)); ok {
			limit = min(limit, n)
		}
	}
	if limit < none {
		b.memory = sampledata.Number(int64(limit))
	}
	for i := range g.quotas {
		if q, ok := g.quota(i); ok && (!b.cpu.Measured() || q.Compare(b.cpu) < 0) {
			b.cpu = q
		}
	}
	return nil
}

// quota returns a bound on processor time, in CPUs: of "100000
// 50000" it is 2. Version 1 has the two numbers in two files.
func (g *cgroup) quota(i int) (sampledata.Value, bool) {
	first, second, _ := bytes.Cut(g.contentOf(g.quotas[i]), []byte(" "))
	quota, limited := numberOf(first)
	if g.version1 && i < len(g.lengths) {
		second = g.contentOf(g.lengths[i])
	}
	length, ok := numberOf(second)
	if !limited || !ok || length == 0 {
		return sampledata.Value{}, false
	}
	return sampledata.Real(float64(quota) / float64(length)), true
}

// contentOf returns a file's current content, valid until the
// file is read again; nothing if there is no file or it can't be
// read.
func (g *cgroup) contentOf(f *file) []byte {
	if f == nil {
		return nil
	}
	text, _ := f.read()
	return text
}
