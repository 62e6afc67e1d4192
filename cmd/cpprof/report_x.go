package main

import (
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/spf13/cobra"
)

// xFlags are the flags of xtree, xprof and xarc, the reports of
// the arcflow paper.
type xFlags struct {
	viewFlags
	min     minFlag
	names   []string
	depth   int
	metrics []string
}

// An xReport is one of the three reports over a call tree.
type xReport struct {
	name, short, long string
	write             func(io.Writer, *calltree.Tree, report.XOptions)
	writeJSON         func(io.Writer, *calltree.Tree, report.XOptions, report.Basis) error
}

var xReports = []xReport{
	{
		"xtree", "Print a view as its whole call tree",
		`xtree prints the call tree, one line for each context: its level (Lv), how often the function is on
the stack (RL), its occurrences, its own share (%Base), and its share with all it calls (%Cum).`,
		report.WriteXTree, report.WriteXTreeJSON,
	},
	{
		"xprof", "Print a view as a flat profile",
		`xprof prints one line for each function: its occurrences, its own share (%Base), its share with all
it calls (%Cum), and its number (Ind) in the xarc report. A recursive stack counts once.`,
		report.WriteXProf, report.WriteXProfJSON,
	},
	{
		"xarc", "Print who calls each function of a view, and whom it calls",
		`xarc prints a paragraph for each function: its callers, itself, and what it calls. In a caller's
line, %Base and %Cum are the shares of the function's calls by that caller; in the line of a called
function, those of the calls to it.`,
		report.WriteXArc, report.WriteXArcJSON,
	},
}

func newXReportCommand(t terminal, x xReport) *cobra.Command {
	var f xFlags
	c := &cobra.Command{
		Use:   x.name + " RECORDING (--server | --thread CLASS)",
		Short: x.short,
		Long: x.long + `

Occurrences are samples in a recording, and calls in a trace. The patterns of --name are those of
aspects: * stands for any text, and "re:" begins a regular expression.

` + inputHelp,
		Example: "  cpprof report " + x.name + ` run.cpprof --server --min 1%
  cpprof report ` + x.name + ` run.cpprof --thread go:main.worker --name 'encoding/json.*'
  cpprof report ` + x.name + " --format arcflow calls.txt",
	}
	takeRecording(c, func(_ *cobra.Command, path string) error { return f.run(t, x, path) })
	f.addView(c, t)
	flags := c.Flags()
	addMin(c, &f.min)
	flags.StringArrayVar(&f.names, "name", nil,
		"show functions that match a `pattern`, and in xtree their callers and callees (may be repeated)")
	flags.IntVar(&f.depth, "depth", 0,
		"leave out calls that are deeper than this `number` below the root; 0 for no limit")
	flags.StringArrayVar(&f.metrics, "metric", nil,
		"show one of several metrics, by `name` (may be repeated; default all)")
	f.addJSON(c)
	return c
}

func (f *xFlags) run(t terminal, x xReport, path string) error {
	o, err := f.options()
	o.Width = t.width()
	if err != nil {
		return err
	}
	v, err := f.openView(path)
	if err != nil {
		return err
	}
	if o.Metrics, err = f.metricsOf(v.Tree); err != nil {
		return err
	}
	if f.json {
		return x.writeJSON(t.out, v.Tree, o, basis(v, nil))
	}
	if v.from.recording.Profile == nil {
		heading(t.out, v, nil)
	}
	x.write(t.out, v.Tree, o)
	return nil
}

func (f *xFlags) options() (o report.XOptions, err error) {
	if f.min.Hits != nil && f.min.Hits.Sign() > 0 {
		return o, usagef("--min %s: want a cost, such as 1%%: these reports may count several things", f.min.text)
	}
	o.MinCum = f.min.Cost
	if f.depth < 0 {
		return o, usagef("--depth %d: want a number of levels below the root", f.depth)
	}
	o.Depth = f.depth
	if len(f.names) == 0 {
		return o, nil
	}
	names := f.names
	if !slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "!") }) {
		names = append(names, "*") // exclusions keep all others
	}
	var patterns []aspects.Pattern
	for _, name := range names {
		p, err := aspects.ParsePattern(name)
		if err != nil {
			return o, usagef("--name: %w", err)
		}
		patterns = append(patterns, p)
	}
	o.Keep = func(name string) bool { return aspects.Matches(name, patterns) }
	return o, nil
}

// metricsOf returns the indexes of the metrics that --metric names.
func (f *xFlags) metricsOf(t *calltree.Tree) ([]int, error) {
	var indexes []int
	names := lists.Each(t.Metrics(), func(m *calltree.Metric) string { return m.Name })
	for _, want := range f.metrics {
		before := len(indexes)
		for i, name := range names {
			if name == want {
				indexes = append(indexes, i)
			}
		}
		if len(indexes) == before {
			return nil, usagef("--metric %q: want one of %s", want, strings.Join(names, ", "))
		}
	}
	return indexes, nil
}
