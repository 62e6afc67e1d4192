package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
	"github.com/spf13/cobra"
)

func newCostCommand(t terminal) *cobra.Command {
	var f viewFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "cost RECORDING (--server | --thread CLASS) PATH...",
		Short: "Print the exact cost of call paths",
		Long: `cost prints the cost of each call path in a view, with its hits as an exact fraction. A path need
not begin at the root. If a path names an aspect that is not defined, or a function that the view
does not have, cost prints similar names and ends with status 1.`,
		Example: `  cpprof cost run.cpprof --thread go:main.worker '* ..:MONITOR' '* ..:MONITOR ..os.(*File).Write'
  cpprof cost run.cpprof --server '* ..@json' '* ..@alloc'`,
		GroupID: groupLook,
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
			if err := callpath.Aspects(v.aspects, paths...); err != nil {
				return err
			}
			costs := &report.Costs{Title: title(s, v), Metric: v.Tree.Main()}
			for _, p := range paths {
				costs.Add(p, callpath.Cost(v.Tree, v.aspects, p))
			}
			write := costs.Write
			if asJSON {
				write = costs.WriteJSON
			}
			if err := write(t.out); err != nil {
				return err
			}
			return v.misspelt(paths)
		},
	}
	f.addView(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// misspelt says which functions of the paths occur nowhere in the view. Typed time, and aspects, may well cost nothing.
func (v *view) misspelt(paths []callpath.Path) error {
	var said []string
	for _, p := range paths {
		p.Elements = slices.DeleteFunc(slices.Clone(p.Elements), func(e callpath.Element) bool {
			return e.Aspect() || calltree.KindOf(e.Name) != calltree.Function
		})
		said = append(said, callpath.Unknown(v.Tree, v.aspects, p)...)
	}
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
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
