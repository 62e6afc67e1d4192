package main

import (
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
)

// A backend is a way to read a target.
type backend struct {
	rate float64 // samples per second, if --rate is not given
	heap bool    // it can mark the program's heap

	// open prepares to record an executable before it is launched. The
	// attacher that it returns attaches to a process that runs the
	// executable.
	open func(path string) (attach func(*sampler.Process) (sampler.Backend, error), err error)
}

// backends holds the backends of this platform, by name.
var backends = map[string]backend{
	delve.Name: {rate: sampler.DefaultRate, open: func(path string) (func(*sampler.Process) (sampler.Backend, error), error) {
		b, err := delve.Load(path)
		if err != nil {
			return nil, err
		}
		return func(p *sampler.Process) (sampler.Backend, error) { return b.Attach(p) }, nil
	}},
}

func backendNames() []string { return slices.Sorted(maps.Keys(backends)) }
