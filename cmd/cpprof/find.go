package main

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/spf13/cobra"
)

// findFlags are the flags of find: how much of the cost to
// cover, and when to fail.
type findFlags struct {
	viewFlags
	coverage  shareFlag
	failAbove shareFlag
	max       int
	from      int // of the conversation: the number of a call sequence; 0 for none
}

func newFindCommand(t terminal) *cobra.Command {
	f := findFlags{viewFlags: viewFlags{slices: true}}
	c := &cobra.Command{
		Use:   "find RECORDING [--server | --thread CLASS] [--against RECORDING]",
		Short: "Find the few call sequences that cause most of the cost",
		Long: `find searches for the few call sequences that cause most of the cost. It starts at the function in
which most time is spent, goes up through the callers that most of this time comes from, and labels
the call sequence. Then it does the same with the rest, until the labelled sequences cover 80 %.

For each sequence it prints its share of the whole, what that adds to the coverage, an interval
that holds the true share with a probability of 95 %. With --against OLD, shares are increases since
OLD: find explains a regression. Without a view, find takes the busiest thread classes in turn.

--interactive lets you do the same step by step, at a terminal (with history and Tab completion) or
from a script: suggest, select, zoom, label; help lists all commands. --interactive=N begins with
call sequence N that find lists. A script ends at its first error, with status 1.

` + inputHelp,
		Example: `  cpprof find run.cpprof --server
  cpprof find run.cpprof --thread go:main.worker --coverage 95%
  cpprof find new.cpprof --against old.cpprof --thread go:main.worker --fail-above 5%
  cpprof find run.cpprof --server --interactive
  printf 'suggest\nselect 0\n' | cpprof find run.cpprof --thread go:main.worker --interactive`,
	}
	takeRecording(c, func(c *cobra.Command, path string) error { return f.run(t, c, path) })
	f.addView(c, t)
	c.Flags().IntVar(&f.from, "interactive", 0,
		"search step by step, with commands; with =`N`, from call sequence N that find lists")
	c.Flags().Lookup("interactive").NoOptDefVal = "0"
	f.addComparison(c)
	flags := c.Flags()
	addShare(flags, &f.coverage, "coverage", "80%", "the `share` of the cost to cover")
	addFailAbove(c, &f.failAbove)
	addTop(c, &f.max, 0)
	f.addJSON(c)
	return c
}

func (f *findFlags) run(t terminal, c *cobra.Command, path string) error {
	if err := checkTop(f.max); err != nil {
		return err
	}
	classes, err := f.turns(path)
	if err != nil {
		return err
	}
	if len(classes) > 0 {
		showing := "the busiest class"
		if len(classes) > 1 {
			showing = fmt.Sprintf("the %d busiest classes in turn", len(classes))
		}
		tell(t.err, "no view is chosen: showing %s", termtext.Text(showing))
	}
	if c.Flags().Changed("interactive") {
		return f.converse(t, c, path, classes)
	}
	if len(classes) == 0 {
		r, err := f.one(c, path)
		if err != nil {
			return err
		}
		if err := f.write(t, r); err != nil {
			return err
		}
		return f.judge(t, r)
	}
	return f.each(t, c, path, classes)
}

// each searches in the Thread Views of classes. It returns a
// *statusError if it finds more than --fail-above allows in any.
func (f *findFlags) each(t terminal, c *cobra.Command, path string, classes []string) error {
	var all report.FoundByClass
	var above error
	for i, class := range classes {
		if err := c.Flags().Set("thread", class); err != nil {
			return err
		}
		r, err := f.one(c, path)
		if err != nil {
			return err
		}
		if i == 0 {
			all.Basis = report.BasisOf(recordingsOf(r.a, r.b)...)
		}
		all.Add(class, r.report)
		if !f.json {
			if i > 0 {
				termtext.Fprintln(t.out)
			}
			if err := f.write(t, r); err != nil {
				return err
			}
		}
		if err := f.judge(t, r); err != nil {
			above = err
		}
	}
	if f.json {
		if err := all.WriteJSON(t.out); err != nil {
			return err
		}
	}
	return above
}

// A foundIn is the result of a search in one view, or in what
// differs between two.
type foundIn struct {
	found  *hotspots.Found
	report *report.Found
	a, b   *view
}

// one searches in the view that the flags choose.
func (f *findFlags) one(c *cobra.Command, path string) (*foundIn, error) {
	a, b, err := f.openViews(path)
	if err != nil {
		return nil, err
	}
	found := hotspots.Find(profile(a, b),
		hotspots.FindOptions{Coverage: f.coverage.value, Max: f.max})
	return &foundIn{found, report.NewFound(found, f.interactiveCommand(c, path), basis(a, b)),
		a, b}, nil
}

// judge returns a *statusError if more was found than --fail-above allows.
func (f *findFlags) judge(t terminal, r *foundIn) error {
	if f.failAbove.value == nil {
		return nil
	}
	if above := r.found.Above(f.failAbove.value); len(above) > 0 {
		tell(t.err, "more than %s: %d of the %d call sequences found",
			f.failAbove.text, len(above), len(r.found.Bottlenecks))
		return &statusError{exitAbove}
	}
	return nil
}

func (f *findFlags) write(t terminal, r *foundIn) error {
	if f.json {
		return r.report.WriteJSON(t.out)
	}
	heading(t.out, r.a, r.b)
	r.report.Width = t.width()
	r.report.Write(t.out)
	return nil
}
