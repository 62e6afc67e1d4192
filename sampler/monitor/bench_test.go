//go:build linux && (amd64 || arm64)

package monitor

import (
	"os"
	"testing"
)

// BenchmarkSources measures each source that recordings read by
// default. Those that take long are read less often than at each
// sample.
func BenchmarkSources(b *testing.B) {
	for _, s := range Builtin() {
		b.Run(s.Monitors[0].Name, func(b *testing.B) {
			r, err := s.Open(Target{PID: os.Getpid()})
			if err != nil {
				b.Skip(err)
			}
			defer r.Close()
			readAgain(b, r)
		})
	}
}
