package main

import (
	"cmp"
	"math"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/spf13/cobra"
)

// suggestFlags are the flags of suggest.
type suggestFlags struct {
	viewFlags
	top   int
	least float64
	json  bool
}

func newSuggestCommand(t terminal) *cobra.Command {
	var f suggestFlags
	c := &cobra.Command{
		Use:   "suggest RECORDING METRIC",
		Short: "Rank monitors, thread states and call paths by how they go with a metric",
		Long: `suggest answers: what was the program doing when this went up? It correlates a metric with all other
monitors and metrics, with the number of goroutines of each thread class in each state, and with
the number of goroutines in each call path, and lists the closest. Each of these three has a third
of the places if it has as many: a call path has few hits in a sample, and so a lower coefficient
than a monitor that goes with the metric no better. Correlations that may be there by chance,
because so many were tried, are marked.`,
		Example: `  cpprof monitors suggest run.cpprof 'rate(heap.allocated_bytes)'
  cpprof monitors suggest run.cpprof goroutines.blocked --samples '!gc.running' --top 10`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("want a recording and a metric: 'cpprof monitors RECORDING' lists what there is")
			}
			return nil
		},
		ValidArgsFunction: f.completeMetric,
		RunE: func(_ *cobra.Command, args []string) error {
			return f.run(t, args[0], args[1])
		},
	}
	f.addSamples(c, t)
	flags := c.Flags()
	addTop(c, &f.top, 25)
	flags.Float64Var(&f.least, "least", 0.01,
		"leave out call paths with fewer goroutines per sample than this `number`")
	addJSON(c, &f.json)
	return c
}

func (f *suggestFlags) run(t terminal, path, metric string) error {
	if f.top < 0 || !(f.least >= 0) {
		return usagef("--top %d --least %v: want a number of candidates, and one of goroutines, from 0 up", f.top, f.least)
	}
	m, err := f.measured(path)
	if err != nil {
		return err
	}
	ranking, err := m.table.Rank(metric, m.list,
		metrics.RankOptions{Least: f.least, Most: cmp.Or(f.top, math.MaxInt)})
	if err != nil {
		return err
	}
	r := &report.Ranking{Ranking: ranking, Over: m.over(f.samples),
		Basis: report.BasisOf(m.recording)}
	return t.print(r, f.json)
}
