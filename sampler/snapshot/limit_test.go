//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

func TestHaltLimit(t *testing.T) {
	var l haltLimit
	slow := fmt.Errorf("halting: %w", halt.ErrSlow)
	for i, want := range []time.Duration{1200, 1200, 2400, 2400, 4800, 4800, 9600, 9600, 19200, 19200, 38400, 38400, 50000, 50000} {
		if got := l.next(2); got != want*time.Microsecond {
			t.Errorf("after %d failures: %v, want %v", i, got, want*time.Microsecond)
		}
		l.learn(slow)
	}
	for range 100 {
		l.learn(slow)
	}
	if got := l.next(2); got != lastLimit {
		t.Errorf("after many failures: %v", got)
	}
	l.learn(nil)
	if got := l.next(64); got != 7400*time.Microsecond {
		t.Errorf("for 64 processors: %v", got)
	}
}
