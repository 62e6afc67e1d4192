//go:build !linux

package sampler

import "errors"

type (
	family struct{}
	image  struct{}
)

func newFamily(*Process, bool) (*family, error) {
	return nil, errors.New("finding what a command starts works on Linux only: build the program (go build, go test -c) and record that")
}

func (*family) findChanged(ProgramFilter) []*member { return nil }
func (*family) reconsider(int)                      {}
func (*family) scriptRuns() bool                    { return false }
func (*family) isRunning(int) bool                  { return false }
