package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/spf13/cobra"
)

// probeFlags are the flags of probe.
type probeFlags struct {
	inputFlags
	record                  recordFlags
	countsOnly, breakpoints bool
	top                     int
}

func newProbeCommand(t terminal) *cobra.Command {
	var f probeFlags
	c := &cobra.Command{
		Use:   "probe [flags] -p PROCESS FUNCTION...\n  cpprof probe [flags] FUNCTION... -- COMMAND [ARGUMENT...]\n  cpprof probe [flags] RECORDING",
		Short: "Count and time the calls of functions in a running program",
		Long: `probe puts instruments into functions of a running program, and takes them out when it ends: how
often they are called, from where, with which numbers as arguments, and how long calls take. It
samples the program meanwhile, and keeps both in a recording; with RECORDING it shows them again.
A program that probe has started is ended with it; its output goes to stderr.
A FUNCTION is a name as reports show it, main.(*queue).push, or has * for any characters.

Uprobes need root, or the capabilities CAP_BPF and CAP_PERFMON: the kernel replaces an instruction
in the memory of the process. Without them, breakpoints of the processor count calls of up to two
functions, and nothing is written. cpprof ends only when all are out again, and compares the code
with the file then. A hit costs 1 to 15 µs; a function whose hits take more than --probe-overhead is
only counted, or left alone.`,
		Example: `  cpprof probe -d 10s -p 4711 'main.(*queue).push'
  cpprof probe --counts-only -p 4711 'main.*'
  cpprof probe -d 10s main.encode -- ./server -flag
  cpprof probe run.cpprof --json               # what was measured, again`,
		ValidArgsFunction: completeRecording,
		RunE: func(c *cobra.Command, args []string) error {
			functions, command := args, []string(nil)
			if n := c.ArgsLenAtDash(); n >= 0 {
				functions, command = args[:n], args[n:]
			}
			if len(functions) == 0 {
				return usagef("give functions of a running program (cpprof probe -p PROCESS FUNCTION...), or a recording")
			}
			if c.Flags().Changed("pid") || len(command) > 0 {
				return f.live(c.Context(), t, c, functions, command)
			}
			if len(args) != 1 {
				return &usageError{needProcess(c)}
			}
			r, err := f.recordingAt(args[0])
			if err != nil {
				return err
			}
			return f.show(t, args[0], r)
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	addProcess(c, &f.record.process)
	addDuration(c, &f.record.options.Duration, 0)
	addOutput(c, &f.record.outputs.given, "")
	addForce(c, &f.record.outputs.force)
	c.Flags().BoolVar(&f.countsOnly, "counts-only", false,
		"count calls, and measure no times: a tenth of the cost")
	c.Flags().BoolVar(&f.breakpoints, "breakpoints", false,
		"use the processor's breakpoints, which write nothing, though uprobes may be permitted")
	f.record.timed.addBounds(c)
	addTop(c, &f.top, 5)
	f.addJSON(c)
	f.record.samplerFlags.add(c)
	return c
}

// live probes a program, which it starts if there is a command,
// until the time is over, it ends, or a person interrupts it.
func (f *probeFlags) live(ctx context.Context, t terminal, c *cobra.Command,
	patterns, command []string) error {
	if err := f.record.check(c, command); err != nil {
		return &usageError{err}
	}
	if err := f.record.checkSingle(command, errFollows); err != nil {
		return err
	}
	own := t
	own.out = t.err // so that the table is all that is on standard output
	ctx, target, err := f.record.attach(ctx, t, own, command)
	if err != nil {
		return err
	}
	defer target.close()
	if target.Launched {
		defer func() {
			if ctx.Err() == nil {
				endLaunched(ctx, t, target.Process)
			}
		}()
	}
	functions, program, err := f.functions(t, target.PID, patterns)
	if err != nil {
		return err
	}
	o := f.record.timed.options(t, target.target)
	o.CountsOnly, o.Breakpoints = f.countsOnly, f.breakpoints
	set, err := probe.Start(program, functions, o)
	if err != nil {
		return tooLong(err)
	}
	defer set.Close()
	if d := &f.record.options.Duration; *d > 0 {
		*d += o.Clock() // putting instruments in may take seconds on a busy machine
	}
	f.record.wrap = func(s sampledata.Sink) sampledata.Sink {
		return &probedSink{Sink: s, set: set}
	}
	g, err := f.record.startRecording(ctx, target.target)
	if err != nil {
		return errors.Join(err, set.Close())
	}
	f.watch(ctx, t, g, set)
	result, err := g.end()
	left := set.Close()
	if err != nil {
		return errors.Join(err, left)
	}
	g.tell(newNarrator(t), target.Process)
	out := "the probes are out; "
	if left != nil {
		out = ""
	}
	tell(t.err, "%s; %sthe recording is in %s",
		probesEnded(ctx, target.Process, result.End), out, g.file)
	return errors.Join(f.show(t, g.file, g.live.Recording()), left)
}

func probesEnded(ctx context.Context, p *sampler.Process, e sampledata.End) string {
	switch {
	case e.Cause == sampledata.EndDuration:
		return "the time is over"
	case ctx.Err() != nil:
		return "interrupted"
	}
	return becameOf(p, e)
}

// functions finds the functions of the patterns. It prints why
// it leaves some out, and returns an error if none is left.
func (f *probeFlags) functions(t terminal, pid int, patterns []string) (list []probe.Function,
	_ *probe.Program, _ error) {
	program, err := probe.OpenPID(pid)
	if err != nil {
		return nil, nil, err
	}
	var refusals []error
	seen := map[string]bool{}
	for _, pattern := range patterns {
		names := program.Functions(pattern)
		if len(names) == 0 {
			names = []string{pattern}
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			one, err := program.Function(name)
			if err != nil {
				refusals = append(refusals, err)
				continue
			}
			one.Why = "asked for"
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil, nil, errors.Join(refusals...)
	}
	if len(list) > sampledata.MaxProbes {
		return nil, nil, usagef("%s match %s: probe at most %d at once",
			strings.Join(patterns, " "), report.Counted(len(list), "function"),
			sampledata.MaxProbes)
	}
	for _, err := range refusals {
		tell(t.err, "%v", err)
	}
	program.AddArguments(list)
	return list, program, nil
}

// watch shows on a terminal what is measured, until the recording ends.
func (f *probeFlags) watch(ctx context.Context, t terminal, g *growing, set *probe.Set) {
	live := !f.json && t.width() > 0 && os.Getenv("TERM") != "dumb"
	if live {
		_, _ = io.WriteString(t.out, enterScreen)
		defer io.WriteString(t.out, leaveScreen)
	}
	ticks := time.Tick(time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.ended:
			return
		case <-ticks:
		}
		if !live {
			continue
		}
		r := *g.live.Recording()
		r.Probes = set.Results()
		_, _ = io.WriteString(t.out, emptyScreen)
		termtext.Fprintf(t.out, "%s, process %d; Ctrl-C ends\n\n", report.Program(&r), r.Header.PID)
		(&report.Probes{Recording: &r, Width: t.width()}).WriteLive(t.out)
	}
}

// show writes what a recording has of probes.
func (f *probeFlags) show(t terminal, file string, r *sampledata.Recording) error {
	p := report.Probes{Recording: r, Top: f.top, Width: t.width()}
	return t.show(&source{path: file, recording: r}, &p, f.json)
}

// A probedSink adds to a recording what the probes have
// measured: about once a second, and at its end, when it takes
// them out.
type probedSink struct {
	sampledata.Sink
	last time.Duration

	mu       sync.Mutex
	set      *probe.Set         // nil if there are no instruments yet
	refused  []sampledata.Probe // functions that can't be probed
	finished bool
}

// add adds instruments while the recording grows; set is nil if
// none could be put in. If the recording has ended, add returns
// false.
func (s *probedSink) add(set *probe.Set, refused []sampledata.Probe) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return false
	}
	s.set, s.refused = set, refused
	return true
}

func (s *probedSink) Sample(sample sampledata.Sample, changes []sampledata.Change) error {
	if sample.Time-s.last >= time.Second {
		s.last = sample.Time
		s.put(math.MaxInt64)
	}
	return s.Sink.Sample(sample, changes)
}

func (s *probedSink) Finish(e sampledata.End) error {
	s.mu.Lock()
	s.finished = true
	s.mu.Unlock()
	if s.set != nil {
		// whoever has started the probes closes them again, and reports what
		// is left
		_ = s.set.Close()
	}
	s.put(e.Time)
	return s.Sink.Finish(e)
}

// put passes on what the probes have measured until a time.
func (s *probedSink) put(until time.Duration) {
	s.mu.Lock()
	set, list := s.set, slices.Clone(s.refused)
	s.mu.Unlock()
	if set != nil {
		list = append(list, set.Results()...)
		for _, t := range set.Calls() {
			t.Until(until)
			s.Sink.Calls(t)
		}
	}
	for _, p := range list {
		s.Sink.Probe(p)
	}
}

// usualRemoval is how long taking probes out may take, unless a
// person asks for more.
const usualRemoval = 5 * time.Second

// tooLong adds to an error that probes are too many which flags help.
func tooLong(err error) error {
	var e *probe.RemovalError
	if !errors.As(err, &e) {
		return err
	}
	enough := e.Takes + e.Takes/2
	return fmt.Errorf("%w (--counts-only), or allow it (--max-removal %v)", err,
		enough.Round(time.Second)+time.Second)
}

// newCountdown returns a function that says how many probes are
// still in the program: at a terminal in one line, elsewhere in
// a line per second.
func newCountdown(t terminal) func(in int) {
	var line *statusLine
	var said time.Time
	return func(in int) {
		if line == nil {
			line, said = newStatusLine(t.err, t.errIsTerminal, statusEvery), time.Now()
		}
		text := "cpprof: taking the probes out: " + report.Counted(in, "breakpoint") + " left"
		switch {
		case in == 0:
			line.clear()
		case time.Since(said) >= time.Second && !t.errIsTerminal:
			termtext.Fprintln(t.err, text)
			said = time.Now()
		default:
			line.show("%s", text)
		}
	}
}
