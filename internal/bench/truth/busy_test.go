//go:build linux

package main

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// newTestBench builds the programs. It skips the test if the
// machine does not permit to record them.
func newTestBench(t *testing.T) *bench {
	t.Helper()
	fixture.Long(t) // it records for half a minute
	b := fixture.Must(newBench())(t)
	t.Cleanup(b.close)
	return b
}

// observe runs and records a workload.
func (b *bench) observe(t *testing.T, workload string) *comparison {
	t.Helper()
	c, err := b.once(workload, 0, b.workload)
	if err != nil && strings.Contains(err.Error(), "grant CAP_SYS_PTRACE") {
		t.Skipf("programs can't be recorded here: %v", err)
	}
	fixture.Check(t, err)
	var text strings.Builder
	c.print(&text, workload, false, new(findings))
	t.Log(text.String())
	return c
}

// The utilisation of a machine that is busy is that which the
// kernel's clock shows: of a program that computes all the time
// beside another one, and of one that mostly sleeps. Both have
// one CPU, and the sampler has the same one. The first is on its
// processor all the time, so that only the time without a CPU
// makes the difference. The second gives the CPU up when the
// sampler would get it at an ordinary priority. The shares of
// its classes are those of the trace, too.
//
// A right sampler fails by chance if it is off by 5 standard
// errors. They are estimated from batches of samples, so that
// this happens about once in a thousand runs.
func TestUtilisationOfABusyCPULong(t *testing.T) {
	b := newTestBench(t)
	b.pinned, b.length = true, 8*time.Second
	for workload, others := range map[string]int{"burn1": 1, "rwmutex": 0} {
		b.others = others
		c := b.observe(t, workload)
		u := c.use
		if bound := u.bound*5/3 + 0.02; u.recorded < u.clock-u.own-bound || u.recorded > u.clock+bound {
			t.Errorf("%s: utilisation %.3f (and %.3f for the runtime), but the CPU clock shows %.3f", workload, u.recorded, u.own, u.clock)
		}
		for class, f := range c.classes {
			for m := range numMeasures {
				if g := &f.figures[m]; strings.HasPrefix(class, "go:main.") && math.Abs(g.all()) > g.bound*5/3+0.02 {
					t.Errorf("%s: %s of %s: %.3f, but %.3f to %.3f in the trace", workload, measures[m].name, class, g.recorded, g.least, g.most)
				}
			}
		}
		if states := c.stable; len(states.wrong) > 0 && float64(sum(states.wrong)) > 0.01*float64(states.checked) {
			t.Errorf("%s: of %d states that did not change, these are wrong: %v", workload, states.checked, states.wrong)
		}
	}
}

// Programs that give up their only CPU all the time are met as
// busy as they are, and not at the moments at which they give it
// up: the sampler wakes on time. At an ordinary priority, it has
// found 0.12 and 0.31 of one CPU in use by these programs, which
// used 0.20 and 0.39. To tell these apart, it takes as many
// samples as it can, and four runs count together.
func TestMomentsOfABusyCPULong(t *testing.T) {
	b := newTestBench(t)
	b.pinned, b.length, b.flags = true, 8*time.Second, []string{"--max-cpu", "0", "--max-overhead", "0"}
	difference, variance := 0.0, 0.0
	for _, workload := range []string{"rwmutex", "timers", "rwmutex", "timers"} {
		u := b.observe(t, workload).use
		difference += u.recorded + u.own/2 - u.clock
		variance += u.bound / 3 * u.bound / 3
	}
	if bound := 5*math.Sqrt(variance) + 0.02; math.Abs(difference) > bound {
		t.Errorf("the utilisations of the recordings differ from those of the CPU clock by %.3f in all (± %.3f)", difference, bound)
	}
}

// A thread that is in a long system call on another CPU can't be
// halted in time, but it has a CPU.
func TestUtilisationInTheKernelLong(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("the sampler needs a CPU of its own")
	}
	b := newTestBench(t)
	b.length = 8 * time.Second
	c := b.observe(t, "leaves")
	u := c.use
	if bound := u.bound*5/3 + 0.02; u.recorded < u.clock-u.own-bound || u.recorded > u.clock+bound {
		t.Errorf("utilisation %.3f (and %.3f for the runtime), but the CPU clock shows %.3f", u.recorded, u.own, u.clock)
	}
}

func sum(counts map[[2]state]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Samples become fewer while a program keeps all CPUs busy, and
// each stands for more time then. The program does so for one
// and a half of three seconds. Samples are at random moments,
// but all states change in few moments only, so that the shares
// are right up to half of the longest time that a sample stands
// for, at each of these.
func TestPhasesOfABusyMachineLong(t *testing.T) {
	b := newTestBench(t)
	b.length = 6 * time.Second
	c := b.observe(t, "phases")
	const changes = 4
	bound := 0.02 + changes*c.longest/2/c.seconds
	for m := range numMeasures {
		f := c.classes["go:main.phaser"].figures[m]
		if math.Abs(f.all()) > bound {
			t.Errorf("%s: %.3f, but %.3f to %.3f in the trace (± %.3f)", measures[m].name, f.recorded, f.least, f.most, bound)
		}
	}
}
