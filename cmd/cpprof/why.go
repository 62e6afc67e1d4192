package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why"
	"github.com/spf13/cobra"
)

// whyFlags are the flags of why.
type whyFlags struct {
	viewFlags
	record    recordFlags // of a program that runs
	failAbove shareFlag
	top       int
	log       bool
	probes    bool
	without   string               // a cost that might go away
	half      bool                 // only half of it might
	warnings  []sampledata.Warning // of the comparison
}

func newWhyCommand(t terminal) *cobra.Command {
	var f whyFlags
	c := &cobra.Command{
		Use:        "why [flags] RECORDING...\n  cpprof why [flags] -p PROCESS\n  cpprof why [flags] -- COMMAND [ARGUMENT...]",
		SuggestFor: []string{"compare", "diff"}, // --against compares
		Short:      "Say why a program, running or recorded, is slow: what, where, when",
		Long: `why searches for what makes a program slow, and says it in plain English, the worst first: locks
and who holds them, code that takes the processors, allocation, channels and pools, I/O,
goroutines that leak, too few processors. What waits for work is idle, and not slow.

Each finding says how much of the life of a thread class, or of the processors, it takes, with an
interval; where, why and when; what it would bring at most if it cost nothing (--without asks that
of other costs); and a command that shows more. --against OLD says what got slower, and improved.
Of several recordings (of hosts, or of times), why says what holds on all, and which stands out.

A running program is sampled until the answer is sure, at most for -d. The recording is kept, as
with 'cpprof record'. A program that why has started is then ended; its output goes to stderr.`,
		Example: `  cpprof why run.cpprof
  cpprof why monday.cpprof tuesday.cpprof      # what holds on both, and what on one
  cpprof why -p 4711 --probes                  # with the number and length of calls
  cpprof why new.cpprof --against old.cpprof
  cpprof why run.cpprof --without main.encode  # how much more gets done then
  cpprof why run.cpprof --fail-above 50%       # for CI: status 3 if something takes more`,
		ValidArgsFunction: completeRecording,
		RunE: func(c *cobra.Command, args []string) error {
			live := c.Flags().Changed("pid") || c.ArgsLenAtDash() == 0
			if err := f.check(c, args, live); err != nil {
				return err
			}
			if live {
				return f.live(c.Context(), t, args)
			}
			if len(args) > 1 {
				return f.together(t, args)
			}
			return f.recorded(t, args[0])
		},
	}
	f.addOptions(c, t)
	addFailAbove(c, &f.failAbove)
	f.addAgainst(c)
	addTop(c, &f.top, 5)
	f.addJSON(c)
	c.Flags().BoolVar(&f.log, "log", false,
		"add the log of experiments: each hypothesis with the course of its verdict, and each probe")
	c.Flags().BoolVar(&f.probes, "probes", false,
		"count and time calls of the functions found in the running program, as 'cpprof probe' does: this writes into it")
	c.Flags().StringVar(&f.without, "without", "",
		"say what it would bring if a `PATH` (call paths or a function) or a lock cost nothing; of 'half of PATH', if it cost half")
	c.Flags().BoolVar(&f.half, "half", false, "")
	c.Flags().MarkHidden("half") // 'half of PATH' says the same
	addProcess(c, &f.record.process)
	addDuration(c, &f.record.options.Duration, 30*time.Second)
	addOutput(c, &f.record.outputs.given, "")
	addForce(c, &f.record.outputs.force)
	f.record.samplerFlags.add(c)
	addMaxHalt(c, &f.record.maxHalt)
	return c
}

// check returns an error if the flags and arguments don't fit together.
func (f *whyFlags) check(c *cobra.Command, args []string, live bool) error {
	if live {
		if f.without != "" {
			return usagef("--without is for a recording")
		}
		if f.probes && f.calls != "" {
			return usagef("--probes and --calls both put probes in: give one of them")
		}
		if err := f.record.check(c, args); err != nil {
			return &usageError{err}
		}
		cores := whyMarkCPU // a person waits for the answer
		if c.Flags().Changed("max-cpu") {
			cores = f.record.maxCPU.float()
		}
		return setMark(&f.record.options, f.record.maxHalt, f.record.backend, cores)
	}
	if name := firstGiven(c, "against", "fail-above", "log"); f.without != "" && name != "" {
		return usagef("--without and --%s ask different questions: give one of them", name)
	}
	if c.Flags().Changed("without") && strings.TrimPrefix(f.without, "half of ") == "" {
		return usagef("--without names nothing: want call paths, a function or a lock")
	}
	if what, half := strings.CutPrefix(f.without, "half "); half && !strings.HasPrefix(what, "of ") {
		return usagef("--without %s: want 'half of %s'", f.without, what)
	}
	if name := firstGiven(c, "duration", "output", "force", "rate", "max-overhead", "max-cpu",
		"backend", "max-halt", "probes"); name != "" {
		return usagef("--%s is for a running program: give a process (-p PROCESS) or a command (-- COMMAND)", name)
	}
	if err := checkTop(f.top); err != nil {
		return err
	}
	if name := firstGiven(c, "against", "without", "log", "fail-above", "top"); len(args) > 1 &&
		name != "" {
		return usagef("--%s is for one recording; got %d", name, len(args))
	}
	if len(args) == 0 {
		return usagef("want one recording, such as run.cpprof, a process (-p PROCESS) or a command (-- COMMAND); got %d arguments", len(args))
	}
	return nil
}

// answer searches the recording of a source, on its own or compared with
// --against.
func (f *whyFlags) answer(s *source) (*why.Answer, error) {
	if f.against == "" {
		return why.Find(s.recording, f.searchOptions(s))
	}
	earlier, err := f.recordingAt(f.against)
	if err != nil {
		return nil, err
	}
	before := &source{path: f.against, recording: earlier}
	if err := f.restrict(before); err != nil {
		return nil, err
	}
	f.warnOfDifferent(s, before)
	return why.Compare(s.recording, before.recording, f.searchOptions(s))
}

// searchOptions returns the options of a search in a source.
func (f *whyFlags) searchOptions(s *source) why.Options {
	o := why.OptionsOf(s.config, s.options)
	o.Course = f.log
	return o
}

// show writes an answer. It returns a *statusError if a finding
// is worse than
// --fail-above allows.
func (f *whyFlags) show(t terminal, s *source, a *why.Answer) error {
	y := f.look(t, report.BasisOf(s.recording).With(f.warnings))
	y.Answer, y.File = a, s.path
	if err := t.show(s, &y, f.json); err != nil {
		return err
	}
	if f.log && !f.json {
		termtext.Fprintf(t.out, "\n")
		y.WriteLog(t.out, s.recording)
	}
	return f.status(t, a)
}

// look returns how answers are written.
func (f *whyFlags) look(t terminal, basis report.Basis) report.Why {
	return report.Why{Flags: f.given(), Top: f.top, ShortNames: t.width() > 0, Color: t.color,
		Basis: basis}
}

// sampledTime is what why needs.
const sampledTime = "samples over time, and why needs them: 'cpprof find' shows what costs most"

// recorded answers for one recording.
func (f *whyFlags) recorded(t terminal, path string) error {
	s, err := f.openSampled(path, sampledTime)
	if err != nil {
		return err
	}
	if f.without != "" {
		return f.showWithout(t, s)
	}
	a, err := f.answer(s)
	if err != nil {
		return err
	}
	if s.recording.Samples.Len() == 0 {
		return fmt.Errorf("%s has no samples, and so no answer: record it again", s.path)
	}
	if s.isDump() && a.State == why.TooLittle {
		return fmt.Errorf("%s shows %s, and not how long anything lasts: 'cpprof classes' and 'cpprof locks' say who waits, and for whom",
			s.path, report.Counted(a.Samples, "moment"))
	}
	return f.show(t, s, a)
}

// showWithout says what it would bring if a cost went away.
func (f *whyFlags) showWithout(t terminal, s *source) error {
	what, half := strings.CutPrefix(f.without, "half of ")
	removal, err := why.Without(s.recording, f.searchOptions(s), what, half || f.half)
	if err != nil {
		return err
	}
	out := report.RemovalOf(removal, report.BasisOf(s.recording))
	return t.show(s, out, f.json)
}

func (f *whyFlags) status(t terminal, a *why.Answer) error {
	if f.failAbove.value == nil {
		return nil
	}
	above := lists.Count(a.Findings,
		func(found *why.Finding) bool { return found.Share.Share > f.failAbove.float() })
	if above == 0 {
		return nil
	}
	tell(t.err, "more than %s: %d of the %d findings", f.failAbove.text, above, len(a.Findings))
	return &statusError{exitAbove}
}

// together searches several recordings of a program.
func (f *whyFlags) together(t terminal, paths []string) error {
	var all []*sampledata.Recording
	var first *source
	for _, path := range paths {
		s, err := f.openSampled(path, sampledTime)
		if err != nil {
			return err
		}
		if first == nil {
			first = s
		}
		f.warnOfDifferent(first, s)
		all = append(all, s.recording)
	}
	found, err := why.Together(all, f.searchOptions(first))
	if err != nil {
		return err
	}
	return t.print(report.NewTogether(paths, found, f.look(t, report.BasisOf(all...))), f.json)
}

// warnOfDifferent warns if two recordings seem to be of
// different programs: by their functions or, if too few were
// seen, by their names.
func (f *whyFlags) warnOfDifferent(a, b *source) {
	now, other, reason := report.Program(a.recording), report.Program(b.recording), ""
	same, known := why.OfOneProgram(a.recording, b.recording)
	switch {
	case known && same, !known && now == other:
		return
	case known:
		reason = ", and they have few functions in common"
	}
	text := fmt.Sprintf("%s is of %s, %s is of %s%s: if these are different programs, don't compare them",
		a.path, now, b.path, other, reason)
	tell(f.err, "warning: %s", text)
	f.warnings = append(f.warnings, sampledata.Warning{Kind: "other-program", Message: text})
}
