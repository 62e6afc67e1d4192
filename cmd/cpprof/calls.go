package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/spf13/cobra"
)

// callsFlags are the flags of calls.
type callsFlags struct {
	viewFlags
	slow        string
	numbered    bool // a call is chosen
	number, top int
}

func newCallsCommand(t terminal) *cobra.Command {
	f := callsFlags{slow: calls.Slowest.String()}
	c := &cobra.Command{
		Use:   "calls RECORDING [FUNCTION]",
		Short: "Hold the slow calls of a function against the rest",
		Long: `calls finds the calls of a function in a recording: from the sample in which a goroutine was first
in it, to the last one. It prints how long they took, and what the slowest 1 %, or those that
--slow names, have more of than the rest: what they wait for, who holds the lock, what they call.

A share is one of the time of the calls, with its 95 % interval. Calls that take less than two
intervals of the sampler are counted, but not timed.

Without FUNCTION, calls proposes some: those in which goroutines work from one wait for work to the
next. --number N shows what the goroutine did in one call, the longest being number 1.
'cpprof report --calls "FUNCTION > p99"' shows call paths of the slow calls, and so do other
commands.`,
		Example: `  cpprof calls run.cpprof
  cpprof calls run.cpprof main.handle
  cpprof calls run.cpprof main.handle --slow '> 200ms'
  cpprof calls run.cpprof main.handle --span 6s,18s
  cpprof calls run.cpprof main.handle --number 1`,
		Args:              wantArgs(1, 2, "want a recording, such as run.cpprof, and a function"),
		ValidArgsFunction: f.complete,
		RunE: func(c *cobra.Command, args []string) error {
			f.numbered = c.Flags().Changed("number")
			return f.run(t, args)
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	addSettings(c, &f.settings)
	addSpan(c, &f.span)
	c.Flags().StringVar(&f.slow, "slow", f.slow, "which calls are slow, such as '> 200ms' or '> p95'")
	c.Flags().IntVar(&f.number, "number", 0, "show this `call`, the longest being 1")
	addTop(c, &f.top, 5)
	f.addJSON(c)
	return c
}

func (f *callsFlags) run(t terminal, args []string) error {
	slow, err := calls.ParseCondition(f.slow)
	if err != nil {
		return usagef("--slow: %w", err)
	}
	if err := checkTop(f.top); err != nil {
		return err
	}
	s, err := f.openSampled(args[0], "times, and so no calls")
	if err != nil {
		return err
	}
	if err := s.checkSpan(); err != nil {
		return err
	}
	if len(args) == 1 {
		return f.propose(t, s)
	}
	table, err := calls.Of(s.recording, args[1])
	if _, unknown := errors.AsType[*calls.UnknownError](err); unknown {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	table = table.During(f.span)
	c := &report.Calls{Table: table, Condition: slow, Recording: s.recording, File: s.path, Top: f.top,
		Width: t.width()}
	if f.top == 0 {
		c.Top = len(table.Calls)
	}
	if f.numbered {
		return f.one(t, s, c)
	}
	if c.Contrast, err = table.Contrast(slow, s.options); err != nil {
		return err
	}
	return t.show(s, c, f.json)
}

// one prints a call.
func (f *callsFlags) one(t terminal, s *source, c *report.Calls) error {
	if f.number < 1 || f.number > len(c.Calls) {
		return usagef("--number %d: want a number from 1 to %d", f.number, len(c.Calls))
	}
	steps := c.Steps(&c.Calls[f.number-1], s.options)
	if f.json {
		return c.WriteCallJSON(t.out, f.number, steps)
	}
	c.WriteCall(t.out, f.number, steps)
	return nil
}

// propose prints functions.
func (f *callsFlags) propose(t terminal, s *source) error {
	if f.numbered {
		return usagef("--number %d: of which function? 'cpprof calls %s' proposes some", f.number, s.path)
	}
	list, err := calls.Propose(s.recording, s.options)
	if err != nil {
		return err
	}
	p := &report.ProposedCalls{Proposals: list, Recording: s.recording, File: s.path, Width: t.width()}
	return t.show(s, p, f.json)
}

// complete completes a recording, and a function of it.
func (f *callsFlags) complete(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completeRecording(c, args, word)
	case 1:
		return f.completeNames(0, (*source).functions)(c, args, word)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// functions returns the functions whose calls can be chosen.
func (s *source) functions() ([]string, error) { return calls.Functions(s.recording), nil }

// restrict leaves only the time inside the calls that --calls chooses.
func (f *viewFlags) restrict(s *source) error {
	if f.calls == "" {
		return nil
	}
	function, condition, err := calls.Parse(f.calls)
	if err != nil {
		return usagef("--calls: %w", err)
	}
	if err := s.needSamples("times, and so no calls"); err != nil {
		return &usageError{err}
	}
	table, err := calls.Of(s.recording, function)
	if err != nil {
		return usagef("--calls: %w", err)
	}
	restricted, err := table.Restrict(condition, f.created)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.recording, s.whole = restricted, s.recording
	return nil
}

// addCalls adds the flag of every command that divides a recording's time.
func (f *viewFlags) addCalls(c *cobra.Command) {
	addCalls(c, &f.calls)
	_ = c.RegisterFlagCompletionFunc("calls", f.completeNames(0, (*source).functions))
}

// addCalls adds the flag that chooses calls.
func addCalls(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "calls", "",
		"count only the time inside `calls`, such as 'main.handle > p99' (see 'cpprof calls'); in a running program, probes time each of them: they write breakpoints into it")
}

// addComparison adds the flags of commands that compare recordings, or calls.
func (f *viewFlags) addComparison(c *cobra.Command) {
	f.addAgainst(c)
	c.Flags().StringVar(&f.againstCalls, "against-calls", "",
		"compare with the time inside these `calls`, such as 'main.handle < p90', of --against or of the same recording")
}

// compares reports whether there is something to compare a
// recording with. Calls of --against-calls are its own, without
// --against.
func (f *viewFlags) compares(path string) bool {
	if f.againstCalls != "" {
		f.against = cmp.Or(f.against, path)
	}
	return f.against != ""
}
