package main

import (
	"errors"

	"github.com/cpprof/cpprof/bottlenecks"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/report"
	"github.com/spf13/cobra"
)

// findFlags are the flags of find: how much of the cost to cover, and when to fail.
type findFlags struct {
	treeFlags
	coverage  shareFlag
	failAbove shareFlag
	max       int
	json      bool
}

func newFindCommand(t terminal) *cobra.Command {
	var f findFlags
	c := &cobra.Command{
		Use:   "find RECORDING [--server | --thread CLASS] [--against RECORDING]",
		Short: "Find the few call sequences that cause most of the cost",
		Long: `find searches for the few call sequences that cause most of the cost. It starts at the function in
which most time is spent, goes up through the callers that most of this time comes from, and labels
the call sequence. Then it does the same with the rest, until the labelled sequences cover 80 %.

For each sequence it prints its share of the whole, what that adds to the coverage, an interval
that holds the true share with a probability of 95 %, and the command that opens it. With
--against OLD, shares are increases since OLD: find explains a regression. Without a view, find
takes the busiest thread classes in turn.

` + treeArgument(),
		Example: `  cpprof find run.cpprof --server
  cpprof find run.cpprof --thread go:main.worker --coverage 95%
  cpprof find new.cpprof --against old.cpprof --thread go:main.worker --fail-above 5%`,
		GroupID: groupFind,
		Args:    oneTree,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(t, c, args[0]) },
	}
	f.addTree(c, t)
	f.addAgainst(c, "the `recording` to compare with: find what costs more than in it")
	flags := c.Flags()
	addShare(flags, &f.coverage, "coverage", "80%", "the `share` of the cost to cover")
	addShare(flags, &f.failAbove, "fail-above", "", "end with status 3 if a call sequence adds more than this `share` of the whole")
	flags.IntVar(&f.max, "max", 0, "find at most this `number` of call sequences; 0 for no limit")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *findFlags) run(t terminal, c *cobra.Command, path string) error {
	if f.max < 0 {
		return usagef("--max %d: want a number of call sequences, 0 for no limit", f.max)
	}
	classes, err := f.turns(path)
	if err != nil {
		return err
	}
	if f.json && len(classes) > 0 {
		return f.needView(path)
	}
	turnsHint(t, classes)
	if len(classes) == 0 {
		return f.one(t, c, path)
	}
	var above error
	for i, class := range classes {
		if i > 0 {
			termtext.Fprintln(t.out)
		}
		if err := f.choose(c, class); err != nil {
			return err
		}
		err := f.one(t, c, path)
		var status *statusError
		if err != nil && !errors.As(err, &status) {
			return err
		}
		if err != nil {
			above = err
		}
	}
	return above
}

// one searches in the view that the flags choose. It returns a *statusError if it finds more than --fail-above allows.
func (f *findFlags) one(t terminal, c *cobra.Command, path string) error {
	a, b, err := f.subjects(path)
	if err != nil {
		return err
	}
	found := bottlenecks.Find(profile(a, b), bottlenecks.FindOptions{Coverage: f.coverage.value, Max: f.max})
	if err := f.write(t, report.NewFound(found, f.bottlenecksCommand(c, path), basis(a, b)), a, b); err != nil {
		return err
	}
	if f.failAbove.value == nil {
		return nil
	}
	if above := found.Above(f.failAbove.value); len(above) > 0 {
		termtext.Fprintf(t.err, "cpprof: more than %s: %d of the %d call sequences found\n", f.failAbove.text, len(above), len(found.Bottlenecks))
		return &statusError{exitAbove}
	}
	return nil
}

func (f *findFlags) write(t terminal, r *report.Found, a, b *subject) error {
	if f.json {
		return r.WriteJSON(t.out)
	}
	if err := heading(t.out, a, b); err != nil {
		return err
	}
	return r.Write(t.out)
}
