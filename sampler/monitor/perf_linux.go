//go:build amd64 || arm64

package monitor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/perfevent"
)

// A perfReader has counters of each event for each thread that
// there was at the beginning. A counter also counts the threads
// that its thread starts later, and keeps what threads have
// counted that have ended.
type perfReader struct {
	monitors []sampledata.Monitor
	counters [][]int  // by event: file descriptors
	largest  []uint64 // by event: scaled counts may shrink a little, but a counter must not
}

func openPerf(t Target, events []perfEvent) (Reader, error) {
	r := &perfReader{largest: make([]uint64, len(events))}
	for i := range events {
		m := events[i].monitor()
		fds, userOnly, err := countersOf(&events[i], t.PID)
		if err != nil {
			m.Unmeasured = err.Error()
		}
		if userOnly {
			m.Source += "; only outside the kernel"
		}
		r.monitors, r.counters = append(r.monitors, m), append(r.counters, fds)
	}
	return r, nil
}

// countersOf opens the counters of an event for all threads. If
// the kernel permits it only so, they leave out what happens in
// the kernel.
func countersOf(e *perfEvent, pid int) (fds []int, userOnly bool, err error) {
	first := true
	fds, _, err = perfevent.InThreads(pid, func(tid int) (int, error) {
		fd, err := openCounter(e, tid, userOnly)
		if err == unix.EACCES && e.hardware && first {
			userOnly = true
			fd, err = openCounter(e, tid, userOnly)
		}
		if first = first && err == unix.ESRCH; err != nil {
			err = perfRefused(e, err)
		}
		return fd, err
	})
	return fds, userOnly && err == nil, err
}

func openCounter(e *perfEvent, tid int, userOnly bool) (int, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: e.config,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeHv,
	}
	if e.hardware {
		attr.Type = unix.PERF_TYPE_HARDWARE
	}
	if userOnly {
		attr.Bits |= unix.PerfBitExcludeKernel
	}
	return unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// perfRefused says why there is no counter, and what to grant.
func perfRefused(e *perfEvent, err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		return fmt.Errorf("not permitted (kernel.perf_event_paranoid is %s): sudo sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON "+
			"(sudo setcap cap_perfmon,cap_sys_ptrace=ep $(which cpprof)); a container must also allow the call perf_event_open",
			strings.TrimSpace(string(level)))
	case e.hardware && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.ENODEV)):
		return errors.New("the processor has no such counter, or the virtual machine does not pass it on (no PMU)")
	case errors.Is(err, unix.EMFILE):
		return errors.New("too many open files: each thread needs one for each event (ulimit -n)")
	}
	return fmt.Errorf("perf_event_open: %w", err)
}

func (r *perfReader) Monitors() []sampledata.Monitor { return r.monitors }

func (r *perfReader) Read(values []sampledata.Value) ([]sampledata.Value, error) {
	for i, fds := range r.counters {
		sum, ok := sumOf(fds)
		if !ok || r.monitors[i].Unmeasured != "" {
			values = append(values, sampledata.Value{})
			continue
		}
		r.largest[i] = max(r.largest[i], sum)
		values = append(values, sampledata.Count(r.largest[i]))
	}
	return values, nil
}

// sumOf adds up counters. It returns false if one can't be read,
// or did not count while its thread ran: then the sum is not
// known.
func sumOf(fds []int) (sum uint64, ok bool) {
	var b [24]byte
	for _, fd := range fds {
		if n, err := unix.Read(fd, b[:]); err != nil || n != len(b) {
			return 0, false
		}
		n, known := scaled(binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]),
			binary.NativeEndian.Uint64(b[16:]))
		if !known {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// scaled estimates how many events there were, from those that
// were counted in a part of the time: the processor has fewer
// counters than there may be events, which then take turns.
func scaled(count, enabled, running uint64) (uint64, bool) {
	switch {
	case running == enabled:
		return count, true
	case running == 0:
		return 0, false
	}
	return uint64(float64(count) * float64(enabled) / float64(running)), true
}

func (r *perfReader) Close() error {
	for _, fds := range r.counters {
		perfevent.CloseAll(fds)
	}
	return nil
}
