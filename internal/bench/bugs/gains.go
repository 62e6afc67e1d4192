//go:build linux

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/internal/bench/forecast"
)

// gains are predictions of what the fixes brought, beside the truth.
type gains struct {
	all    []forecast.Forecast
	silent map[string]int // by reason
}

// add adds the gain of the finding that names the cause, and describes it.
func (g *gains) add(old, new *trial, named place) string {
	if named == 0 {
		g.silent["the cause is not named"]++
		return "-"
	}
	if old.speed.Rate == 0 {
		g.silent["nothing got done before, and there is no factor"]++
		return "-"
	}
	gain := old.Findings[named-1].Gain
	f, ok := forecast.Of(gain, old.speed, new.speed)
	if !ok {
		reason := "none is computed"
		if gain != nil {
			reason = cmp.Or(gain.Silent, "there is no bound")
		}
		g.silent[reason]++
		return "-"
	}
	g.all = append(g.all, f)
	return fmt.Sprintf("%.2f, %.2f (%.2f-%.2f)", f.Measured, f.Times, f.Low, f.High)
}

func (g *gains) print() {
	wide := func(f forecast.Forecast) bool { return !f.Narrow() }
	fmt.Printf("gains: %s\n", forecast.Agreement(g.all))
	fmt.Printf("with an interval within a factor of 2: %s\n",
		forecast.Agreement(slices.DeleteFunc(slices.Clone(g.all), wide)))
	for _, reason := range slices.Sorted(maps.Keys(g.silent)) {
		fmt.Printf("silent %d times: %s\n", g.silent[reason], reason)
	}
}
