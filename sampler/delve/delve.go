// Package delve is the portable backend of the sampler: it reads a target with the help of Delve (pkg/proc), which
// knows types, variables and stacks from the target's debug information, so that it needs a binary that has it.
//
// A sample halts the target, copies what it consists of (goroutines, the used part of their stacks, the scheduler's
// state), lets the target go, and unwinds the copy with Delve afterwards. A parked goroutine whose copied stack is what
// it was in the sample before is not unwound again. Nothing is written into the target: Delve is shown a process
// that can't be changed, and never gets to plant a breakpoint.
//
// How the target is halted depends on the system. On Linux it is done here (see seizer); elsewhere by Delve's native
// backend (see nativeHalter), which is built for those systems, and tested on Linux only.
//
// Delve's unwinder has known faults that this backend inherits: it drops the caller above a frameless leaf that was
// preempted, and loses frames in signal handlers.
package delve

import (
	"fmt"
	"io"
	"sync"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler"
)

// A Binary is an executable with its debug information, ready to be sampled.
type Binary struct {
	path  string
	entry uint64 // that the executable is taken to be loaded at
	bi    *proc.BinaryInfo
	info  sampler.Executable
}

// Load reads an executable. It takes some tenths of a second for a large one, and is therefore best done before the
// program is launched.
func Load(path string) (*Binary, error) {
	info, err := sampler.ReadExecutable(path)
	if err != nil {
		return nil, err
	}
	if err := info.Foreign(); err != nil {
		return nil, err
	}
	if !info.DWARF {
		return nil, fmt.Errorf("%s has no symbols: build it without -ldflags=-s and -w (go run and go test strip, too), or record with another backend", info.Path)
	}
	b := &Binary{path: path, info: info}
	return b, b.load(info.Entry)
}

// load reads the debug information for an executable that is entered at the address.
func (b *Binary) load(entry uint64) error {
	quiet()
	b.entry = entry
	b.bi = proc.NewBinaryInfo(b.info.OS, b.info.Arch, true)
	if err := b.bi.LoadBinaryInfo(b.path, entry, nil); err != nil {
		return fmt.Errorf("reading the debug information of %s: %w", b.info.Path, err)
	}
	return nil
}

// quiet keeps Delve from writing to standard error, which is the target's, what it does not understand.
var quiet = sync.OnceFunc(func() {
	logflags.SetLoggerFactory(func(bool, logflags.Fields, io.Writer) logflags.Logger { return silence{} })
})

// silence is a logger that says nothing.
type silence struct{}

func (silence) Debugf(string, ...any) {}
func (silence) Infof(string, ...any)  {}
func (silence) Warnf(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Debug(...any)          {}
func (silence) Info(...any)           {}
func (silence) Warn(...any)           {}
func (silence) Error(...any)          {}
