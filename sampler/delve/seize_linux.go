//go:build amd64 || arm64

package delve

import (
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/halt"
)

// A seizer halts a process with package halt.
//
// Delve's own way of halting on Linux uses PTRACE_ATTACH and
// sends SIGTRAP and SIGSTOP to the target. It is not used here:
// if the sampler is killed during such a halt, the kernel
// delivers those signals, and the target dies or stays stopped.
type seizer struct {
	*halt.Process
	*halt.Reader
	numbers *halt.Numbers
}

func newHalter(pid int) (halter, error) {
	p, err := halt.Open(pid)
	if err != nil {
		return nil, err
	}
	return &seizer{p, p.NewReader(), halt.NewNumbers(p)}, nil
}

func (s *seizer) close() error { return s.Close() }

func (s *seizer) entryPoint() (uint64, error) {
	auxv, err := s.Auxv()
	return auxv[halt.AuxEntry], err
}

// haltLimit is how long all threads of a halt have to stop.
const haltLimit = time.Second

func (s *seizer) during(f func([]thread) error) (time.Duration, error) {
	h, err := s.Halt(0, 0, func(h *halt.Halted) error {
		all, err := h.All(haltLimit)
		if err != nil {
			return err
		}
		threads := make([]thread, len(all))
		for i, t := range all {
			threads[i] = thread{t.TID, allRegisters(t.PC, t.SP, t.TLS, &t.General), t.Asleep()}
		}
		return f(threads)
	}, func(halt.Thread) {})
	switch {
	case errors.Is(err, halt.ErrEnded):
		err = errGone
	case errors.Is(err, halt.ErrExec):
		err = &sampler.EndedError{End: sampledata.End{Cause: sampledata.EndExec, Detail: err.Error()}}
	}
	return h.Took, err
}

// outer returns the sampler's number of a thread.
func (s *seizer) outer(tid int) int { return s.numbers.Outer(tid) }
