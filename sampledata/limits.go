package sampledata

import (
	"fmt"
	"math"
)

// MaxDepth is the largest number of frames of a stack. A sampler
// cuts deeper stacks, and counts them in a warning.
const MaxDepth = 10_000

// maxSamples leaves room for arithmetic on sample numbers.
const maxSamples = math.MaxInt32 - 1

// sizes are the lengths of a recording's tables. Its methods
// check the codes that refer to these tables.
type sizes struct {
	functions, nodes, goroutines, labelSets, holderSets int
}

func (z *sizes) function(f Function) error {
	if f.Name == "" {
		return fmt.Errorf("function without a name")
	}
	return checkLine(f.Line)
}

func (z *sizes) node(n Node) error {
	if n.Parent < NoStack || int(n.Parent) >= z.nodes {
		return fmt.Errorf("parent %d is none of the %d nodes before it", n.Parent, z.nodes)
	}
	if n.Function < 0 || int(n.Function) >= z.functions {
		return fmt.Errorf("function %d is none of the %d functions", n.Function, z.functions)
	}
	return checkLine(n.Line)
}

func (z *sizes) goroutine(g Goroutine) error {
	if g.Start < -1 || int(g.Start) >= z.functions {
		return fmt.Errorf("start function %d is none of the %d functions", g.Start, z.functions)
	}
	return checkLine(g.Site.Line)
}

// holders checks a set. Its members must be ascending.
func (z *sizes) holders(set []GoroutineID) error {
	for i, g := range set {
		if g < 0 || int(g) >= z.goroutines {
			return fmt.Errorf("holder %d is none of the %d goroutines", g, z.goroutines)
		}
		if i > 0 && set[i-1] >= g {
			return fmt.Errorf("holders %d and %d are not in ascending order", set[i-1], g)
		}
	}
	return nil
}

func (z *sizes) state(s State) error {
	switch {
	case s.Stack < NoStack || int(s.Stack) >= z.nodes:
		return fmt.Errorf("stack %d is none of the %d nodes", s.Stack, z.nodes)
	case s.Release < 0 || int(s.Release) > z.nodes:
		return fmt.Errorf("release with stack %d, which is none of the %d nodes",
			s.Release-1, z.nodes)
	case s.Release != 0 && s.Run != Waiting && s.Run != Blocked:
		return fmt.Errorf("a goroutine that is %s has no wait that could end", s.Run)
	case s.Run > Blocked:
		return fmt.Errorf("unknown run state %d", s.Run)
	case s.NoCPU && s.Run != Running && s.Run != Detached:
		return fmt.Errorf("a goroutine that is %s has no thread that could wait for a CPU", s.Run)
	case s.Evidence > Free:
		return fmt.Errorf("unknown evidence %d", s.Evidence)
	case s.Labels < 0 || int(s.Labels) >= z.labelSets:
		return fmt.Errorf("label set %d is none of the %d label sets", s.Labels, z.labelSets)
	case s.Holders < 0 || int(s.Holders) >= z.holderSets:
		return fmt.Errorf("holder set %d is none of the %d holder sets", s.Holders, z.holderSets)
	case (s.Holders == 0) != (s.Evidence == NoEvidence) && s.Evidence != Free:
		return fmt.Errorf("holder set %d with evidence %q: holders need evidence, and evidence holders", s.Holders, s.Evidence)
	}
	return nil
}

// sample checks one sample by itself; the caller checks it
// against the previous one.
func (z *sizes) sample(s *Sample) error {
	if err := notNegative([]amount{
		{"time", int64(s.Time)}, {"halt", int64(s.Halt)}, {"lost halt", int64(s.LostHalt)},
		{"sampler CPU", int64(s.SamplerCPU)}, {"thread count", int64(s.Threads)},
		{"missed ticks", int64(s.Missed)}, {"reused stacks", int64(s.Reused)},
		{"rechecked stacks", int64(s.Rechecked)}, {"wrong stacks", int64(s.Wrong)},
		{"weight", int64(s.Weight)}, {"suspended time", int64(s.Suspended)},
	}); err != nil {
		return err
	}
	if s.Rechecked > s.Reused {
		return fmt.Errorf("%d stacks rechecked of %d reused", s.Rechecked, s.Reused)
	}
	if s.Wrong > s.Rechecked {
		return fmt.Errorf("%d stacks wrong of %d rechecked", s.Wrong, s.Rechecked)
	}
	for i, g := range s.Processors {
		if g < SystemProcessor || int(g) >= z.goroutines {
			return fmt.Errorf("processor %d runs %d, which is none of the %d goroutines",
				i, g, z.goroutines)
		}
	}
	return nil
}

// An amount is a number that can't be negative, with its name.
type amount struct {
	name  string
	value int64
}

func notNegative(amounts []amount) error {
	for _, a := range amounts {
		if a.value < 0 {
			return fmt.Errorf("negative %s %d", a.name, a.value)
		}
	}
	return nil
}

func checkLine(line int32) error {
	if line < 0 {
		return fmt.Errorf("negative line %d", line)
	}
	return nil
}

// checkLabels checks that the keys are in ascending order, each once.
func checkLabels(set []Label) error {
	for i := 1; i < len(set); i++ {
		if set[i-1].Key >= set[i].Key {
			return fmt.Errorf("label keys %q and %q are not in ascending order",
				set[i-1].Key, set[i].Key)
		}
	}
	return nil
}

func (h *Header) check() error {
	if y := h.Start.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("start time in the year %d: want 1 to 9999", y)
	}
	err := notNegative([]amount{{"pid", h.PID}, {"GOMAXPROCS", int64(h.GOMAXPROCS)}})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"rate", h.Sampler.RateHz}, {"jitter", h.Sampler.Jitter},
		{"overhead bound", h.Sampler.MaxOverhead}, {"CPU bound", h.Sampler.MaxCPU},
	} {
		if !(f.value >= 0 && f.value <= math.MaxFloat64) {
			return fmt.Errorf("%s %v is not a number from 0 up", f.name, f.value)
		}
	}
	return nil
}

// normal returns the header with its start time in UTC and
// without a monotonic clock reading, as files keep it.
func (h Header) normal() Header {
	h.Start = h.Start.Round(0).UTC()
	h.Command = append([]string(nil), h.Command...)
	return h
}

func (e *End) check() error {
	if e.Cause > EndFailed {
		return fmt.Errorf("unknown cause %d", e.Cause)
	}
	return notNegative([]amount{
		{"time", int64(e.Time)}, {"missed ticks", int64(e.Missed)},
		{"sampler CPU", int64(e.SamplerCPU)}, {"lost halt", int64(e.LostHalt)},
	})
}
