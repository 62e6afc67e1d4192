package heap

import (
	"errors"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler/target/gostate"
)

// A Reader reads memory of a target.
type Reader = gostate.Reader

// A Thread is a halted thread.
type Thread struct {
	ID     int
	PC, SP uint64
	Words  []uint64 // its registers, including vector registers
}

// A Source is a target: a process, or a core dump.
type Source interface {
	Reader

	// Halt halts all threads and calls now. The limit bounds the halt.
	//
	// A thread that gets no CPU runs no code, but its registers
	// are not known in the halt. Halt calls later with such a
	// thread when it stops. unknown is the number of threads
	// whose registers have not become known.
	Halt(limit time.Duration, now func(r Reader, threads []Thread) error, later func(r Reader,
		t Thread)) (
		took time.Duration, unknown int, err error)

	// Now returns the present time of the runtime's clock; 0 if
	// it is not known.
	Now() time.Duration
}

// ErrLong reports that a halt was ended since it would have been too long.
var ErrLong = errors.New("the halt was ended before all was read")

// A locked source holds a lock while it halts.
type locked struct {
	Source
	halting sync.Locker
}

// Halt implements Source.
func (s *locked) Halt(limit time.Duration, now func(r Reader, threads []Thread) error,
	later func(r Reader, t Thread)) (
	took time.Duration, unknown int, err error) {
	s.halting.Lock()
	defer s.halting.Unlock()
	return s.Source.Halt(limit, now, later)
}

// copier reads a target into the examination's arena.
func (x *Examination) copier(r Reader) gostate.Copier {
	return gostate.Copier{Reader: r, Arena: &x.arena}
}
