package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/cpprof/cpprof/why"
)

const (
	probedShare    = 0.01            // of a processor's time that probes may cost the program
	probedFindings = 3               // the findings whose functions are probed
	enoughCalls    = 200             // after which a function is probed no longer
	minProbing     = time.Second     // even if there are enough calls
	maxProbing     = 4 * time.Second // even if there are not
)

// probe puts instruments into the functions of the findings so
// far, and waits until there are enough calls. What is not
// permitted or not possible is said, and kept in the recording;
// the samples then remain. The set is nil if nothing is probed.
func (f *whyFlags) probe(ctx context.Context, t terminal, target target, g *growing, s *source,
	sink *probedSink) *probe.Set {
	a, err := why.Find(g.live.Recording(), f.searchOptions(s))
	if err != nil {
		return nil // the final search reports it
	}
	program, err := probe.OpenPID(target.PID)
	if err != nil {
		tell(t.err, "no probes: %v; the answer is from samples only", err)
		return nil
	}
	list, refused := experiments(program, a)
	var set *probe.Set
	if len(list) > 0 {
		set, refused, err = f.startProbes(t, program, target, list, refused)
	}
	switch {
	case err != nil:
		termtext.Fprintf(t.err, "cpprof: no probes: %v\ncpprof: the answer is from samples only\n",
			err)
		return nil
	case len(list)+len(refused) == 0:
		tell(t.err, "no probes: there is no finding so far that the number or length of calls would decide")
		return nil
	}
	if sink.add(set, refused) && set != nil {
		awaitCalls(ctx, g, set)
	}
	return set
}

// startProbes probes as many of the functions as can be taken
// out again fast enough.
func (f *whyFlags) startProbes(t terminal, program *probe.Program, target target,
	list []probe.Function,
	refused []sampledata.Probe) (*probe.Set, []sampledata.Probe, error) {
	o := f.record.timed.options(t, target)
	set, err := probe.Start(program, list, o)
	var many *probe.RemovalError
	if !errors.As(err, &many) || many.Fits == 0 {
		return set, refused, err
	}
	for _, one := range list[many.Fits:] {
		refused = append(refused,
			sampledata.Probe{Function: one.Name, Why: one.Why, Note: err.Error()})
	}
	set, err = probe.Start(program, list[:many.Fits], o)
	return set, refused, err
}

// awaitCalls waits until a set has measured enough.
func awaitCalls(ctx context.Context, g *growing, set *probe.Set) {
	ticks := time.Tick(100 * time.Millisecond)
	for began := time.Now(); time.Since(began) < maxProbing; {
		select {
		case <-ctx.Done():
			return
		case <-g.ended:
			return
		case <-ticks:
		}
		waits := slices.ContainsFunc(set.Results(), func(p sampledata.Probe) bool {
			measured := p.Returned
			if p.ReturnsUpTo == p.From {
				measured = p.Calls
			}
			return p.Instrument != sampledata.NoInstrument && !p.TakenOut && measured < enoughCalls
		})
		if !waits && time.Since(began) >= minProbing {
			return
		}
	}
}

// experiments returns the functions to probe for the first
// findings, and those that can't be. If the function of a
// finding can't be, its caller is probed.
func experiments(program *probe.Program, a *why.Answer) (list []probe.Function,
	refused []sampledata.Probe) {
	seen := map[string]bool{}
	add := func(name, why string) bool {
		if seen[name] {
			return true
		}
		seen[name] = true
		one, err := program.Function(name)
		if err != nil {
			refused = append(refused,
				sampledata.Probe{Function: name, Why: why, Note: reasonAgainst(err)})
			return false
		}
		one.Why = why
		list = append(list, one)
		return true
	}
	for _, finding := range a.Findings[:min(len(a.Findings), probedFindings)] {
		for _, x := range finding.Experiments() {
			caller := finding.Where.Caller
			if !add(x.Function, x.Asks) && x.Role == why.PlaceRole && caller != "" &&
				!strings.HasPrefix(caller, "runtime.") {
				add(caller, "it calls "+x.Function+", which can't be probed")
			}
		}
	}
	program.AddArguments(list)
	return list, refused
}

// reasonAgainst says why a function can't be probed.
func reasonAgainst(err error) string {
	if r, ok := errors.AsType[*probe.RefusedError](err); ok {
		return r.Reason
	}
	return err.Error()
}
