package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Some monitors are not read at each sample, since that would
// cost too much. Their resolution says how often they are read.
// Their values then stand still for some samples, and jump; a
// rate from sample to sample would be 0, and sometimes far too
// high. So a rate is that between two readings, in all samples
// between them. That is so for levels, too: what a program
// publishes as JSON may be a number of requests, but does not
// say that it only grows.

// spread returns a column of a series that changes evenly between
// two readings.
func (t *Table) spread(m *Monitor) Column {
	values, falls := m.column(), true
	if m.Kind == sampledata.Counter {
		values, falls = m.growth(), false
	}
	every, ok := readEvery(m.Resolution)
	switch {
	case ok:
		return t.evenly(values, every, falls)
	case !falls && m.Unit == "ns" && m.Resolution != "": // counted when it was over
		return t.passed(values)
	}
	return values
}

// passed spreads times that the runtime counts when they are
// over, such as a collector's pause. Each has passed before: a
// pause of 20 ms is one of the last 20 ms, not of the 5 ms since
// the last sample.
func (t *Table) passed(values Column) Column {
	at := t.r.Samples.Time
	even := slices.Clone(values)
	last := 0 // the last sample in which one was counted
	for i := 1; i < len(values); i++ {
		growth := values[i] - values[i-1]
		if growth > 0 {
			from := i - 1
			for from > last && float64(at(i)-at(from)) < growth {
				from--
			}
			for k := from + 1; k < i; k++ {
				even[k] += growth * float64(at(k)-at(from)) / float64(at(i)-at(from))
			}
		}
		if growth != 0 { // or not defined
			last = i
		}
	}
	return even
}

// readEvery returns the time from one reading to the next. A
// resolution such as "250ms" or "once a span, read every 250ms"
// ends with this time. If it doesn't, readEvery returns false.
func readEvery(resolution string) (time.Duration, bool) {
	words := strings.Fields(resolution)
	if len(words) == 0 {
		return 0, false
	}
	every, err := time.ParseDuration(words[len(words)-1])
	return every, err == nil && every > 0
}

// evenly spreads the growth of a value since the reading before
// evenly over the samples since then. If the value may fall, it
// spreads a fall, too. A counter that falls begins anew. A
// reading that changes nothing can't be seen. If a value has not
// changed for long, the reading before the change is therefore
// assumed to be one interval (every) before it. The value after
// the last reading is not known.
func (t *Table) evenly(values Column, every time.Duration, falls bool) Column {
	at := t.r.Samples.Time
	even := make(Column, len(values))
	copy(even, values)
	last := -1 // the last sample that certainly has a reading
	// longBefore returns the last sample that is so much earlier
	// than sample i as a reading is than the next.
	longBefore := func(i int) int {
		from := i - 1
		for from > last && at(i)-at(from) < every {
			from--
		}
		return from
	}
	for i, x := range values {
		switch {
		case !Defined(x):
			last = -1
			continue
		case last < 0:
			last = i
			continue
		case x == values[i-1]:
			continue
		}
		from := last
		if at(i)-at(last) >= 2*every { // there were others in between
			from = longBefore(i)
		}
		if x > values[from] || falls {
			for k := from + 1; k < i; k++ {
				even[k] = values[from] +
					(x-values[from])*float64(at(k)-at(from))/float64(at(i)-at(from))
			}
		}
		last = i
	}
	if last >= 0 {
		for i := max(last, longBefore(len(even)-1)) + 1; i < len(even); i++ {
			even[i] = undefined
		}
	}
	return even
}
