package why

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/metrics"
)

// A Throttling is what the kernel denies a program whose control
// group has a limit of CPU time.
type Throttling struct {
	// the share of the kernel's periods in which the group had
	// used up its CPU time
	Periods float64 `json:"periods"`
	Limit   float64 `json:"limit,omitempty"` // in CPUs; 0 if it is not known
}

// throttling returns what the kernel denied the program in the
// span; nil if nothing, or if that was not measured.
func (e *evidence) throttling() *Throttling {
	periods, throttled := e.growth("cgroup.periods"), e.growth("cgroup.throttled_periods")
	if periods <= 0 || throttled <= 0 {
		return nil
	}
	_, limit := e.ends("cgroup.cpu_limit")
	return &Throttling{Periods: min(throttled/periods, 1), Limit: limit}
}

// growth returns by how much a monitor grew in the span.
func (e *evidence) growth(monitor string) float64 {
	first, last := e.ends(monitor)
	return last - first
}

// ends returns the first and the last value of a monitor in the
// span; 0 if it has none.
func (e *evidence) ends(monitor string) (first, last float64) {
	for i := range e.r.Series {
		if e.r.Series[i].Name != monitor {
			continue
		}
		begun := false
		for sample, v := range e.r.Series[i].All() {
			x, ok := v.Float()
			if !ok || sample >= int(e.to) {
				continue
			}
			if !begun || sample <= int(e.from) {
				first, begun = x, true
			}
			last = x
		}
	}
	return first, last
}

// monitors returns the values beside the samples.
func (e *evidence) monitors() *metrics.Table {
	if e.table == nil {
		e.table = metrics.New(e.r, metrics.Options{})
	}
	return e.table
}

// A Crowd is who wants the CPUs that threads of the program wait for.
type Crowd struct {
	Own    float64 `json:"own"`            // CPUs that the program uses
	Others float64 `json:"others"`         // CPUs that other programs use
	CPUs   int     `json:"cpus,omitempty"` // that the program may run on; 0 if it is not known
	Most   int     `json:"gomaxprocs"`     // how many of its threads run Go code at once

	// how often a second a thread of it gets a CPU, and how long
	// it has then been ready on average, in ns; 0 if that was
	// not measured
	Turns float64 `json:"turns,omitempty"`
	Delay float64 `json:"delay,omitempty"`
}

// Waiting returns the mean number of threads that wait for a
// CPU, by the kernel.
func (c *Crowd) Waiting() float64 { return c.Turns * c.Delay / 1e9 }

// crowd returns who wants the CPUs; nil if that was not measured.
func (e *evidence) crowd() *Crowd {
	t := e.monitors()
	all, known := t.MeanRate("machine.cpu", int(e.from), int(e.to))
	own, also := t.MeanRate("process.cpu", int(e.from), int(e.to))
	if !known || !also {
		return nil
	}
	_, cpus := e.ends("process.cpus")
	c := &Crowd{
		Own: own, Others: max(0, all-own), CPUs: int(cpus),
		Most: e.gomaxprocs(),
	}
	turns, _ := t.MeanRate("threads.switches", int(e.from), int(e.to))
	if delay, known := t.MeanRate("threads.run_delay", int(e.from), int(e.to)); known && turns > 0 {
		c.Turns, c.Delay = turns*1e9, delay/turns
	}
	return c
}

// gomaxprocs returns how many processors the program had at the
// end of the span. It may have set that itself.
func (e *evidence) gomaxprocs() int {
	if n := len(e.r.Samples.At(int(e.to) - 1).Processors); n > 0 {
		return n
	}
	return int(e.r.Header.GOMAXPROCS)
}

// ofOwn reports whether others can't have the CPUs that most
// threads of the program want: they use few, or there are free
// ones most of the time.
func (c *Crowd) ofOwn(want float64) bool {
	return c != nil && c.CPUs > 0 &&
		(c.Others < want/2 || c.hasFree())
}

// hasAll reports whether the program has a processor for each CPU
// that it may run on.
func (c *Crowd) hasAll() bool { return c != nil && c.CPUs > 0 && c.Most >= c.CPUs }

// byOthers reports whether other programs use much of the CPUs, and
// the program could not have more of them.
func (c *Crowd) byOthers() bool {
	return c.hasAll() && !c.hasFree() && min(c.Others, float64(c.CPUs)-c.Own) >= foreignUse*float64(c.CPUs)
}

// hasFree reports whether CPUs are free most of the time.
func (c *Crowd) hasFree() bool { return c.Own+c.Others < busy*float64(c.CPUs) }

// soon is the longest delay, in ns, until a free CPU has woken.
// A thread that waits for another one's slice of time waits for
// most of a millisecond.
const soon = 100e3

// ofWaking reports whether threads wait until a free CPU has
// woken, rather than for others.
func (c *Crowd) ofWaking() bool {
	return c.CPUs > 0 && c.hasFree() && 0 < c.Delay && c.Delay < soon
}

// muchNoCPU is how many times as many threads lack a CPU as have one,
// if that comes before what they do.
const muchNoCPU = 4

// starved is the hypothesis that threads have no CPU, with the
// reason as far as it is known: the program's control group,
// other programs, or its own threads.
func (s *searcher) starved(c *candidate) *candidate {
	if t := s.e.throttling(); t != nil && t.Periods >= s.o.Threshold {
		// What the program does with the CPUs that it gets is
		// second to that it gets few.
		c.f.Kind, c.f.Throttling, c.f.specific = ThrottledKind, t, 2
	} else if c.f.Crowd = s.e.crowd(); c.f.Crowd.ofOwn(s.noCPU) {
		c.f.Kind = CrowdedKind
		if c.f.Crowd.ofWaking() {
			c.f.Kind = WakingKind
		}
	}
	if s.noCPU > muchNoCPU*s.ran { // before what the program does with the little that it gets
		c.f.specific = max(c.f.specific, 1)
	}
	c.f.key = key(c.f.Kind)
	return c
}

// remedy returns what helps if more threads run Go code than
// there are CPUs.
func (c *Crowd) remedy() string {
	if c.CPUs >= c.Most {
		return ""
	}
	return fmt.Sprintf("set GOMAXPROCS to the CPUs that it may run on, %d", c.CPUs)
}

// LacksCPU reports whether a finding is about threads that have no CPU.
func (f *Finding) LacksCPU() bool { return f.row().starved }
