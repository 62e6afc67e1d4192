package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
)

func addSampleList(c *cobra.Command, list *string) {
	c.Flags().StringVar(list, "samples", "",
		"count only the samples of a list or predicate, such as 'rate(process.cpu) > 5e8'")
}

// checkDefined returns an error if a metric or list of --set
// can't be computed. Definitions in cpprof.yaml may be about
// other recordings.
func (f *viewFlags) checkDefined(t *metrics.Table) error {
	for _, setting := range f.settings {
		path, _, _ := strings.Cut(setting, "=")
		key, name, _ := strings.Cut(path, ".")
		var err error
		switch key {
		case "metrics":
			_, err = t.Metric(name)
		case "lists":
			_, err = t.List(name)
		}
		if err != nil {
			return usagef("--set %s: %w", setting, err)
		}
	}
	return nil
}

// table makes the table of the whole recording of a source.
func (s *source) table() *metrics.Table {
	return metrics.New(s.recording, metrics.OptionsOf(s.config, s.options))
}

// list returns the samples that --samples chooses, or all.
func (f *viewFlags) list(t *metrics.Table) (metrics.List, error) {
	if f.samples == "" {
		return metrics.All(t.Samples()), nil
	}
	l, err := t.Choose(f.samples)
	if err != nil {
		return l, usagef("--samples: %w", err)
	}
	return l, nil
}

// pick leaves only the samples in a source's recording that
// --samples chooses, or the time inside the calls that --calls
// chooses.
func (f *viewFlags) pick(s *source) error {
	if f.samples == "" {
		return f.restrict(s)
	}
	if f.calls != "" {
		return usagef("--calls and --samples: give one of them")
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

// settling is how long a recording may grow before a mistake in
// --samples counts: what it names may be defined late, such as
// the numbers of an endpoint.
const settling = 3 * time.Second

// pickSoFar returns the samples of a growing recording that
// --samples chooses. If there are none so far, it returns nil,
// and says why.
func (f *viewFlags) pickSoFar(s *source, r *sampledata.Recording) (picked *sampledata.Recording,
	why string, err error) {
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
		return nil, fmt.Sprintf("none of the %s so far is in the list %q",
			report.Counted(n, "sample"), f.samples), nil
	}
	picked, err = r.Pick(f.samples, l.Has)
	return picked, "", err
}

// completeMeasured completes a name of a metric or list, or one
// of these words.
func (f *viewFlags) completeMeasured(more ...string) cobra.CompletionFunc {
	return f.completeNames(cobra.ShellCompDirectiveNoSpace, func(s *source) ([]string, error) {
		if err := s.needSamples("metrics"); err != nil {
			return nil, err
		}
		return slices.Concat(more, s.table().Names()), nil
	})
}
