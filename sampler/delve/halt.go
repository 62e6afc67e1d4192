package delve

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler/target/gostate"
)

// errGone reports that no thread is left to halt.
var errGone = errors.New("the process is gone")

// A halter halts a target and reads its memory.
type halter interface {
	gostate.Reader

	// during halts the target, calls f with its threads, and
	// lets the target continue, whatever f returns. It may do so
	// several times, until f could read all. It returns how long
	// any part of the target was halted, even if there is an
	// error.
	during(f func([]thread) error) (time.Duration, error)

	// entryPoint returns the address of the target's entry point
	// in memory; 0 if it is not known.
	entryPoint() (uint64, error)

	// close detaches from the target for good.
	close() error
}

// A thread is one thread of a halted target.
type thread struct {
	id     int
	regs   proc.Registers
	asleep bool // whether it was in a system call that waits in the kernel
}

// threadsOf returns threads that Delve has halted. It can't find
// out whether a thread in a system call sleeps, so it reports
// all of those as asleep.
func threadsOf(list []proc.Thread) ([]thread, error) {
	threads := make([]thread, 0, len(list))
	for _, t := range list {
		regs, err := t.Registers()
		if err == nil {
			regs, err = regs.Copy()
		}
		if err != nil {
			return nil, fmt.Errorf("reading registers of thread %d: %w", t.ThreadID(), err)
		}
		threads = append(threads, thread{id: t.ThreadID(), regs: regs, asleep: true})
	}
	return threads, nil
}
