package monitor

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"

	"github.com/cpprof/cpprof/sampledata"
)

// slow is how often the files are read that cost the most.
const slow = 2 * time.Second

// processIO reads /proc/PID/io.
var processIO = source(Source{Every: slow}, []column[procfs.ProcIO]{
	ioColumn("io.read_chars", "bytes", "rchar", func(p *procfs.ProcIO) uint64 { return p.RChar }),
	ioColumn("io.write_chars", "bytes", "wchar", func(p *procfs.ProcIO) uint64 { return p.WChar }),
	ioColumn("io.read_calls", "", "syscr", func(p *procfs.ProcIO) uint64 { return p.SyscR }),
	ioColumn("io.write_calls", "", "syscw", func(p *procfs.ProcIO) uint64 { return p.SyscW }),
	ioColumn("io.read_bytes", "bytes", "read_bytes, from storage", func(p *procfs.ProcIO) uint64 { return p.ReadBytes }),
	ioColumn("io.write_bytes", "bytes", "write_bytes, to storage", func(p *procfs.ProcIO) uint64 { return p.WriteBytes }),
}, func(t Target) (func(*procfs.ProcIO) error, func() error, error) {
	p, err := procfs.NewProc(t.PID)
	return func(io *procfs.ProcIO) (err error) {
		*io, err = p.IO()
		return err
	}, nil, err
})

func ioColumn(name, unit, source string, get func(*procfs.ProcIO) uint64) column[procfs.ProcIO] {
	return column[procfs.ProcIO]{
		Monitor: kernel(name, sampledata.Counter, unit, "/proc/PID/io: "+source, slow.String()),
		value:   func(p *procfs.ProcIO) sampledata.Value { return sampledata.Count(get(p)) },
	}
}

// processStatus reads /proc/PID/status.
var processStatus = source(Source{Every: slow}, []column[procfs.ProcStatus]{
	statusColumn("process.anonymous", "RssAnon", func(p *procfs.ProcStatus) uint64 { return p.RssAnon }),
	statusColumn("process.file_backed", "RssFile", func(p *procfs.ProcStatus) uint64 { return p.RssFile }),
	statusColumn("process.swapped", "VmSwap", func(p *procfs.ProcStatus) uint64 { return p.VmSwap }),
	statusColumn("process.peak_resident", "VmHWM", func(p *procfs.ProcStatus) uint64 { return p.VmHWM }),
}, func(t Target) (func(*procfs.ProcStatus) error, func() error, error) {
	p, err := procfs.NewProc(t.PID)
	return func(s *procfs.ProcStatus) (err error) {
		*s, err = p.NewStatus()
		return err
	}, nil, err
})

func statusColumn(name, source string, get func(*procfs.ProcStatus) uint64) column[procfs.ProcStatus] {
	return column[procfs.ProcStatus]{
		Monitor: kernel(name, sampledata.Level, "bytes", "/proc/PID/status: "+source, slow.String()),
		value:   func(p *procfs.ProcStatus) sampledata.Value { return sampledata.Number(int64(get(p))) },
	}
}

// pressures are sources of the time in which programs of the whole machine lacked something.
func pressures() []Source {
	var all []Source
	for _, resource := range []string{"cpu", "memory", "io"} {
		columns := []column[procfs.PSIStats]{
			pressureColumn(resource, "some", "some thread", func(p *procfs.PSIStats) *procfs.PSILine { return p.Some }),
		}
		if resource != "cpu" {
			columns = append(columns, pressureColumn(resource, "full", "all threads", func(p *procfs.PSIStats) *procfs.PSILine { return p.Full }))
		}
		all = append(all, source(Source{Every: slow}, columns, func(Target) (func(*procfs.PSIStats) error, func() error, error) {
			fs, err := procfs.NewDefaultFS()
			return func(p *procfs.PSIStats) (err error) {
				if *p, err = fs.PSIStatsForResource(resource); err != nil {
					return fmt.Errorf("%w: the kernel needs CONFIG_PSI, and psi=1 on its command line", err)
				}
				return nil
			}, nil, err
		}))
	}
	return all
}

func pressureColumn(resource, line, who string, get func(*procfs.PSIStats) *procfs.PSILine) column[procfs.PSIStats] {
	return column[procfs.PSIStats]{
		Monitor: kernel("pressure."+resource+"_"+line, sampledata.Counter, "ns",
			"/proc/pressure/"+resource+": time in which "+who+" of the machine waited for "+resource, slow.String()),
		value: func(p *procfs.PSIStats) sampledata.Value {
			l := get(p)
			if l == nil {
				return sampledata.Value{}
			}
			return sampledata.Count(l.Total * uint64(time.Microsecond))
		},
		absent: "the kernel's file has no such line",
	}
}

// system returns the sources that only Linux has.
func system() []Source { return append(pressures(), processIO, processStatus, cgroupUse, cgroupLimits) }
