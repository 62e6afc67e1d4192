//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampler"
)

// A way is one way of sampling, or not sampling, and its effect
// on a target.
type way struct {
	name               string
	args               []string  // of the sampler; nil: no sampler, which shows how much the machine itself varies
	command            []string  // another program than the sampler; the target's process id comes last
	profile            string    // how the target observes itself
	ratios, rates, cpu []float64 // one value a round
	byCPU              []float64 // likewise; see kept
}

// A pace is how fast a target works.
type pace struct {
	wall    float64 // operations a second
	cpu     float64 // operations a second of its processor time
	sampler float64 // processor time of the sampler meanwhile, in cores
}

// kept returns the share of a target's work that it still does
// while it is sampled, by its CPU clock. Other programs on the
// machine do not matter then. alone is its pace without a
// sampler.
//
// The target loses what it does less in a second of processor
// time, the processor time that the sampler takes from it (all
// of it if every processor is busy), and on the other processors
// the time for which it is halted.
func kept(alone, sampled pace, halted float64) float64 {
	n := float64(runtime.NumCPU())
	return sampled.cpu / alone.cpu * (1 - sampled.sampler/n - halted*(n-1)/n)
}

// disturb compares a target while it is sampled with the same
// target before and after.
func (b *bench) disturb(w *way, args []string) error {
	t, err := start(b.target, args...)
	if err != nil {
		return err
	}
	defer t.End()
	time.Sleep(time.Second)
	before, err := b.speed(t, nil)
	if err != nil {
		return err
	}
	sampled, m, err := b.speedSampled(t, w)
	if err != nil {
		return err
	}
	after, err := b.speed(t, nil)
	if err != nil {
		return err
	}
	alone := pace{wall: (before.wall + after.wall) / 2, cpu: (before.cpu + after.cpu) / 2}
	w.ratios = append(w.ratios, sampled.wall/alone.wall)
	w.byCPU = append(w.byCPU, kept(alone, sampled, m.Halted))
	w.rates, w.cpu = append(w.rates, m.Rate), append(w.cpu, sampled.sampler)
	return nil
}

// observing compares a target that observes itself with one that
// doesn't, run before and after it. What it does less in a
// second of processor time is what observing takes.
func (b *bench) observing(w *way, args []string) error {
	var paces [3]pace
	for i, profile := range []string{"", w.profile, ""} {
		t, err := start(b.target, append([]string{"-profile", profile}, args...)...)
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		paces[i], err = b.speed(t, nil)
		t.End()
		if err != nil {
			return err
		}
	}
	ratio := 2 * paces[1].cpu / (paces[0].cpu + paces[2].cpu)
	w.ratios = append(w.ratios, 2*paces[1].wall/(paces[0].wall+paces[2].wall))
	w.byCPU = append(w.byCPU, ratio)
	w.rates, w.cpu = append(w.rates, 0), append(w.cpu, (1-ratio)*min(2, float64(runtime.NumCPU())))
	return nil
}

// speedSampled returns the pace of a target while it is sampled,
// and the costs of sampling.
func (b *bench) speedSampled(t *target, w *way) (p pace, m measures, err error) {
	attachTime := 2 * time.Second // attaching and the first sample, which unwinds all stacks, are over by then
	if w.command != nil {
		c := exec.Command(w.command[0], append(w.command[1:], itoa(t.Process.Pid))...)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			return p, m, err
		}
		time.Sleep(attachTime)
		p, err = b.speed(t, &sampling{cmd: c})
		return p, m, cmp.Or(err, endOf(c))
	}
	if w.args == nil {
		time.Sleep(attachTime)
		p, err = b.speed(t, nil)
		return p, m, err
	}
	s, err := t.sample(w.args...)
	if err != nil {
		return p, m, err
	}
	time.Sleep(attachTime)
	p, err = b.speed(t, s)
	s.in.Close()
	m, failed := s.wait()
	return p, m, cmp.Or(err, failed)
}

// endOf ends a program that had to run until now. It lets go of
// the target.
func endOf(c *exec.Cmd) error {
	if err := c.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("%s ended early: %w", c.Path, err)
	}
	_ = c.Wait() // says that it was interrupted
	return nil
}

// speed measures the pace of a target, and how much processor
// time a sampler uses meanwhile, if there is one.
func (b *bench) speed(t *target, s *sampling) (p pace, err error) {
	used := func() (target, own time.Duration) {
		if s != nil {
			own = sampler.ProcessorTimeOf(s.cmd.Process.Pid)
		}
		return sampler.ProcessorTimeOf(t.Process.Pid), own
	}
	target, own := used()
	first, begin, err := t.count()
	if err != nil {
		return p, err
	}
	time.Sleep(time.Duration(b.speedSeconds) * time.Second)
	targetNow, ownNow := used()
	last, end, err := t.count()
	took, done := end.Sub(begin).Seconds(), float64(last-first)
	return pace{done / took, done / (targetNow - target).Seconds(), (ownNow - own).Seconds() / took}, err
}

// spread formats the median, the minimum and the maximum of some ratios.
func spread(r []float64) string {
	middle := tool.Median(r)
	return fmt.Sprintf("%5.1f %%  (%.1f to %.1f)", 100*middle, 100*r[0], 100*r[len(r)-1])
}
