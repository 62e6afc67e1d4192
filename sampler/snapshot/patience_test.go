//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

func TestPatience(t *testing.T) {
	var p patience
	slow := fmt.Errorf("halting: %w", halt.ErrSlow)
	for i, want := range []time.Duration{1200, 1200, 2400, 2400, 4800, 4800, 9600, 9600, 19200, 19200, 38400, 38400, 50000, 50000} {
		if got := p.limit(2); got != want*time.Microsecond {
			t.Errorf("after %d failures: %v, want %v", i, got, want*time.Microsecond)
		}
		p.learn(slow)
	}
	for range 100 {
		p.learn(slow)
	}
	if got := p.limit(2); got != lastLimit {
		t.Errorf("after many failures: %v", got)
	}
	p.learn(nil)
	if got := p.limit(64); got != 7400*time.Microsecond {
		t.Errorf("for 64 processors: %v", got)
	}
}
