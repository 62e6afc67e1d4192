package main

import (
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
)

// A backend is a way to read a target.
type backend struct {
	rate float64 // samples a second, unless something else is asked for

	// open makes ready to record programs of an executable, before one is launched: what comes back attaches to a
	// process that runs it.
	open func(path string) (attach func(*sampler.Process) (sampler.Backend, error), err error)
}

// backends are those of this platform, by name.
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
