//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

// calibrated is a function of this process that gets the
// instruments whose cost is measured. It has a frame, and calls
// something.
//
//go:noinline
func calibrated(n int64) { count(n) }

//go:noinline
func count(n int64) { calibrations.Add(n) }

var calibrations atomic.Int64

// calibrationRounds is the number of times that calls are timed;
// calibrationCalls of them at once.
const calibrationRounds, calibrationCalls = 31, 16

// timeCalls returns how long a call of calibrated takes: the
// shortest time, in the round that other work has disturbed
// least. On a busy machine, other work disturbs most rounds.
func timeCalls() time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for range calibrationRounds {
		began := time.Now()
		for i := range calibrationCalls {
			calibrated(int64(i))
		}
		shortest = min(shortest, time.Since(began)/calibrationCalls)
	}
	return shortest
}

// own is this process, as a program that can be probed, and the
// place of calibrated.
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
	f, entry, err := process.Executable()
	if err != nil {
		return nil, err
	}
	bin, err := gobinary.Open(f, entry)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading the executable of process %d: %w", pid, err)
	}
	return NewProgram(pid, f, bin)
}

// calibrate measures what hits and removals cost, on this
// process. The error says that the method does not work.
func (u *uprobes) calibrate() (c costs, err error) {
	self, err := own()
	if err != nil {
		return c, err
	}
	on := &uprobes{
		program: self.program, method: u.method, folder: u.folder, kernel: u.kernel,
		counts: u.counts, ring: u.ring,
		number: map[uint64]uint32{}, in: map[uint64]inserted{},
	}
	if on.image, err = openImage(self.program); err != nil {
		return c, err
	}
	defer on.image.close()
	entries, returns := []uint64{self.function.Entry}, self.function.Returns
	// A kernel before Linux 6.11 may count only the hits of the
	// first thread.
	halt.OnEndingThread(func() { err = on.measure(&c, entries, returns) })
	places := slices.Concat(entries, returns)
	began := time.Now()
	on.detach(entries)
	on.detach(returns)
	done := make(chan struct{})
	close(done)
	on.settle(places, done, func(int) {})
	c.removal = time.Since(began) / time.Duration(on.units(2, len(places)))
	return c, errors.Join(err, u.kernel.clear())
}

// measure times calls with an instrument at the entry, and then
// with those at returns.
func (u *uprobes) measure(c *costs, entries, returns []uint64) error {
	if err := u.attach(entries); err != nil {
		return err
	}
	c.entry = timeCalls()
	if u.hits(entries[0]) < calibrationRounds*calibrationCalls {
		return errors.New("the kernel does not count the hits of all threads")
	}
	if err := u.attach(returns); err != nil {
		return err
	}
	u.drain(func(*hit) {})
	both := timeCalls()
	var list []time.Duration
	entered := uint64(0)
	u.drain(func(h *hit) {
		if h.pc == entries[0] {
			entered = h.time
		} else if entered != 0 {
			list = append(list, time.Duration(h.time-entered))
		}
	})
	if len(list) > 0 {
		slices.Sort(list)
		c.between = list[len(list)/2]
	}
	c.ret = max(both-c.entry, c.entry) * coldness / 100
	c.entry = c.entry * coldness / 100
	return nil
}

// coldness is what a hit costs a program, in percent of what it
// costs in a loop: between two hits, other work takes the
// caches. The bound of 1 % of a processor was 0.95 to 1.21 %
// with 100, and 0.38 to 0.79 % with 125 ('go run
// ./internal/bench/calls -cost 20').
const coldness = 125

func (u *uprobes) cost() costs { return u.measured }
