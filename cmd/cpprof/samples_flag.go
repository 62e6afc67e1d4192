package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// tableFlags are the flags that define metrics and sample lists, and the list whose samples count.
type tableFlags struct {
	samples string
	metrics []string
	lists   []string
}

// addSamples adds the flags of every command that reads a recording's samples.
func (f *tableFlags) addSamples(c *cobra.Command, view *viewFlags) {
	flags := c.Flags()
	flags.StringVar(&f.samples, "samples", "", "count only the samples of a list or predicate, such as 'rate(process.cpu) > 5e8'")
	flags.StringArrayVar(&f.metrics, "define", nil, "define a metric over monitors, as `NAME=EXPR` (may be repeated)")
	flags.StringArrayVar(&f.lists, "list", nil, "define a sample list, as `NAME=EXPR` (may be repeated)")
	_ = c.RegisterFlagCompletionFunc("samples", view.completeLists)
}

// define adds the metrics and lists of the flags to a configuration.
func (f *tableFlags) define(c *config.Config) error {
	for _, add := range []struct {
		flag  string
		texts []string
		to    *[]config.Definition
	}{{"--define", f.metrics, &c.Metrics}, {"--list", f.lists, &c.Lists}} {
		for _, text := range add.texts {
			d, err := config.ParseDefinition(text)
			if err != nil {
				return usagef("%s %q: %w", add.flag, text, err)
			}
			*add.to = append(*add.to, d)
		}
	}
	return nil
}

// checkDefined returns an error if a metric or list of the flags can't be
// computed. Definitions in cpprof.yaml may be about other recordings.
func (f *tableFlags) checkDefined(t *metrics.Table) error {
	for _, text := range f.metrics {
		name, _, _ := strings.Cut(text, "=")
		if _, err := t.Metric(name); err != nil {
			return usagef("--define: %w", err)
		}
	}
	for _, text := range f.lists {
		name, _, _ := strings.Cut(text, "=")
		if _, err := t.List(name); err != nil {
			return usagef("--list: %w", err)
		}
	}
	return nil
}

// table makes the table of the whole recording of a source.
func (s *source) table() *metrics.Table {
	return metrics.New(s.recording, metrics.OptionsOf(s.config, s.options))
}

// list returns the samples that --samples chooses, or all.
func (f *tableFlags) list(s *source, t *metrics.Table) (metrics.List, error) {
	if f.samples == "" {
		return metrics.All(t.Samples()), nil
	}
	l, err := t.Choose(f.samples)
	if err != nil {
		return l, usagef("--samples: %w", err)
	}
	return l, nil
}

// pick leaves only the samples in a source's recording that --samples chooses.
func (f *tableFlags) pick(s *source) error {
	if f.samples == "" {
		return nil
	}
	if err := s.needSamples("samples"); err != nil {
		return &usageError{err}
	}
	picked, err := s.table().Pick(f.samples)
	if err != nil {
		return usagef("--samples: %w", err)
	}
	s.recording = picked
	return s.checkSpan()
}

// settling is how long a recording may grow before a mistake in --samples counts: what it names may be defined late, such as the
// numbers of an endpoint.
const settling = 3 * time.Second

// pickSoFar returns the samples of a growing recording that --samples chooses. If there are none so far, it returns nil, and
// says why.
func (f *tableFlags) pickSoFar(s *source, r *sampledata.Recording) (picked *sampledata.Recording, why string, err error) {
	n := r.Samples.Len()
	switch {
	case f.samples == "":
		return r, "", nil
	case n == 0:
		return nil, "there are no samples so far", nil
	}
	l, err := metrics.New(r, metrics.OptionsOf(s.config, s.options)).List(f.samples)
	switch {
	case err != nil && r.Samples.Time(n-1)-r.Samples.Time(0) < settling:
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", usagef("--samples: %w", err)
	case l.Len() == 0:
		return nil, fmt.Sprintf("none of the %s so far is in the list %q", report.Counted(n, "sample"), f.samples), nil
	}
	picked, err = r.Pick(f.samples, l.Has)
	return picked, "", err
}

// completeLists completes a list of the configuration, or a name for a predicate.
func (f *viewFlags) completeLists(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	t, directive := f.completionTable(args)
	if t == nil {
		return nil, directive
	}
	return printable(append([]string{metrics.AllSamples}, t.Names()...)), directive | cobra.ShellCompDirectiveNoSpace
}

// completionTable returns the table of the recording that is already on the command line; nil if there is none.
func (f *viewFlags) completionTable(args []string) (*metrics.Table, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f.samples = ""
	s, err := f.open(args[0])
	if err != nil || s.recording.Profile != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return s.table(), cobra.ShellCompDirectiveNoFileComp
}

// printable returns the names that can be typed.
func printable(names []string) []string {
	var list []string
	for _, name := range names {
		if termtext.IsPrintable(name) {
			list = append(list, name)
		}
	}
	return list
}
