//go:build linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

const defaultBackend = snapshot.Name

func init() {
	backends[snapshot.Name] = backend{rate: 100,
		heap: true, open: func(path string) (func(*sampler.Process) (sampler.Backend, error),
			error) {
			e, err := sampler.ReadExecutable(path)
			if err == nil {
				err = e.Foreign()
			}
			if err != nil {
				return nil, err
			}
			return attach, nil
		}}
}

// attach makes a backend that knows what earlier recordings have learned
// about the program.
func attach(p *sampler.Process) (sampler.Backend, error) {
	b, err := snapshot.Attach(p)
	if err != nil {
		return nil, err
	}
	if cache, err := os.UserCacheDir(); err == nil {
		b.Remember(filepath.Join(cache, "cpprof"))
	}
	return b, nil
}
