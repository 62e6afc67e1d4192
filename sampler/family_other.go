//go:build !linux

package sampler

import "errors"

type (
	family struct{}
	image  struct{}
)

func newFamily(*Process, bool) (*family, error) {
	return nil, errors.New("what a command starts is found on Linux only: build the program (go build, go test -c) and record that")
}

func (*family) look(FollowOptions) []*member { return nil }
func (*family) again(int)                    {}
func (*family) scripting() bool              { return false }
func (*family) runs(int) bool                { return false }
