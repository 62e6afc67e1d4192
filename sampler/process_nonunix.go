//go:build !unix

package sampler

import (
	"fmt"
	"os"

	"github.com/cpprof/cpprof/sampledata"
)

// endOf returns how a child ended.
func endOf(s *os.ProcessState) sampledata.End {
	if s == nil {
		return sampledata.End{Cause: sampledata.EndUnknown, Detail: "ended, nobody knows how"}
	}
	return sampledata.End{
		Cause: sampledata.EndExited, ExitStatus: int32(s.ExitCode()),
		Detail: fmt.Sprintf("exit status %d", s.ExitCode()),
	}
}
