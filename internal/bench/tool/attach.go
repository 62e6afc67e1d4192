//go:build linux && (amd64 || arm64)

package tool

import (
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

// Attach attaches to a process. The caller closes the backend.
func Attach(pid int) (*sampler.Process, *snapshot.Backend, error) {
	p, err := sampler.Find(pid)
	if err != nil {
		return nil, nil, err
	}
	b, err := snapshot.Attach(p)
	if err != nil {
		p.Release()
	}
	return p, b, err
}
