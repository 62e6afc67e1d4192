//go:build (linux && (amd64 || arm64)) || (windows && amd64) || (darwin && macnative)

package delve

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"

	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

// A nativeHalter halts a process with Delve's native backend,
// and stays attached between halts. Delve reads the binary while
// it attaches, with the process halted. The breakpoints that it
// plants then are removed before the process continues.
type nativeHalter struct {
	targets *proc.TargetGroup
	running chan error    // receives the result of continuing; nil while halted
	resumed chan struct{} // closed when all threads have been continued
}

func newNativeHalter(pid int) (halter, error) {
	quiet()
	targets, err := native.Attach(pid, nil, nil)
	if err != nil {
		return nil, err
	}
	h := &nativeHalter{targets: targets}
	target := targets.Selected
	for _, b := range target.Breakpoints().M {
		if err := target.ClearBreakpoint(b.Addr); err != nil {
			return nil, errors.Join(fmt.Errorf("removing Delve's breakpoint at %#x: %w", b.Addr,
				err), h.close())
		}
	}
	h.resume()
	return h, nil
}

func (h *nativeHalter) resume() {
	running := make(chan error, 1)
	h.running, h.resumed = running, make(chan struct{})
	h.targets.ResumeNotify(h.resumed)
	go func() { running <- h.targets.Continue() }()
}

// halt stops the process.
func (h *nativeHalter) halt() error {
	if h.running == nil {
		return nil
	}
	err := h.stop()
	h.running = nil
	if _, ok := errors.AsType[proc.ErrProcessExited](err); ok {
		return errGone
	}
	return err
}

// stop ends the continuing and returns its result. It waits
// until the threads have been continued: Delve forgets an
// earlier request to stop.
func (h *nativeHalter) stop() error {
	select {
	case err := <-h.running:
		return err
	case <-h.resumed:
	}
	if err := h.targets.RequestManualStop(); err != nil {
		return err
	}
	return <-h.running
}

func (h *nativeHalter) during(f func([]thread) error) (time.Duration, error) {
	start := time.Now()
	err := h.halt()
	if err == nil {
		var threads []thread
		if threads, err = threadsOf(h.targets.ThreadList()); err == nil {
			err = f(threads)
		}
	}
	if ok, _ := h.targets.Valid(); ok && h.running == nil {
		h.resume()
	}
	return time.Since(start), err
}

func (h *nativeHalter) ReadRanges(rs []copied.Range) (failed int) {
	return readRanges(h.targets.Selected.Memory(), rs)
}

func (h *nativeHalter) entryPoint() (uint64, error) { return h.targets.Selected.EntryPoint() }

func (h *nativeHalter) close() error {
	if ok, _ := h.targets.Valid(); !ok {
		return nil
	}
	if err := h.halt(); err != nil {
		return err
	}
	return h.targets.Detach(false)
}
