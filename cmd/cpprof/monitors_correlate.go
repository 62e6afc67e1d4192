package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

// correlateFlags are the flags of correlate.
type correlateFlags struct {
	viewFlags
	over string
	with []string
}

func newCorrelateCommand(t terminal) *cobra.Command {
	var f correlateFlags
	c := &cobra.Command{
		Use:   "correlate RECORDING METRIC METRIC...",
		Short: "Correlate metrics, with what to think of before the result is trusted",
		Long: `correlate shows how two metrics go together, sample by sample: Pearson's r, Spearman's rho, r of the
steps from sample to sample, r without samples that lie far out, and how likely such an r is by
chance; then the caveats. Of more than two metrics, it shows a matrix. 'cpprof monitors' lists what
there is; 'cpprof monitors suggest' ranks everything by how it goes with one metric.

With --over LIST, each span of neighbouring samples of the list counts once, such as each
collection. With --with, each recording counts once.`,
		Example: `  cpprof monitors correlate run.cpprof cpu.used 'hits(* ..encoding/json.Marshal)'
  cpprof monitors correlate run.cpprof gc.pause cpu.used goroutines.ready --over gc.running
  cpprof monitors correlate one.cpprof cpu.used goroutines --with two.cpprof --with four.cpprof`,
		Args:              wantArgs(3, -1, "want a recording and two metrics or more; 'cpprof monitors suggest RECORDING METRIC' ranks everything by one metric"),
		ValidArgsFunction: f.completeMetric,
		RunE: func(_ *cobra.Command, args []string) error {
			return f.run(t, args[0], args[1:])
		},
	}
	f.addSamples(c, t)
	flags := c.Flags()
	flags.StringVar(&f.over, "over", "",
		"correlate over the spans of a sample `list` or predicate, not over samples")
	flags.StringArrayVar(&f.with, "with", nil,
		"correlate over recordings: a further `recording` (may be repeated)")
	f.addJSON(c)
	_ = c.RegisterFlagCompletionFunc("over", f.completeMeasured(metrics.AllSamples))
	return c
}

func (f *correlateFlags) run(t terminal, path string, exprs []string) error {
	if f.over != "" && len(f.with) > 0 {
		return usagef("--over and --with correlate over different things: give one of them")
	}
	if len(f.with) > 0 {
		return f.overRuns(t, append([]string{path}, f.with...), exprs)
	}
	m, err := f.measured(path)
	if err != nil {
		return err
	}
	selected, err := m.table.AllNumbers(exprs...)
	if err != nil {
		return err
	}
	over, points, correlate := m.over(f.samples), "sample", metrics.OverSamples(m.list)
	if f.over != "" {
		spans, err := m.table.List(f.over)
		if err != nil {
			return usagef("--over: %w", err)
		}
		spans = spans.And(m.list)
		over, points = report.Counted(len(spans.Spans()), "span")+" of "+f.over, "span"
		correlate = func(x, y *metrics.Metric) metrics.Correlation {
			return metrics.Instances(x, y, spans)
		}
	}
	return f.write(t, selected, over, points, report.BasisOf(m.recording), correlate)
}

// over says which samples count.
func (m *measured) over(list string) string {
	if list == "" {
		return report.Counted(m.table.Samples(), "sample")
	}
	return fmt.Sprintf("%d of %s (%s)", m.list.Len(),
		report.Counted(m.table.Samples(), "sample"), list)
}

func (f *correlateFlags) write(t terminal, selected []*metrics.Metric, over, points string,
	basis report.Basis,
	correlate func(x, y *metrics.Metric) metrics.Correlation) error {
	if len(selected) > 2 {
		m := report.NewMatrix(selected, correlate)
		m.Over, m.Basis = over, basis
		return t.print(m, f.json)
	}
	x, y := selected[0], selected[1]
	c := &report.Correlated{X: x, Y: y, Over: over, Points: points, Correlation: correlate(x, y),
		Basis: basis}
	return t.print(c, f.json)
}

// overRuns correlates over recordings.
func (f *correlateFlags) overRuns(t terminal, paths, exprs []string) error {
	values := make(map[string][]float64)
	var recordings []*sampledata.Recording
	var selected []*metrics.Metric
	for _, path := range paths {
		m, err := f.measured(path)
		if err != nil {
			return err
		}
		if selected, err = m.table.AllNumbers(exprs...); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, metric := range selected {
			values[metric.Expr] = append(values[metric.Expr], metric.Mean(m.list))
		}
		recordings = append(recordings, m.recording)
	}
	over := report.Counted(len(paths), "recording") + ": " + strings.Join(paths, ", ")
	return f.write(t, selected, over, "recording",
		report.BasisOf(recordings...), func(x, y *metrics.Metric) metrics.Correlation {
			return metrics.Runs(values[x.Expr], values[y.Expr])
		})
}

// suggestFlags are the flags of suggest.
type suggestFlags struct {
	viewFlags
	top   int
	least float64
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
		Args:              wantArgs(2, 2, "want a recording and a metric: 'cpprof monitors RECORDING' lists what there is"),
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
	f.addJSON(c)
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
