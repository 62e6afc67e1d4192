//go:build linux && (amd64 || arm64)

package halt

import (
	"testing"
	"time"
)

// The clock of a program in a time namespace is ahead of the
// machine's, or behind it.
func TestMonotonicOffset(t *testing.T) {
	for offsets, want := range map[string]time.Duration{
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic       -1000         0\nboottime        -1000         0\n": -1000 * time.Second,
		"monotonic           7 500000000\nboottime            9         0\n": 7500 * time.Millisecond,
		"monotonic          -1 999999999\nboottime            0         0\n": -1,
		"boottime            9         0\nmonotonic           1         0\n": time.Second,
		"": 0, "monotonic\n": 0, "no clock 1 2\n": 0,
	} {
		if got := monotonicOffset(offsets); got != want {
			t.Errorf("%q: got %v, want %v", offsets, got, want)
		}
	}
}
