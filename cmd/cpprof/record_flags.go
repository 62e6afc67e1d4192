package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// samplerFlags are the flags that say how to sample a program.
type samplerFlags struct {
	backend                     string
	jitter, maxOverhead, maxCPU shareFlag
	options                     sampler.Options
}

func (f *samplerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.Float64VarP(&f.options.Rate, "rate", "r", 0,
		"samples per second, at most (default "+defaultRates()+")")
	addShare(flags, &f.maxOverhead, "max-overhead", percent(sampler.DefaultMaxOverhead),
		"the `share` of time for which the program may be halted; 0 for no limit")
	addMaxCPU(c, &f.maxCPU, sampler.DefaultMaxCPU)
	addBackend(c, &f.backend)
}

func addBackend(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", defaultBackend,
		"how to read the program: "+strings.Join(backendNames(), ", "))
	completeWords(c, "backend", backendNames()...)
}

// check returns an error if a flag has an impossible value, and
// completes the options.
func (f *samplerFlags) check(c *cobra.Command) error {
	if f.options.Rate == 0 && c.Flags().Changed("rate") {
		return errors.New("--rate 0: give the number of samples per second")
	}
	f.options.Jitter = sampler.DefaultJitter
	if f.jitter.value != nil {
		f.options.Jitter = f.jitter.float()
	}
	f.options.MaxOverhead, f.options.MaxCPU = f.maxOverhead.float(), f.maxCPU.float()
	f.options.Yield = !c.Flags().Changed("max-cpu")
	chosen, err := findBackend(f.backend)
	if err != nil {
		return err
	}
	f.options.Rate = cmp.Or(f.options.Rate, chosen.rate)
	return f.options.Validate()
}

func findBackend(name string) (backend, error) {
	b, ok := backends[name]
	if !ok {
		return backend{}, fmt.Errorf("--backend %s: no such backend: want one of %s", name,
			strings.Join(backendNames(), ", "))
	}
	return b, nil
}

// defaultRates lists the default rates of the backends, beginning with the
// default backend.
func defaultRates() string {
	list := fmt.Sprint(backends[defaultBackend].rate)
	for _, name := range backendNames() {
		if name != defaultBackend {
			list += fmt.Sprintf("; %v with --backend %s", backends[name].rate, name)
		}
	}
	return list
}
