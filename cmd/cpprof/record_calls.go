package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/spf13/cobra"
)

// timedFlags say which calls are timed one by one while a
// program is recorded.
type timedFlags struct {
	calls    string // a function; a condition is for those who show the calls
	overhead shareFlag
	removal  time.Duration
}

// addBounds adds the flags that bound what probes cost.
func (f *timedFlags) addBounds(c *cobra.Command) {
	addShare(c.Flags(), &f.overhead, "probe-overhead", "1%",
		"the `share` of one processor's time that probes may cost the program; 0 for no bound")
	c.Flags().DurationVar(&f.removal, "max-removal", usualRemoval,
		"refuse functions if taking their probes out again would take longer; 0 for no bound")
}

// options returns the options of a recording's probes. Their
// clock begins with it.
func (f *timedFlags) options(t terminal, target target) probe.Options {
	start := target.backend.Header().Start
	return probe.Options{
		MaxOverhead: f.overhead.float(), MaxRemoval: f.removal, TakingOut: newCountdown(t),
		Clock: func() time.Duration { return max(0, time.Since(start)) },
	}
}

// errTimesFollowed says that calls are timed of one program only.
var errTimesFollowed = errors.New("--calls times calls of one program, and can't follow others: leave --calls out, or record the program itself")

// timeCalls puts instruments into the function of --calls, and
// adds to the recording what they measure. The result takes them
// out again.
func (f *recordFlags) timeCalls(t terminal, target target) (func() error, error) {
	if f.timed.calls == "" {
		return func() error { return nil }, nil
	}
	name, _, err := calls.Parse(f.timed.calls)
	if err != nil {
		return nil, usagef("--calls: %w", err)
	}
	if !calls.IsFunction(name) {
		return nil, usagef("--calls %s: the samples show these calls: leave --calls out, and give it to 'cpprof calls' or 'cpprof report'", name)
	}
	program, err := probe.OpenPID(target.PID)
	if err != nil {
		return nil, fmt.Errorf("--calls: %w", err)
	}
	one, err := program.Function(name)
	if err != nil {
		return nil, usagef("--calls: %w; without --calls, the samples alone show its calls ('cpprof calls')",
			err)
	}
	list := []probe.Function{one}
	program.AddArguments(list)
	o := f.timed.options(t, target)
	o.Keep, o.Forget = true, f.kept.on()
	set, err := probe.Start(program, list, o)
	if err != nil {
		return nil, fmt.Errorf("--calls: %w; without --calls, the samples alone show calls ('cpprof calls')",
			tooLong(err))
	}
	if f.options.Duration > 0 { // it lasts from here on
		f.options.Duration += o.Clock()
	}
	f.wrap = func(s sampledata.Sink) sampledata.Sink { return &probedSink{Sink: s, set: set} }
	return set.Close, nil
}
