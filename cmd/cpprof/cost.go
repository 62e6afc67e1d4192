package main

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/report"
	"github.com/spf13/cobra"
)

func newCostCommand(t terminal) *cobra.Command {
	var f viewFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "cost RECORDING (--server | --thread CLASS) PATH...",
		Short: "Print the exact cost of call paths",
		Long: `cost prints for each call path what it costs in a view: the cost, the hits as an exact
fraction, and the path. A path need not begin at the root.`,
		Example: `  cpprof cost run.cpprof --thread go:main.worker '* ..:MONITOR' '* ..:MONITOR ..os.(*File).Write'
  cpprof cost run.cpprof --server '* ..@json' '* ..@alloc'`,
		GroupID: groupAnalyse,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("want a recording and at least one call path, such as '* ..:RUN'")
			}
			return nil
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeRecording(c, args, word)
			}
			return f.completePath(c, args, word)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.needView(args[0]); err != nil {
				return err
			}
			paths, err := parsePaths(args[1:])
			if err != nil {
				return err
			}
			s, err := f.open(args[0])
			if err != nil {
				return err
			}
			v, err := f.view(s)
			if err != nil {
				return err
			}
			costs := &report.Costs{Title: title(s, v), Metric: v.Tree.Main()}
			for _, p := range paths {
				costs.Add(p, callpath.Cost(v.Tree, v.aspects, p))
				for _, hint := range callpath.Unknown(v.Tree, v.aspects, p) {
					fmt.Fprintf(t.err, "cpprof: %s: %s\n", p, hint)
				}
			}
			if asJSON {
				return costs.WriteJSON(t.out)
			}
			return costs.Write(t.out)
		},
	}
	f.addView(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func parsePaths(args []string) ([]callpath.Path, error) {
	paths := make([]callpath.Path, len(args))
	for i, arg := range args {
		var err error
		if paths[i], err = callpath.Parse(arg); err != nil {
			return nil, &usageError{err}
		}
	}
	return paths, nil
}
