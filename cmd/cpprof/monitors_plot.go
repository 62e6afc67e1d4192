package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/report/plots"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

// plotFlags are the flags of plot.
type plotFlags struct {
	viewFlags
	scatter string
	output  string
	force   bool
	csv     bool
}

func newPlotCommand(t terminal) *cobra.Command {
	var f plotFlags
	c := &cobra.Command{
		Use:   "plot RECORDING [METRIC...] [--scatter A,B[,C]]",
		Short: "Draw metrics over time or against one another, in the terminal or to a file",
		Long: `plot draws strips of metrics over time, with the same time in all and the statistics of each beside
it. With --against, a second recording is in the same strips. --scatter draws one metric against
another, or each of several against each. Without --output, the picture is text; to a file, it is
SVG or PNG, by the ending of its name. 'cpprof monitors' lists what there is.`,
		Example: `  cpprof monitors plot run.cpprof cpu.used 'hits(* ..encoding/json.Marshal)'
  cpprof monitors plot new.cpprof heap.live --against old.cpprof -o heap.svg
  cpprof monitors plot run.cpprof --scatter 'goroutines.blocked,cpu.used' -o scatter.png`,
		Args:              wantArgs(1, -1, "want a recording, such as run.cpprof"),
		ValidArgsFunction: f.completeMetric,
		RunE: func(_ *cobra.Command, args []string) error {
			return f.run(t, args[0], args[1:])
		},
	}
	f.addSamples(c, t)
	flags := c.Flags()
	f.addAgainst(c)
	flags.StringVar(&f.scatter, "scatter", "",
		"draw two `metrics`, A,B, or several, A,B,C, against one another")
	addOutput(c, &f.output, "")
	addForce(c, &f.force)
	f.addJSON(c)
	addCSV(c, &f.csv)
	return c
}

// check returns an error for flags that don't go together.
func (f *plotFlags) check(exprs []string) error {
	forms := lists.Count([]bool{f.json, f.csv, f.output != ""},
		func(given bool) bool { return given })
	switch {
	case f.scatter != "" && len(exprs) > 0:
		return usagef("--scatter and strips of metrics are two pictures: ask for one of them")
	case forms > 1:
		return usagef("--output, --json and --csv are three forms: ask for one of them")
	case f.against != "" && f.scatter != "":
		return usagef("--against adds a recording to strips, not to --scatter")
	}
	return nil
}

func (f *plotFlags) run(t terminal, path string, exprs []string) error {
	if err := f.check(exprs); err != nil {
		return err
	}
	m, err := f.measured(path)
	if err != nil {
		return err
	}
	if f.scatter != "" {
		if exprs = metrics.Split(f.scatter); len(exprs) < 2 {
			return usagef("--scatter takes two metrics or more, with commas between them; got %d",
				len(exprs))
		}
	}
	if len(exprs) == 0 {
		exprs = slices.DeleteFunc(m.table.Usual(),
			func(e string) bool { _, err := m.table.Numbers(e); return err != nil })
	}
	metrics, err := m.table.AllNumbers(exprs...)
	if err != nil {
		return err
	}
	all := []*drawn{{m, metrics}}
	other, err := f.second(exprs)
	if err != nil {
		return err
	}
	if other != nil {
		all = append(all, other)
	}
	switch {
	case f.json:
		return valuesJSON(t.out, all)
	case f.csv:
		return valuesCSV(t.out, all)
	case f.scatter != "":
		return f.pairs(t, m, metrics)
	}
	return f.strips(t, all)
}

// A drawn is a recording with the metrics to draw.
type drawn struct {
	*measured
	metrics []*metrics.Metric
}

// second reads the recording of --against; nil if there is none.
func (f *plotFlags) second(exprs []string) (*drawn, error) {
	if f.against == "" {
		return nil, nil
	}
	m, err := f.measured(f.against)
	if err != nil {
		return nil, err
	}
	metrics, err := m.table.AllNumbers(exprs...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.against, err)
	}
	return &drawn{m, metrics}, nil
}

// strips draws metrics over time.
func (f *plotFlags) strips(t terminal, all []*drawn) error {
	var strips []plots.Strip
	for i, metric := range all[0].metrics {
		strips = append(strips, plots.Strip{Name: metric.Expr, Unit: metric.Unit.String(),
			Runs: lists.Each(all, func(d *drawn) plots.Run {
				return plots.NewRun(d.path, d.table, d.metrics[i], d.list)
			})})
	}
	if f.output == "" {
		plots.PrintStrips(t.out, strips, t.width())
		return nil
	}
	return f.save(t, func(w io.Writer) error { return plots.WriteStrips(w, f.output, strips) })
}

// pairs draws metrics against one another.
func (f *plotFlags) pairs(t terminal, m *measured, selected []*metrics.Metric) error {
	pair := func(x, y int) *plots.Pair { return plots.NewPair(selected[x], selected[y], m.list) }
	switch {
	case len(selected) == 2 && f.output == "":
		plots.PrintScatter(t.out, pair(0, 1), t.width())
		return nil
	case len(selected) == 2:
		return f.save(t, func(w io.Writer) error {
			return plots.WriteScatter(w, f.output, pair(0, 1))
		})
	case f.output == "":
		matrix := report.NewMatrix(selected, metrics.OverSamples(m.list))
		matrix.Over = m.over(f.samples)
		matrix.Write(t.out)
		return nil
	}
	names := lists.Each(selected, func(m *metrics.Metric) string { return m.Expr })
	return f.save(t, func(w io.Writer) error { return plots.WriteMatrix(w, f.output, names, pair) })
}

// save writes the picture.
func (f *plotFlags) save(t terminal, write func(io.Writer) error) error {
	if err := checkNew(f.output, f.force); err != nil {
		return err
	}
	if !slices.ContainsFunc(plots.Formats,
		func(ending string) bool { return strings.HasSuffix(strings.ToLower(f.output), ending) }) {
		return usagef("%s: the name of a picture ends with %s", f.output,
			strings.Join(plots.Formats, " or "))
	}
	if err := create(f.output, f.force, write); err != nil {
		return err
	}
	_, err := termtext.Fprintf(t.err, "cpprof: the picture is in %q\n", f.output)
	return err
}

// valuesJSON prints the values of metrics in the samples that count.
func valuesJSON(w io.Writer, all []*drawn) error {
	var recordings []*sampledata.Recording
	s := new(report.Samples)
	for _, d := range all {
		recordings = append(recordings, d.recording)
		for _, i := range d.list.Members() {
			s.Add(d.path, i, d.recording.Samples.Time(i), d.metrics)
		}
	}
	s.Basis = report.BasisOf(recordings...)
	return s.WriteJSON(w)
}

// valuesCSV prints the values of metrics in the samples that count.
func valuesCSV(w io.Writer, all []*drawn) error {
	c := report.NewCSV(w)
	head := []any{"recording", "sample", "seconds"}
	for _, metric := range all[0].metrics {
		head = append(head, metric.Expr)
	}
	c.Row(head...)
	for _, d := range all {
		for _, i := range d.list.Members() {
			line := []any{d.path, i, d.recording.Samples.Time(i).Seconds()}
			for _, metric := range d.metrics {
				line = append(line, metric.Column[i])
			}
			c.Row(line...)
		}
	}
	return c.End()
}
