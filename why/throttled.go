package why

// A Throttling is what the kernel denies a program whose control group has a
// limit of CPU time.
type Throttling struct {
	// the share of the kernel's periods in which the group had used up its
	// CPU time
	Periods float64 `json:"periods"`
	Limit   float64 `json:"limit,omitempty"` // in CPUs; 0 if it is not known
}

// throttling returns what the kernel denied the program in the span; nil if
// nothing, or if that was not measured.
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

// ends returns the first and the last value of a monitor in the span; 0 if it
// has none.
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

// limited makes the hypothesis that the machine has no CPUs for the program
// one about its control group, if that is the reason.
func (s *searcher) limited(c *candidate) *candidate {
	t := s.e.throttling()
	if t == nil || t.Periods < s.o.Threshold {
		return c
	}
	// What the program does with the CPUs that it gets is second to that it
	// gets few.
	c.f.Kind, c.f.Throttling, c.f.specific, c.f.key = ThrottledKind, t, 2, key(ThrottledKind)
	return c
}
