package main

import (
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/spf13/cobra"
)

// A measured is a recording with its table, and the samples that count.
type measured struct {
	*source
	table *metrics.Table
	list  metrics.List
}

// measured reads a recording as a whole, and the list that --samples chooses.
// Differences and spans refer to the whole.
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
	m.list, err = f.list(s, m.table)
	return m, err
}

// completeMetric completes a recording, and then names of metrics and functions.
func (f *viewFlags) completeMetric(c *cobra.Command, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeRecording(c, args, word)
	}
	t, directive := f.completionTable(args)
	if t == nil {
		return nil, directive
	}
	return printable(append(t.Names(), "rate(", "delta(", "hits(", "lock(", "label(")),
		directive | cobra.ShellCompDirectiveNoSpace
}
