//go:build unix && !linux

package sampler

import (
	"errors"
	"os"
	"syscall"
)

func alive(p *os.Process) bool {
	err := p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}
