package delve

import (
	"errors"
	"time"

	"github.com/go-delve/delve/pkg/proc"
)

// errGone says that there is nothing left to halt.
var errGone = errors.New("the process is gone")

// A halter stops a target and reads its memory.
type halter interface {
	// during halts the target, calls f with its threads, and lets the target go, whatever f does. The time is how
	// long any part of the target stood still; it is told beside an error too.
	during(f func([]thread) error) (time.Duration, error)

	// read copies memory of the target. The data of a span that can't be read is cut to what could.
	read(spans []span)

	// entryPoint is where the target's executable was entered, in memory; 0 if it is not known.
	entryPoint() (uint64, error)

	// identity changes when the process becomes another program.
	identity() (string, error)

	// close lets the target go for good.
	close() error
}

// A thread is one thread of a halted target.
type thread struct {
	id     int
	regs   proc.Registers
	asleep bool // in a system call that waits in the kernel
}

// A span is a piece of the target's memory, and its copy.
type span struct {
	addr uint64
	data []byte
}
