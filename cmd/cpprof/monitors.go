package main

import (
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/spf13/cobra"
)

// monitorsFlags are the flags of monitors.
type monitorsFlags struct {
	viewFlags
	csv bool
}

func newMonitorsCommand(t terminal) *cobra.Command {
	var f monitorsFlags
	c := &cobra.Command{
		Use:   "monitors RECORDING",
		Short: "Show what was measured beside the stacks, and what goes with what",
		Long: `monitors lists what a recording has beside the stacks: monitors of the runtime, the kernel and the
program, what the samples know by themselves (goroutines by state, processors without work), and
metrics that are computed of these. The statistics of a counter are those of its rate. What was
not measured stands below, with the reason.

Metrics and sample lists are defined in cpprof.yaml, or with --set metrics.NAME=EXPR: expressions of
+ - * /, comparisons, && || !, and functions: abs, delta, lag, ln, log2, max, min, rate; and
hits(CALL PATH), label(KEY=VALUE), lock(NAME), samples(0-99), span(2s, 3s).`,
		Example: `  cpprof monitors run.cpprof
  cpprof monitors run.cpprof --samples gc.running --set 'metrics.x=delta(gc.workers) / 2'`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error { return f.run(t, path) })
	f.addSamples(c, t)
	f.addJSON(c)
	addCSV(c, &f.csv)
	c.AddCommand(newPlotCommand(t), newSuggestCommand(t), newCorrelateCommand(t),
		newPerturbCommand(t))
	return c
}

func (f *monitorsFlags) run(t terminal, path string) error {
	if f.json && f.csv {
		return usagef("--json and --csv are two formats: give one of them")
	}
	m, err := f.measured(path)
	if err != nil {
		return err
	}
	r := &report.Monitors{Path: path, Table: m.table, List: m.list, Of: f.samples}
	if f.csv {
		return r.WriteCSV(t.out)
	}
	return t.print(r, f.json)
}

// A measured is a recording with its table, and the samples that count.
type measured struct {
	*source
	table *metrics.Table
	list  metrics.List
}

// measured reads a recording as a whole, and the list that
// --samples chooses. Differences and spans refer to the whole.
func (f *viewFlags) measured(path string) (*measured, error) {
	s, err := f.whole(path)
	if err != nil {
		return nil, err
	}
	if err := s.needSamples("monitors"); err != nil {
		return nil, &usageError{err}
	}
	m := &measured{source: s, table: s.table()}
	if err := f.checkDefined(m.table); err != nil {
		return nil, err
	}
	m.list, err = f.list(m.table)
	return m, err
}

// completeMetric completes a recording, and then names of metrics and functions.
func (f *viewFlags) completeMetric(c *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeRecording(c, args, word)
	}
	return f.completeMeasured("rate(", "delta(", "hits(", "lock(", "label(")(c, args, word)
}
