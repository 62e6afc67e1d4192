package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// The flags that several commands have. A flag is added here only, so that it
// means the same in every command.

func addOutput(c *cobra.Command, path *string, byDefault string) {
	c.Flags().StringVarP(path, "output", "o", byDefault,
		"the `file` to write; a recording is a folder")
}

func addForce(c *cobra.Command, force *bool) {
	c.Flags().BoolVarP(force, "force", "f", false, "replace what has this name")
}

func addAgainst(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "against", "", "the earlier `recording` to compare with")
}

func addJSON(c *cobra.Command, json *bool) { c.Flags().BoolVar(json, "json", false, "print JSON") }

func addCSV(c *cobra.Command, csv *bool) { c.Flags().BoolVar(csv, "csv", false, "print CSV") }

func addDuration(c *cobra.Command, d *time.Duration, byDefault time.Duration) {
	c.Flags().DurationVarP(d, "duration", "d", byDefault, "how long it lasts, such as 10s")
}

func addRounds(c *cobra.Command, n *int, byDefault int) {
	c.Flags().IntVarP(n, "count", "n", byDefault, "the `number` of rounds, or of recordings to write")
}

func addTop(c *cobra.Command, n *int, byDefault int) {
	c.Flags().IntVar(n, "top", byDefault, "show at most this `number` of results; 0 for all")
}

// checkTop returns an error for a --top that is no number of results.
func checkTop(n int) error {
	if n < 0 {
		return usagef("--top %d: want a number of results, 0 for all", n)
	}
	return nil
}

func addFailAbove(c *cobra.Command, f *shareFlag) {
	addShare(c.Flags(), f, "fail-above", "", "end with status 3 if a result is above this `share`")
}

func addSort(c *cobra.Command, column *string, columns ...string) {
	c.Flags().StringVar(column, "sort", columns[0], "the `column` that orders the lines")
	completeWords(c, "sort", columns...)
}

func addKeep(c *cobra.Command, d *time.Duration) {
	c.Flags().DurationVar(d, "keep", 0,
		"keep only the last seconds: of record, in memory until --when, SIGUSR1 or the end (by default, all); of top (by default, "+usualWindow.String()+")")
}

func addNoBrowser(c *cobra.Command, only *bool) {
	c.Flags().BoolVar(only, "no-browser", false, "only print the URL of the page")
}

func addMonitorFlags(c *cobra.Command, monitors *[]string, none *bool) {
	c.Flags().StringArrayVarP(monitors, "monitor", "m", nil,
		"also record a `VALUE` beside each sample, such as main.queue.size or 'len(main.jobs)' (may be repeated)")
	c.Flags().BoolVar(none, "no-monitors", false,
		"record none of the usual monitors (heap, collections, queues, faults, ...)")
}

func addProgram(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "program", "",
		"the `executable`, with debug information, of a core dump or of --connect")
}

func addMemory(c *cobra.Command, size *memory.Size) {
	c.Flags().Var(size, "max-memory",
		"the memory for a file, for a copy of a program's heap, or for what --keep keeps, such as 512MB; what is printed comes on top (default: a quarter of the machine's)")
}

func addMaxCPU(c *cobra.Command, f *shareFlag, byDefault float64) {
	addRatio(c.Flags(), f, "max-cpu", percent(byDefault),
		"the `share` of one core that cpprof may use; 0 for no limit")
}

func addSettings(c *cobra.Command, settings *[]string) {
	c.Flags().StringArrayVar(settings, "set", nil,
		"a setting of cpprof.yaml, as `KEY=VALUE`: classes=label:route, lists.busy='cpu.used > 1'; or another file: config=FILE (may be repeated)")
	completeWords(c, "set", settingKeys...)
}

// settingKeys completes --set: the keys, with the values that are words.
var settingKeys = []string{"accounting=", "aspects.", "classes=function", "classes=site",
	"classes=label:", "config=", "inlines=", "lists.", "merge.", "metrics.", "priorities.", "slow=",
	"threshold=", "wrappers="}

// addMin adds the flag that says what is too little to show.
func addMin(c *cobra.Command, f *minFlag) {
	c.Flags().Var(f, "min", "show what has at least these hits (10) or this cost (5%)")
}

// A minFlag is the value of --min.
type minFlag struct {
	refine.Threshold
	text string // "" if the flag is not given
}

func (f *minFlag) Set(text string) (err error) {
	f.text = text
	f.Threshold, err = refine.ParseThreshold(text)
	return err
}
func (f *minFlag) String() string { return f.text }
func (f *minFlag) Type() string   { return "threshold" }

func addSpan(c *cobra.Command, span *views.Span) {
	c.Flags().Var(&spanFlag{span: span}, "span",
		"count only this `time`, such as 2s,5s; one of the two may be left out")
}

// A spanFlag is the value of --span: the offsets of its beginning and end.
// One of them may be left out.
type spanFlag struct {
	span *views.Span
	text string
}

func (f *spanFlag) Set(text string) error {
	from, to, ok := strings.Cut(text, ",")
	if !ok || strings.Trim(text, " ,") == "" {
		return fmt.Errorf("want two offsets from the start, such as 2s,5s")
	}
	for _, end := range []struct {
		text string
		to   *time.Duration
	}{{from, &f.span.From}, {to, &f.span.To}} {
		offset := strings.TrimSpace(end.text)
		if *end.to = 0; offset == "" {
			continue
		}
		var err error
		if *end.to, err = time.ParseDuration(offset); err != nil {
			return fmt.Errorf("%q is no time such as 10s or 1m30s", offset)
		}
	}
	if f.span.From < 0 || f.span.To < 0 || f.span.To <= f.span.From && strings.TrimSpace(to) != "" {
		return fmt.Errorf("want offsets from the start, the first before the second")
	}
	f.text = text
	return nil
}
func (f *spanFlag) String() string { return f.text }
func (f *spanFlag) Type() string   { return "span" }
