//go:build linux && (amd64 || arm64)

package heap

import (
	"errors"
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
)

// lateLimit is how long to wait for the registers of threads
// that wait for a CPU.
const lateLimit = 250 * time.Millisecond

// A process is a running process as a source.
type process struct {
	*halt.Reader
	p *halt.Process
}

// OfProcess returns a running process as a source.
func OfProcess(p *halt.Process) Source { return &process{Reader: p.NewReader(), p: p} }

// Halt implements Source.
func (s *process) Halt(limit time.Duration, now func(Reader, []Thread) error, later func(Reader,
	Thread)) (
	took time.Duration, unknown int, err error) {
	h, err := s.p.Halt(limit, lateLimit, func(h *halt.Halted) error {
		threads, err := h.All(0)
		if err != nil {
			return err
		}
		known := make([]Thread, 0, len(threads))
		for _, t := range threads {
			if t.Late {
				unknown++
				continue
			}
			known = append(known, threadOf(t))
		}
		return now(h.Reader(), known)
	}, func(t halt.Thread) {
		unknown--
		later(s.Reader, threadOf(t))
	})
	if errors.Is(err, halt.ErrLong) {
		err = fmt.Errorf("%w: %w", ErrLong, err)
	}
	return h.Took, unknown, err
}

// Now implements Source.
func (s *process) Now() time.Duration { return s.p.Now() }

func threadOf(t halt.Thread) Thread {
	words := append(make([]uint64, 0, 600), t.General[:]...)
	return Thread{ID: t.TID, PC: t.PC, SP: t.SP,
		Words: halt.VectorRegisters(t.TID, append(words, t.LR))}
}
