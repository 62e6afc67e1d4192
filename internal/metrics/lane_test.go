package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A lane has the mean of a metric in each part of the time, by
// the time that the samples stand for.
func TestLane(t *testing.T) {
	table := table(t) // samples at 100 ms, 200 ms, ... 1 s
	bounds := []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}
	lane := func(expr string) []Cell {
		m := fixture.Must(table.Metric(expr))(t)
		return table.Lane(m, bounds)
	}
	// Of the samples at 200, 300, ... the rate is 1, 3, 5, ...
	// in 100 ms; they stand for the time from 150 ms on.
	rates := lane("delta(main.srv.stats[0].hits)")
	if rates[0].Time != 0 || rates[1].Time != 150*time.Millisecond || math.Abs(rates[1].Mean-(1*100+3*50)/150.0) > 1e-9 {
		t.Errorf("%+v", rates)
	}
	if math.Abs(rates[2].Mean-(3*50+5*100+7*50)/200.0) > 1e-9 || rates[3].Time != 1500*time.Millisecond {
		t.Errorf("%+v", rates)
	}
	words := lane("gc.phase")
	if words[2].Word != 0 || words[3].Word != 1 || words[3].Time != 1500*time.Millisecond {
		t.Errorf("%+v", words)
	}
	if got := lane("log2(0 - time)"); got[1].Time != 0 {
		t.Errorf("%+v", got)
	}
	if table.Lane(&Metric{}, bounds[:1]) != nil {
		t.Error("no part of the time has cells")
	}
}
