package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// slowCounters has 20 samples, 10 ms apart, of a counter that
// grows by 2 each 10 ms, but is read every 50 ms only, and is 0
// again from the reading at sample 15 on; of the same read at
// each sample; of one that never changes; and of a level that is
// what the first one is.
func slowCounters(t *testing.T) *Table {
	b := sampledata.NewBuilder(sampledata.Header{})
	counter := func(name, resolution string) sampledata.MonitorID {
		return b.Monitor(sampledata.Monitor{Name: name, Kind: sampledata.Counter, Resolution: resolution})
	}
	level := b.Monitor(sampledata.Monitor{Name: "level", Kind: sampledata.Level, Resolution: "50ms"})
	slow, quick, still := counter("slow", "when a span is used up, read every 50ms"), counter("quick", "once a collection"), counter("still", "50ms")
	for i := range 20 {
		read := uint64(i / 5 * 5 * 2)
		if i >= 15 {
			read = 0
		}
		b.Measure(slow, sampledata.Count(read))
		b.Measure(quick, sampledata.Count(read))
		b.Measure(still, sampledata.Count(7))
		b.Measure(level, sampledata.Number(int64(read)))
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i) * 10 * time.Millisecond}, nil))
	}
	return New(b.Recording(), Options{Metrics: []Definition{{Name: "both", Expr: "slow + quick"}}})
}

// A rate is that between two readings of the counter. What comes
// after the last reading is not known.
func TestRateBetweenReadings(t *testing.T) {
	table := slowCounters(t)
	const none = -1000
	for expr, want := range map[string][]int{
		"rate(slow)":     {none, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 0, 0, 0, 0, none, none, none, none, none},
		"rate(slow * 2)": {none, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 0, 0, 0, 0, none, none, none, none, none},
		"rate(quick)":    {none, 0, 0, 0, 0, 1000, 0, 0, 0, 0, 1000, 0, 0, 0, 0, none, 0, 0, 0, 0},
		"rate(level)":    {none, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, -400, -400, -400, -400, -400, none, none, none, none},
		"delta(level)":   {none, 0, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0, 0, 0, 0, -20, 0, 0, 0, 0},
		"rate(still)":    {none, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, none, none, none, none, none},
		"delta(slow)":    {none, 0, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0, 0, 0, 0, none, 0, 0, 0, 0},
		"rate(both)":     {none, 200, 200, 200, 200, 1200, 200, 200, 200, 200, 1200, 0, 0, 0, 0, none, none, none, none, none},
	} {
		if got := numbersOf(t, table, expr); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%v, want\n%v", expr, got, want)
		}
	}
	m, err := table.Metric("rate(slow)")
	if err != nil || m.Restarts != 1 {
		t.Errorf("%v: it began anew %d times", err, m.Restarts)
	}
}

// Samples may come unevenly: if no other reading can have been
// between two, the counter has grown since the first of them.
func TestRateOfUnevenSamples(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{})
	id := b.Monitor(sampledata.Monitor{Name: "requests", Kind: sampledata.Counter, Resolution: "50ms"})
	for _, at := range []int{0, 10, 45, 70, 80, 140} { // it is read at 0, 70, 140, and grows by 1 in a millisecond
		b.Measure(id, sampledata.Count(uint64(at/70*70)))
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(at) * time.Millisecond}, nil))
	}
	if got, want := numbersOf(t, New(b.Recording(), Options{}), "rate(requests)")[1:], []int{1000, 1000, 1000, 1000, 1000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A counter that stood still for long has grown between the last
// two readings, whenever these were: not in the samples since a
// multiple of the time between two.
func TestRateAfterPause(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{})
	id := b.Monitor(sampledata.Monitor{Name: "requests", Kind: sampledata.Counter, Resolution: "50ms"})
	for i := range 30 { // it is read at samples 3, 8, 13, ..., and grows by 2 a sample from 8 to 18
		read := (i-3)/5*5 + 3
		b.Measure(id, sampledata.Count(uint64(2*min(max(read-8, 0), 10))))
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i) * 10 * time.Millisecond}, nil))
	}
	got := numbersOf(t, New(b.Recording(), Options{}), "rate(requests)")
	for i, rate := range got[1:25] {
		want := 0
		if i+1 > 8 && i+1 <= 18 {
			want = 200
		}
		if rate != want {
			t.Fatalf("at sample %d the rate is %d, want %d: %v", i+1, rate, want, got)
		}
	}
}

// A collector's pause of 25 ms that is counted at its end is one
// of the last 25 ms, but not of the time before another one was
// counted.
func TestRateOfTimesInArrears(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{})
	pause := b.Monitor(sampledata.Monitor{Name: "gc.pause", Kind: sampledata.Counter, Unit: "ns", Resolution: "once a collection"})
	for i, ms := range []uint64{0, 0, 0, 0, 0, 25, 25, 65, 65, 66} {
		b.Measure(pause, sampledata.Count(ms*1e6))
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i) * 10 * time.Millisecond}, nil))
	}
	const none = -1000
	want := []int{none, 0, 0, 833, 833, 833, 2000, 2000, 0, 100}
	if got := numbersOf(t, New(b.Recording(), Options{}), "rate(gc.pause) / 1000000"); !slices.Equal(got, want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}
