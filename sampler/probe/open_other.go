//go:build !linux || !(amd64 || arm64)

package probe

import (
	"errors"
	"time"
)

var errPlatform = errors.New("probes need Linux on amd64 or arm64")

// OpenPID reads the executable of a running process.
func OpenPID(int) (*Program, error) { return nil, errPlatform }

func openKernel(*Program, Options) (kernel, string, error) { return nil, "", errPlatform }

func hurry() func() { return func() {} }

func monotonic() uint64 { return 0 }

func napAwake(d time.Duration) { time.Sleep(d) }

func nap(d time.Duration) { time.Sleep(d) }
