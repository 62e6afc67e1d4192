package main

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

func newCostCommand(t terminal) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:   "cost RECORDING (--server | --thread CLASS) PATH...",
		Short: "Print the exact cost of call paths",
		Long: `cost prints the cost of each call path in a view, a share of the time, with its hits as an exact
fraction. A path need not begin at the root. If a path names what the view does not have, cost
prints similar names and ends with status 1.`,
		Example: `  cpprof cost run.cpprof --thread go:main.worker '* ..:MONITOR' '* ..:MONITOR go:main.flusher'
  cpprof cost run.cpprof --server '* ..@json' '* ..@alloc'`,
		Args: wantArgs(2, -1, "name a recording and at least one call path, such as '* ..:RUN'"),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string,
			cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeRecording(c, args, word)
			}
			return f.completePath(c, args, word)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return f.cost(t, args[0], args[1:])
		},
	}
	f.addView(c, t)
	f.addJSON(c)
	return c
}

// cost prints what call paths cost in the view that the flags choose.
func (f *viewFlags) cost(t terminal, recording string, texts []string) error {
	paths, err := parsePaths(texts)
	if err != nil {
		return err
	}
	v, err := f.openView(recording)
	if err != nil {
		return err
	}
	aspects := v.aspects()
	if err := callpath.Aspects(aspects, paths...); err != nil {
		return err
	}
	costs := &report.Costs{Title: v.title(), Metric: v.Tree.Main(),
		Basis: report.BasisOf(v.from.recording), Width: t.width()}
	for _, p := range paths {
		costs.Add(p, callpath.Total(v.Tree, aspects, p))
	}
	if err := t.print(costs, f.json); err != nil {
		return err
	}
	return callpath.Misspelt(v.Tree, views.FrameNames(v.from.recording, v.from.options),
		paths...)
}

func parsePaths(args []string) ([]callpath.Path, error) {
	paths := make([]callpath.Path, len(args))
	for i, arg := range args {
		var err error
		if paths[i], err = callpath.Parse(arg); err != nil {
			if hint := quotes(args); hint != "" {
				return nil, usagef("%q is no call path%s", arg, hint)
			}
			return nil, &usageError{err}
		}
	}
	return paths, nil
}
