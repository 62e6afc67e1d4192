package main

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/share"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A readFlag is the value of a flag whose text a function reads.
type readFlag[T any] struct {
	to   *T
	text string // as it was typed; "" if it was not, and there is no default
	kind string // what the help calls such a value
	read func(text string) (T, error)
}

func (f *readFlag[T]) Set(text string) error {
	value, err := f.read(text)
	if err == nil {
		*f.to, f.text = value, text
	}
	return err
}

func (f *readFlag[T]) String() string { return f.text }
func (f *readFlag[T]) Type() string   { return f.kind }

// The flags that several commands have. A flag is added here
// only, so that it means the same in every command.

func addOutput(c *cobra.Command, path *string, byDefault string) {
	c.Flags().StringVarP(path, "output", "o", byDefault,
		"the `file` to write; a recording is a folder, and what the agent keeps is a folder of them")
}

func addForce(c *cobra.Command, force *bool) {
	c.Flags().BoolVarP(force, "force", "f", false, "replace what has this name")
}

func (f *viewFlags) addAgainst(c *cobra.Command) {
	c.Flags().StringVar(&f.against, "against", "", "the earlier `recording` to compare with")
}

func (f *inputFlags) addJSON(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func addCSV(c *cobra.Command, csv *bool) { c.Flags().BoolVar(csv, "csv", false, "print CSV") }

func addDuration(c *cobra.Command, d *time.Duration, byDefault time.Duration) {
	*d = byDefault
	f := &readFlag[time.Duration]{to: d, kind: "duration", read: notNegative}
	if byDefault != 0 { // else the help names no default
		f.text = byDefault.String()
	}
	c.Flags().VarP(f, "duration", "d", "how long it lasts, such as 10s")
}

// notNegative reads a time, and refuses one below 0.
func notNegative(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("it is negative")
	}
	return d, err
}

// firstGiven returns the first of some flags that is given; "" if
// none is.
func firstGiven(c *cobra.Command, names ...string) string {
	i := slices.IndexFunc(names, c.Flags().Changed)
	if i < 0 {
		return ""
	}
	return names[i]
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
		"keep only the last seconds: of record and agent, in memory until --when, SIGUSR1 or the end (by default, record keeps all); of top (by default, "+usualWindow.String()+")")
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
	f.add(c.Flags(), share.ParseRatio, "max-cpu", percent(byDefault),
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
	f.readFlag = readFlag[refine.Threshold]{to: &f.Threshold, kind: "threshold",
		read: refine.ParseThreshold}
	c.Flags().Var(f, "min", "show what has at least these hits (10) or this cost (5%)")
}

// A minFlag is the value of --min.
type minFlag struct {
	refine.Threshold
	readFlag[refine.Threshold]
}

func addSpan(c *cobra.Command, span *views.Span) {
	c.Flags().Var(&readFlag[views.Span]{to: span, kind: "span", read: views.ParseSpan}, "span",
		"count only this `time`, such as 2s,5s; one of the two may be left out")
}

// A shareFlag is the value of a flag that is a share of a whole
// or a number of hits. It is exact. The flag set reports a wrong
// value with the flag's name and the text.
type shareFlag struct {
	value *big.Rat // nil if the flag is not given and has no default
	readFlag[*big.Rat]
}

// addShare adds a flag that takes a share of a whole, at most 100 %.
func addShare(flags *pflag.FlagSet, f *shareFlag, name, byDefault, usage string) {
	f.add(flags, share.Parse, name, byDefault, usage)
}

func (f *shareFlag) add(flags *pflag.FlagSet, read func(string) (*big.Rat, error),
	name, byDefault, usage string) {
	f.readFlag = readFlag[*big.Rat]{to: &f.value, kind: "share", read: read}
	if byDefault != "" {
		if err := f.Set(byDefault); err != nil {
			panic("--" + name + ": " + err.Error()) // a mistake in this program
		}
	}
	flags.Var(f, name, usage)
}

// float returns the approximate value.
func (f *shareFlag) float() float64 {
	x, _ := f.value.Float64()
	return x
}

// percent returns a default value of another package in the form
// that a flag takes.
func percent(x float64) string { return share.Percent(new(big.Rat).SetFloat64(x)) }

// addMaxHalt adds the flag that says how a recording finds out
// what is stuck for good.
func addMaxHalt(c *cobra.Command, to *time.Duration) {
	c.Flags().DurationVar(to, "max-halt", heap.DefaultMaxHalt,
		"the longest `time` to halt the program once, to prove that something is stuck for good; 0 leaves the heap unread")
}

func checkMaxHalt(limit time.Duration) error {
	if limit != 0 && limit < time.Millisecond {
		return usagef("--max-halt %v: want at least 1ms, or 0 to leave the heap unread", limit)
	}
	return nil
}

// Limits of what a recording spends on a heap. A heap whose copy
// is larger can't be copied in a short halt.
const (
	markMemory = 256 << 20
	markAgain  = 2 * time.Second
)

// setMark sets the options that let a recording mark the heap
// with a bound on processor time, in cores; 0 is none.
func setMark(o *sampler.Options, maxHalt time.Duration, backend string, maxCPU float64) error {
	if err := checkMaxHalt(maxHalt); err != nil || maxHalt == 0 || !backends[backend].heap {
		return err
	}
	maxCPU = cmp.Or(maxCPU, 1)
	o.Mark = live.Marker(heap.Config{MaxHalt: maxHalt, MaxMemory: markMemory,
		MaxCPU: min(maxCPU, 1)})
	o.MarkAgain = markAgain
	return nil
}

// markCore marks the heap of a core dump, if the recording is of
// one. Without its heap, the dump is shown all the same, and a
// line says what it lacks.
func markCore(t terminal, r *sampledata.Recording, path string, input *inputFlags,
	maxHalt time.Duration) error {
	if input.program == "" || maxHalt == 0 {
		return checkMaxHalt(maxHalt)
	}
	limits := heap.Config{MaxHalt: maxHalt,
		MaxMemory: cmp.Or(int64(input.memory), memory.Default())}
	var err error
	if r.Marking, err = coreMarking(path, input.program, limits); err != nil {
		tell(t.err, "what is stuck for good is not known: %s", err)
	}
	return checkMaxHalt(maxHalt)
}
