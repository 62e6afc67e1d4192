// Package memory bounds what readers of files allocate: a small
// file can stand for very much.
package memory

import (
	"fmt"
	"sync/atomic"
)

// A Budget is an estimate of the bytes that a reader has
// allocated, and a bound on it. A nil Budget has no bound.
// Several goroutines may use it.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget in bytes; 0 stands for Default.
func NewBudget(max int64) *Budget {
	if max == 0 {
		max = Default()
	}
	return &Budget{max: max}
}

// Take counts n bytes that stay allocated. If they are too many,
// the error is an *Error.
func (b *Budget) Take(n int64) error {
	if err := b.Fits(n); err != nil {
		return err
	}
	if b != nil {
		b.used.Add(n)
	}
	return nil
}

// Taken returns how many bytes were taken and not returned.
func (b *Budget) Taken() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Return says that n bytes are not in use any more.
func (b *Budget) Return(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// Fits returns an *Error if n bytes more, which are needed for a
// while, are too many.
func (b *Budget) Fits(n int64) error {
	if b == nil {
		return nil
	}
	if used := b.used.Load(); used > b.max || n > b.max-used {
		return &Error{b.max}
	}
	return nil
}

// Max returns the bound.
func (b *Budget) Max() int64 { return b.max }

// An Error says that a file is too large to be read within a bound.
type Error struct{ Max int64 }

func (e *Error) Error() string {
	return fmt.Sprintf("what it holds needs more than %s of memory: if you trust the file, allow more with --max-memory", rounded(e.Max))
}

// defaultMax is the bound if the machine does not say how much
// memory it has.
const defaultMax = 2 << 30

// Default returns a quarter of the machine's memory.
func Default() int64 {
	if total := total(); total > 0 {
		return total / 4
	}
	return defaultMax
}

// rounded returns a size that a person can read.
func rounded(n int64) string {
	if n > 1<<20 {
		n -= n % (1 << 20)
	}
	if n%(1<<10) != 0 {
		return fmt.Sprint(n, " bytes")
	}
	return Size(n).String()
}
