package metrics

import (
	"math"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Cell is a metric in one part of the time, such as a column
// of a picture.
type Cell struct {
	Time time.Duration // how much of the part has values; 0: the metric is undefined there
	Mean float64
	Word int // of a nominal metric: the word that holds for most of the time, an index of its Words
}

// Lane returns a metric in each part of the time: part i is that
// from bounds[i] to bounds[i+1]. The value of a sample holds for
// the time that the sample stands for: from halfway to the
// sample before to halfway to the one after. Infinite values
// count as undefined.
func (t *Table) Lane(m *Metric, bounds []time.Duration) []Cell {
	if len(bounds) < 2 {
		return nil
	}
	cells := make([]Cell, len(bounds)-1)
	words := make(map[int]time.Duration) // of the words of one cell
	// the first cell that can still get values; the cell that
	// the words are of
	first, of := 0, -1
	for i, x := range m.Column {
		from, to := t.holds(i)
		for first < len(cells) && bounds[first+1] <= from {
			first++
		}
		if !isFinite(x) {
			continue
		}
		for k := first; k < len(cells) && bounds[k] < to; k++ {
			part := min(to, bounds[k+1]) - max(from, bounds[k])
			if part <= 0 {
				continue
			}
			c := &cells[k]
			c.Time += part
			c.Mean += (x - c.Mean) * float64(part) / float64(c.Time)
			if m.Words == nil {
				continue
			}
			if of != k {
				clear(words)
				of = k
			}
			if words[int(x)] += part; words[int(x)] > words[c.Word] || c.Time == part {
				c.Word = int(x)
			}
		}
	}
	return cells
}

// holds returns the time that a sample stands for. The last one
// stands for the time after it, too.
func (t *Table) holds(i int) (from, to time.Duration) {
	at := t.r.Samples.Time(i)
	if i > 0 {
		from = middle(t.r.Samples.Time(i-1), at)
	}
	if i+1 < t.samples {
		return from, middle(at, t.r.Samples.Time(i+1))
	}
	return from, math.MaxInt64
}

func middle(a, b time.Duration) time.Duration { return a + (b-a)/2 }

// usual are the metrics that tell most about any program.
var usual = []string{
	"cpu.used", "heap.live", "rate(heap.allocated_bytes)", "gc.running", "goroutines.running",
	"goroutines.ready", "goroutines.blocked",
}

// Usual returns the metrics to show if nobody asks for others.
// The program's own come first, counters as rates. Then come
// those that say most about any program. Each has a value in
// some sample.
func (t *Table) Usual() []string {
	var list []string
	try := func(expr string) {
		if m, err := t.Metric(expr); err == nil && m.Column.Count() > 0 {
			list = append(list, expr)
		}
	}
	for _, m := range t.order {
		if m.Layer == sampledata.Application && m.Unmeasured == "" {
			try(m.Shown())
		}
	}
	for _, expr := range usual {
		try(expr)
	}
	return list
}

// Shown returns the expression that says most about a monitor:
// the rate of a counter, and else its value.
func (m *Monitor) Shown() string {
	if m.Kind == sampledata.Counter && m.Expr == "" {
		return "rate(" + m.Name + ")"
	}
	return m.Name
}
