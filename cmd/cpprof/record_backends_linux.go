//go:build linux && (amd64 || arm64)

package main

import (
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

const defaultBackend = snapshot.Name

func init() {
	backends[snapshot.Name] = backend{rate: 100, open: func(path string) (func(*sampler.Process) (sampler.Backend, error), error) {
		e, err := sampler.ReadExecutable(path)
		if err == nil {
			err = e.Foreign()
		}
		if err != nil {
			return nil, err
		}
		return func(p *sampler.Process) (sampler.Backend, error) { return snapshot.Attach(p) }, nil
	}}
}
