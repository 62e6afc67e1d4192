package monitors

import (
	"strings"
	"time"
)

// Some counters are not read at each sample, since that would cost too much. Their resolution says how often they are read. Their
// values then stand still for some samples, and jump; a rate from sample to sample would be 0, and sometimes far too high. So a
// rate is that between two readings, in all samples between them.

// evenOf returns a column of a counter that grows evenly between two readings.
func (t *Table) evenOf(m *Monitor) Column {
	growth := t.growthOf(m)
	every, ok := readEvery(m.Resolution)
	if !ok || m.series < 0 {
		return growth
	}
	if c, ok := t.even[m.Name]; ok {
		return c
	}
	c := t.evenly(growth, every)
	t.even[m.Name] = c
	return c
}

// readEvery returns the time from one reading to the next, which a resolution such as "250ms" or "once a span, read every 250ms"
// ends with; false if it doesn't.
func readEvery(resolution string) (time.Duration, bool) {
	words := strings.Fields(resolution)
	if len(words) == 0 {
		return 0, false
	}
	every, err := time.ParseDuration(words[len(words)-1])
	return every, err == nil && every > 0
}

// evenly spreads the growth of a counter over the samples since the reading before. A reading comes at the first sample at
// which the one before is as old as every, or later. What the counter reached after the last reading is not known.
func (t *Table) evenly(growth Column, every time.Duration) Column {
	at := t.r.Samples.Time
	even := make(Column, len(growth))
	copy(even, growth)
	last := -1 // the last reading
	for i, x := range growth {
		switch {
		case !Defined(x):
			last = -1
			continue
		case last < 0:
			last = i
			continue
		case x == growth[i-1] && at(i)-at(last) < every:
			continue
		}
		if from := last; x > growth[from] {
			for k := from + 1; k < i; k++ {
				even[k] = growth[from] + (x-growth[from])*float64(at(k)-at(from))/float64(at(i)-at(from))
			}
		}
		last = i
	}
	for i := last + 1; last >= 0 && i < len(even); i++ {
		even[i] = undefined
	}
	return even
}
