//go:build linux

package sampler

import (
	"context"
	"errors"
	"testing"
)

// A failed halt is repeated a few times, but not if the target
// has ended or the context is done.
func TestOnce(t *testing.T) {
	failure := errors.New("reading runtime.allgs: not there")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		observe func(n int) error
		want    error
		tries   int
	}{
		"at once":   {t.Context(), func(int) error { return nil }, nil, 1},
		"at last":   {t.Context(), func(n int) error { return map[bool]error{true: failure}[n < 5] }, nil, 5},
		"never":     {t.Context(), func(int) error { return failure }, failure, 5},
		"cancelled": {cancelled, func(int) error { return failure }, failure, 1},
		"ended":     {t.Context(), func(int) error { return errEnded }, errEnded, 1},
	} {
		b := &faultyBackend{observe: c.observe}
		r, err := Once(c.ctx, b)
		if !errors.Is(err, c.want) || b.n != c.tries {
			t.Errorf("%s: %v after %d tries, want %v after %d", name, err, b.n, c.want, c.tries)
		}
		if err == nil && r.Samples.Len() != 1 {
			t.Errorf("%s: %d samples", name, r.Samples.Len())
		}
	}
}

var errEnded = &EndedError{}
