package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// samplerFlags say how a program is sampled.
type samplerFlags struct {
	backend             string
	maxOverhead, maxCPU string
	options             sampler.Options
}

func (f *samplerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.Float64Var(&f.options.Rate, "rate", 0, "samples per second, at most (default "+defaultRates()+")")
	flags.Float64Var(&f.options.Jitter, "jitter", sampler.DefaultJitter, "how much of the interval is random, from 0 (strictly periodic) to 1")
	flags.StringVar(&f.maxOverhead, "max-overhead", shareText(sampler.DefaultMaxOverhead), "the `share` of time for which the program may be halted; 0 for no limit")
	flags.StringVar(&f.maxCPU, "max-cpu", shareText(sampler.DefaultMaxCPU), "the `share` of one core that cpprof may use to sample; 0 for no limit. Without this flag, cpprof uses less if all processors are busy")
	addBackend(c, &f.backend)
}

func addBackend(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", defaultBackend, "how to read the program: "+strings.Join(backendNames(), ", "))
	completeWords(c, "backend", backendNames()...)
}

// check finds flags that make no sense, and completes the options.
func (f *samplerFlags) check(c *cobra.Command) error {
	if f.options.Rate == 0 && c.Flags().Changed("rate") {
		return errors.New("--rate 0: give the number of samples a second")
	}
	for _, share := range []struct {
		flag, text string
		to         *float64
	}{
		{"--max-overhead", f.maxOverhead, &f.options.MaxOverhead},
		{"--max-cpu", f.maxCPU, &f.options.MaxCPU},
	} {
		x, err := parseShare(share.text)
		if err != nil {
			return fmt.Errorf("%s %s: %w", share.flag, share.text, err)
		}
		*share.to = x
	}
	f.options.Yield = !c.Flags().Changed("max-cpu")
	chosen, err := findBackend(f.backend)
	if err != nil {
		return err
	}
	if f.options.Rate == 0 {
		f.options.Rate = chosen.rate
	}
	return f.options.Validate()
}

func findBackend(name string) (backend, error) {
	b, ok := backends[name]
	if !ok {
		return backend{}, fmt.Errorf("--backend %s: there is no such backend: %s", name, strings.Join(backendNames(), ", "))
	}
	return b, nil
}

// defaultRates lists the rates of the backends, the default one's first.
func defaultRates() string {
	list := fmt.Sprint(backends[defaultBackend].rate)
	for _, name := range backendNames() {
		if name != defaultBackend {
			list += fmt.Sprintf("; %v with --backend %s", backends[name].rate, name)
		}
	}
	return list
}

// parseShare reads "1%" or "0.01".
func parseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return 0, errors.New("give a share such as 1% or 0.01")
	}
	if percent {
		x /= 100
	}
	return x, nil
}

// shareText writes what parseShare reads.
func shareText(x float64) string { return fmt.Sprintf("%g%%", 100*x) }
