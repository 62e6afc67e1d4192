//go:build linux && (amd64 || arm64)

package probe

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

// calibrated is a function of this process that gets the instruments whose cost is measured. It has a frame, and calls something.
//
//go:noinline
func calibrated(n int64) { count(n) }

//go:noinline
func count(n int64) { calibrations.Add(n) }

var calibrations atomic.Int64

// calibrationRounds is the number of times that calls are timed; calibrationCalls of them at once.
const calibrationRounds, calibrationCalls = 31, 16

// timeCalls returns how long a call of calibrated takes: the median, since other work may interrupt it.
func timeCalls() time.Duration {
	var times []time.Duration
	for range calibrationRounds {
		began := time.Now()
		for i := range calibrationCalls {
			calibrated(int64(i))
		}
		times = append(times, time.Since(began)/calibrationCalls)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// own is this process, as a program that can be probed, and the place of calibrated.
var own = sync.OnceValues(func() (ownProgram, error) {
	p, err := OpenPID(os.Getpid())
	if err != nil {
		return ownProgram{}, err
	}
	f, err := p.Function("github.com/cpprof/cpprof/sampler/probe.calibrated")
	return ownProgram{p, f}, err
})

type ownProgram struct {
	program  *Program
	function Function
}

// OpenPID reads the executable of a running process.
func OpenPID(pid int) (*Program, error) {
	process, err := halt.Open(pid)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	aux, err := process.Auxv()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(process.Path("exe"))
	if err != nil {
		return nil, err
	}
	bin, err := gobinary.Open(f, aux[halt.AuxEntry])
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading the executable of process %d: %w", pid, err)
	}
	return NewProgram(pid, f, bin)
}

// cost measures what hits cost, on this process.
func (u *uprobes) cost() (entry, ret, between time.Duration) {
	self, err := own()
	if err != nil {
		return 0, 0, 0
	}
	on := &uprobes{program: self.program, kind: u.kind, kernel: u.kernel, counts: u.counts, ring: u.ring, number: map[uint64]uint32{}, fds: map[uint64]int{}}
	f := self.function
	defer func() {
		detachAll(on, append([]uint64{f.Entry}, f.Returns...))
		_ = u.kernel.clear()
	}()
	if on.attach(f.Entry, true) != nil {
		return 0, 0, 0
	}
	entry = timeCalls()
	for _, pc := range f.Returns {
		if on.attach(pc, true) != nil {
			return 0, 0, 0
		}
	}
	on.drain(func(*hit) {})
	both := timeCalls()
	var list []time.Duration
	entered := uint64(0)
	on.drain(func(h *hit) {
		if h.pc == f.Entry {
			entered = h.time
		} else if entered != 0 {
			list = append(list, time.Duration(h.time-entered))
		}
	})
	if len(list) > 0 {
		slices.Sort(list)
		between = list[len(list)/2]
	}
	return entry, max(both-entry, entry), between
}
