package sampledata

import (
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Each case has the values of a monitor at samples one second apart.
func TestSeriesStats(t *testing.T) {
	counter, realCounter := Monitor{Name: "m"}, Monitor{Name: "m", Real: true}
	level, nominal := Monitor{Name: "m", Kind: Level}, Monitor{Name: "m", Kind: Nominal}
	for name, c := range map[string]struct {
		m      Monitor
		values []Value
		want   SeriesStats
	}{
		"nothing measured": {level, []Value{{}, {}}, SeriesStats{}},
		"zero":             {level, []Value{Number(0), Number(0)}, SeriesStats{Samples: 2, Min: Number(0), Max: Number(0), Last: Number(0)}},
		"gap": {level, []Value{{}, Number(-5), {}, {}, Number(3), Number(3)},
			SeriesStats{Samples: 3, Min: Number(-5), Max: Number(3), Last: Number(3)}},
		"ends unmeasured": {level, []Value{Number(2), {}}, SeriesStats{Samples: 1, Min: Number(2), Max: Number(2)}},
		"large counts": {counter, []Value{Count(1<<64 - 3), Count(1<<64 - 3), Count(1<<64 - 1)},
			SeriesStats{Samples: 3, Min: Count(1<<64 - 3), Max: Count(1<<64 - 1), Last: Count(1<<64 - 1), Rate: Real(1)}},
		"began anew": {counter, []Value{Count(10), Count(20), Count(1), Count(3)},
			SeriesStats{Samples: 4, Min: Count(1), Max: Count(20), Last: Count(3), Rate: Real(4), Restarts: 1}},
		"one reading": {counter, []Value{Count(10)}, SeriesStats{Samples: 1, Min: Count(10), Max: Count(10), Last: Count(10)}},
		"real":        {realCounter, []Value{Real(0.5), Real(1)}, SeriesStats{Samples: 2, Min: Real(0.5), Max: Real(1), Last: Real(1), Rate: Real(0.5)}},
		"words":       {nominal, []Value{Word("off"), Word("mark"), Word("off")}, SeriesStats{Samples: 3, Last: Word("off")}},
	} {
		b := NewBuilder(testHeader())
		m := b.Monitor(c.m)
		for i, v := range c.values {
			b.Measure(m, v)
			fixture.Check(t, b.Sample(Sample{Time: time.Duration(i) * time.Second}, nil))
		}
		if got := b.Recording().SeriesStats(m); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
