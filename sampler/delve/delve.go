// Package delve is the portable backend of the sampler. It reads
// a target with Delve (pkg/proc), which gets types, variables
// and stacks from the target's debug information. So it can only
// sample a binary that has debug information.
//
// For each sample, the backend halts the target, copies its
// goroutines, the part of their stacks that is in use, and the
// scheduler's state, and lets the target continue. Then it
// unwinds the copied stacks with Delve. If the copied stack of a
// parked goroutine is the same as in the previous sample, it is
// not unwound again. Nothing is written into the target: Delve
// sees a process that can't be changed, so it can't plant a
// breakpoint.
//
// How the target is halted depends on the system. On Linux
// package halt does it (see seizer). On other systems Delve's
// native backend does it (see nativeHalter); that is built for
// those systems, but tested on Linux only.
//
// Delve's unwinder has known faults, which this backend
// inherits: it drops the caller of a frameless innermost
// function that was preempted, and loses frames in signal
// handlers.
package delve

import (
	"fmt"
	"io"
	"sync"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"

	"github.com/cpprof/cpprof/sampler"
)

// A Binary is an executable with its debug information, ready for sampling.
type Binary struct {
	path  string
	entry uint64 // address of the entry point for which the debug information was loaded
	bi    *proc.BinaryInfo
	info  sampler.Executable
}

// Load reads an executable. This takes some tenths of a second
// for a large one, so it is best done before the program is
// launched.
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
	return load(path, info)
}

// load loads an executable for the entry point that it was linked with.
func load(path string, info sampler.Executable) (*Binary, error) {
	if err := try(path); err != nil {
		return nil, fmt.Errorf("reading the debug information of %s: %w", info.Path, err)
	}
	b := &Binary{path: path, info: info}
	return b, b.load(info.Entry)
}

// load reads the debug information for an executable whose entry
// point is at the given address.
func (b *Binary) load(entry uint64) error {
	quiet()
	b.entry = entry
	b.bi = proc.NewBinaryInfo(b.info.OS, b.info.Arch, true)
	if err := b.bi.LoadBinaryInfo(b.path, entry, nil); err != nil {
		return fmt.Errorf("reading the debug information of %s: %w", b.info.Path, err)
	}
	return nil
}

// quiet keeps Delve from writing about what it does not
// understand to standard error, which the target may share.
var quiet = sync.OnceFunc(func() {
	logflags.SetLoggerFactory(func(bool, logflags.Fields, io.Writer) logflags.Logger {
		return silence{}
	})
})

// silence is a logger that discards everything.
type silence struct{}

func (silence) Debugf(string, ...any) {}
func (silence) Infof(string, ...any)  {}
func (silence) Warnf(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Debug(...any)          {}
func (silence) Info(...any)           {}
func (silence) Warn(...any)           {}
func (silence) Error(...any)          {}
