//go:build unix

package sampler

import (
	"fmt"
	"os"
	"syscall"

	"github.com/cpprof/cpprof/sampledata"
)

// endOf returns how a child ended.
func endOf(s *os.ProcessState) sampledata.End {
	if s == nil {
		return sampledata.End{Cause: sampledata.EndUnknown, Detail: "ended, nobody knows how"}
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return sampledata.End{
			Cause: sampledata.EndKilled, ExitStatus: 128 + int32(w.Signal()),
			Detail: "signal: " + w.Signal().String(),
		}
	}
	return sampledata.End{
		Cause: sampledata.EndExited, ExitStatus: int32(s.ExitCode()),
		Detail: fmt.Sprintf("exit status %d", s.ExitCode()),
	}
}
