package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/bottlenecks"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
)

// findFlags say how far find goes, and when it fails.
type findFlags struct {
	treeFlags
	coverage  string
	failAbove string
	max       int
	json      bool
}

func newFindCommand(t terminal) *cobra.Command {
	var f findFlags
	c := &cobra.Command{
		Use:   "find RECORDING (--server | --thread CLASS) [--against RECORDING]",
		Short: "Find the few call sequences that most of the cost is in",
		Long: `find does what an expert does with 'cpprof bottlenecks': from where most time is spent it goes up
through the callers that concentrate it, labels what it reaches, and begins anew with what is not
covered yet, until the labelled call sequences cover 80 % of the cost.

For each it prints its own share of the whole, the share that it adds to those before it, the
coverage so far, an interval that holds the true share with a probability of 95 %, and the command
that opens it.

With --against OLD it explains a regression: shares are differences, and the cost to cover is the
sum of the increases. With --fail-above 5% the exit status is 3 when a call sequence that it finds
adds more than 5 % of the whole.

` + treeArgument,
		Example: `  cpprof find run.cpprof --server
  cpprof find run.cpprof --thread go:main.worker --coverage 95%
  cpprof find new.cpprof --against old.cpprof --thread go:main.worker --fail-above 5%`,
		GroupID: groupAnalyse,
		Args:    oneTree,
		RunE:    func(c *cobra.Command, args []string) error { return f.run(t, c, args[0]) },
	}
	f.addTree(c)
	f.addAgainst(c, "the `recording` to compare with: what is found is where more is spent than there")
	flags := c.Flags()
	flags.StringVar(&f.coverage, "coverage", "80%", "the share of the cost to cover")
	flags.StringVar(&f.failAbove, "fail-above", "", "end with status 3 when one adds more than such a `share` of the whole")
	flags.IntVar(&f.max, "max", 0, "find at most so many (0: no limit)")
	flags.BoolVar(&f.json, "json", false, "as JSON")
	return c
}

func (f *findFlags) run(t terminal, c *cobra.Command, path string) error {
	coverage, err := share("--coverage", f.coverage)
	if err != nil {
		return err
	}
	var limit *big.Rat
	if f.failAbove != "" {
		if limit, err = share("--fail-above", f.failAbove); err != nil {
			return err
		}
	}
	if f.max < 0 {
		return usagef("--max %d: want a number of call sequences", f.max)
	}
	a, b, err := f.subjects(path)
	if err != nil {
		return err
	}
	found := bottlenecks.Find(profile(a, b), bottlenecks.FindOptions{Coverage: coverage, Max: f.max})
	if err := f.write(t, found.Report(f.bottlenecksCommand(c, path)), a, b); err != nil {
		return err
	}
	if limit == nil {
		return nil
	}
	if above := found.Above(limit); len(above) > 0 {
		fmt.Fprintf(t.err, "cpprof: more than %s: %d of the %d call sequences found\n", f.failAbove, len(above), len(found.Bottlenecks))
		return &statusError{exitAbove}
	}
	return nil
}

func (f *findFlags) write(t terminal, r bottlenecks.FoundReport, a, b *subject) error {
	if f.json {
		e := json.NewEncoder(t.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	if err := heading(t.out, a, b); err != nil {
		return err
	}
	return r.WriteText(t.out)
}

// share reads a share that a person typed, as 5% or 0.05, exactly.
func share(flag, s string) (*big.Rat, error) {
	number, percent := strings.CutSuffix(s, "%")
	d, err := decimal.NewFromString(strings.TrimSpace(number))
	if err != nil || d.Sign() < 0 || d.Exponent() < -100 || d.Exponent() > 100 {
		return nil, usagef("%s %q: want a share such as 5%% or 0.05", flag, s)
	}
	r := d.Rat()
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	if r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usagef("%s %q: a share is 100%% at most; want one such as 5%% or 0.05", flag, s)
	}
	return r, nil
}
