//go:build amd64 || arm64

package monitor

import (
	"bytes"
	"errors"
	"math/bits"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// slow is how often the files are read that cost the most.
const slow = 2 * time.Second

// processIO reads /proc/PID/io.
var processIO = fileSource("/proc/PID/io", slow, nil, ioColumns)

var ioColumns = []column[content]{
	ioColumn("io.read_chars", "bytes", "rchar", ""),
	ioColumn("io.write_chars", "bytes", "wchar", ""),
	ioColumn("io.read_calls", "", "syscr", ""),
	ioColumn("io.write_calls", "", "syscw", ""),
	ioColumn("io.read_bytes", "bytes", "read_bytes", ", from storage"),
	ioColumn("io.write_bytes", "bytes", "write_bytes", ", to storage"),
}

func ioColumn(name, unit, key, what string) column[content] {
	return column[content]{
		Monitor: kernel(name, sampledata.Counter, unit, "/proc/PID/io: "+key+what, slow.String()),
		value:   func(c *content) sampledata.Value { return countOf(valueOf(c.text, key+":"), 1) },
		absent:  noLine,
	}
}

// processStatus reads /proc/PID/status.
var processStatus = fileSource("/proc/PID/status", slow, nil, statusColumns)

var statusColumns = []column[content]{
	statusColumn("process.anonymous", "RssAnon"),
	statusColumn("process.file_backed", "RssFile"),
	statusColumn("process.swapped", "VmSwap"),
	statusColumn("process.peak_resident", "VmHWM"),
	{
		Monitor: kernel("process.cpus", sampledata.Level, "CPUs",
			"/proc/PID/status: Cpus_allowed", slow.String()),
		value: func(c *content) sampledata.Value {
			n := 0
			for _, b := range valueOf(c.text, "Cpus_allowed:") { // ff,ffffffff
				switch {
				case '0' <= b && b <= '9':
					n += bits.OnesCount8(b - '0')
				case 'a' <= b && b <= 'f':
					n += bits.OnesCount8(b - 'a' + 10)
				}
			}
			if n == 0 {
				return sampledata.Value{}
			}
			return sampledata.Number(int64(n))
		},
		absent: noLine,
	},
}

func statusColumn(name, key string) column[content] {
	return column[content]{
		Monitor: kernel(name, sampledata.Level, "bytes", "/proc/PID/status: "+key, slow.String()),
		value: func(c *content) sampledata.Value {
			n, ok := numberOf(bytes.TrimSuffix(valueOf(c.text, key+":"), []byte(" kB")))
			if !ok {
				return sampledata.Value{}
			}
			return sampledata.Number(int64(n) * 1024)
		},
		absent: noLine,
	}
}

// machineTime reads how long the machine's CPUs have worked.
var machineTime = fileSource("/proc/stat", time.Second, nil, machineColumns)

var machineColumns = []column[content]{{
	Monitor: kernel("machine.cpu", sampledata.Counter, "ns",
		"/proc/stat: time in which CPUs of the machine were not idle", time.Second.String()),
	value: func(c *content) sampledata.Value {
		var ticks uint64
		rest := valueOf(c.text, "cpu")
		for _, works := range []bool{true, true, true, false, false, true, true} {
			// user, nice, system, idle, iowait, irq, softirq
			var field []byte
			field, rest, _ = bytes.Cut(rest, []byte(" "))
			n, ok := numberOf(field)
			if !ok {
				return sampledata.Value{}
			}
			if works {
				ticks += n
			}
		}
		return sampledata.Count(ticks * uint64(time.Second/userTicks))
	},
	absent: noLine,
}}

// userTicks is how many ticks a second Linux shows to programs
// (USER_HZ), on all machines that Go runs on.
const userTicks = 100

// pressures are sources of the time in which programs of the
// whole machine lacked something.
func pressures() []Source {
	var all []Source
	for _, resource := range []string{"cpu", "memory", "io"} {
		all = append(all, fileSource("/proc/pressure/"+resource, slow, errNoPressure,
			pressureColumns(resource)))
	}
	return all
}

func pressureColumns(resource string) []column[content] {
	columns := []column[content]{pressureColumn(resource, "some", "some thread")}
	if resource != "cpu" {
		columns = append(columns, pressureColumn(resource, "full", "all threads"))
	}
	return columns
}

var errNoPressure = errors.New("the kernel needs CONFIG_PSI, and psi=1 on its command line")

func pressureColumn(resource, line, who string) column[content] {
	return column[content]{
		Monitor: kernel("pressure."+resource+"_"+line, sampledata.Counter, "ns",
			"/proc/pressure/"+resource+": time in which "+who+" of the machine waited for "+
				resource, slow.String()),
		value: func(c *content) sampledata.Value {
			_, total, _ := bytes.Cut(valueOf(c.text, line), []byte("total="))
			return countOf(total, uint64(time.Microsecond))
		},
		absent: noLine,
	}
}

// system returns the sources that only Linux has.
func system() []Source {
	return append(pressures(), machineTime, processIO, processStatus, ownConnections, cgroupUse, cgroupLimits)
}
