package main

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/spf13/cobra"
)

// reportFlags are the flags that say how to refine and show a view.
type reportFlags struct {
	viewFlags
	against string
	steps   []refine.Step
	auto    bool
	minHits shareFlag
	minCost shareFlag
	json    bool
	color   string
	display refine.Display
	order   string
	kept    bool // show the windows of the saved session
}

func newReportCommand(t terminal) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report RECORDING [--server | --thread CLASS] [--against RECORDING]",
		Short: "Show a view of a recording, refined as the flags say",
		Long: `report prints a view of a recording as a tree of call paths, with their cost and hits.

--server is the Server View: CPU time, as a share of all processors. --thread CLASS is the Thread
View: all time of the goroutines of a class, as a share of their lives. Without either, report
prints an overview: the classes, the Server View, and the Thread View of one class.

--down, --extended, --up, --prune and --zoom refine the view in their order. In a call path, 'A B'
is an immediate call of B by A, 'A ..B' a call at any depth, and 'A >B' one right below the first
A; * is the root of the view, @name an aspect, and :RUN :LOAD :PRIO :MONITOR :WAIT typed time.`,
		Example: `  cpprof report run.cpprof
  cpprof report run.cpprof --server --extended '*' --up '* | encoding/json.Marshal'
  cpprof report run.cpprof --thread go:main.worker --down '*' --down '* main.worker'
  cpprof report new.cpprof --against old.cpprof --thread main.worker --auto
  cpprof report xprof run.cpprof --server --min-cum 1%`,
		GroupID:           groupShow,
		Args:              oneRecording,
		ValidArgsFunction: completeRecording,
		RunE: func(c *cobra.Command, args []string) error {
			if f.kept {
				return f.replay(t, c.Flags(), args[0])
			}
			return f.run(t, args[0])
		},
	}
	f.addView(c, t)
	for _, x := range xReports {
		c.AddCommand(newXReportCommand(t, x))
	}
	c.AddCommand(newAspectsCommand(t))
	f.addSteps(c)
	flags := c.Flags()
	flags.StringVar(&f.against, "against", "", "the `recording` to compare with; what changed most comes first")
	f.addThreshold(c)
	flags.BoolVar(&f.display.Own, "own", false, "show a column of own time: that of the innermost function, whatever it waits for")
	flags.StringVar(&f.order, "sort", "cost", "the order of entries below one: cost, own")
	flags.BoolVar(&f.display.OfParent, "of-parent", false, "show costs as shares of the entry above")
	completeWords(c, "sort", "cost", "own")
	f.addFullNames(c)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.kept, "session", false, "print the windows that 'cpprof view' saved")
	flags.StringVar(&f.color, "color", "auto", "use colours: auto, always, never")
	completeWords(c, "color", "auto", "always", "never")
	return c
}

// addSteps adds the flags that say how to refine a view.
func (f *reportFlags) addSteps(c *cobra.Command) {
	flags := c.Flags()
	for _, s := range []struct {
		kind  refine.Kind
		usage string
	}{
		{refine.KindDown, "show what `path` calls immediately"},
		{refine.KindExtended, "show what `path` leads to, at any depth"},
		{refine.KindUp, "show who calls P2 within P1, for the `paths` 'P1 | P2'"},
		{refine.KindPrune, "keep only stacks for which an `expression` of paths, and, or, not is true"},
		{refine.KindZoom, "keep only the stacks of a `path`, and make them the whole: they cost 1.000"},
	} {
		flags.Var(&stepFlag{s.kind, &f.steps}, s.kind.String(), s.usage)
		_ = c.RegisterFlagCompletionFunc(s.kind.String(), f.completePath)
	}
	flags.BoolVar(&f.auto, "auto", false, "refine the most expensive entries automatically")
}

// addThreshold adds the flags that choose which entries to show.
func (f *reportFlags) addThreshold(c *cobra.Command) {
	f.minHits.other = "a share of the whole is --min-cost"
	addHits(c.Flags(), &f.minHits, "min-hits", "show entries of at least this `number` of hits (default: as cpprof.yaml says, or 10)")
	f.minCost.other = "a number of hits is --min-hits"
	addShare(c.Flags(), &f.minCost, "min-cost", "", "show entries of at least this `cost`, such as 0.05 or 5%")
}

// openLevels is the number of levels of a view that are open unless the flags say how to refine it.
const openLevels = 2

// A stepFlag adds a refinement step each time it is given, so that steps keep their order.
type stepFlag struct {
	kind  refine.Kind
	steps *[]refine.Step
}

func (s *stepFlag) Set(text string) error {
	*s.steps = append(*s.steps, refine.Step{Kind: s.kind, Text: text})
	return nil
}
func (s *stepFlag) String() string { return "" }
func (s *stepFlag) Type() string   { return "text" }

func (f *reportFlags) run(t terminal, path string) error {
	color, err := f.useColor(t)
	if err != nil {
		return err
	}
	if f.against != "" {
		return f.compare(t, path, color)
	}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	limit := f.threshold(s.config)
	if !f.server && f.thread == "" {
		if len(f.steps) > 0 || f.json {
			return f.needView(path)
		}
		return overview(t, s, limit, color, f.nameWidth(t))
	}
	v, err := f.view(s)
	if err != nil {
		return err
	}
	if s.recording.Profile != nil && len(f.steps) == 0 {
		f.auto = true // there is no overview of a profile
	}
	p, err := f.profile(s, v, limit)
	if err != nil {
		return err
	}
	p.Color, p.Width = color, f.nameWidth(t)
	if f.json {
		return p.WriteJSON(t.out)
	}
	if err := report.Headline(t.out, path, s.recording); err != nil {
		return err
	}
	if err := p.Write(t.out); err != nil {
		return err
	}
	if len(f.steps) == 0 && !f.auto {
		termtext.Fprintf(t.out, "\nRefine it: --auto, --down '*', --extended '*', or --up '* | FUNCTION'.\n")
	}
	return idleHint(t, v)
}

// idleHint writes how to see what a view leaves out.
func idleHint(t terminal, v *view) error {
	if v.IdleShare().Sign() == 0 {
		return nil
	}
	_, err := termtext.Fprintf(t.out, "\nWhat waited for work is left out: --idle counts it, too. The aspect @idle says what that is.\n")
	return err
}

func (f *reportFlags) useColor(t terminal) (bool, error) {
	switch f.color {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return t.outIsTerminal && !t.noColor, nil
	}
	return false, usagef("--color %q: want auto, always or never", f.color)
}

// threshold returns the threshold of the flags or, if they are not given, of the configuration.
func (f *reportFlags) threshold(c *config.Config) refine.Threshold {
	if f.minHits.value == nil && f.minCost.value == nil {
		return c.Threshold
	}
	return refine.Threshold{Hits: f.minHits.value, Cost: f.minCost.value}
}

// profile applies the steps to the view.
func (f *reportFlags) profile(s *source, v *view, limit refine.Threshold) (*report.Profile, error) {
	session, err := f.session(v.Tree, v.aspects, limit)
	if err != nil {
		return nil, err
	}
	return &report.Profile{Session: session, Title: title(s, v), Warnings: v.Warnings, Basis: report.BasisOf(s.recording)}, nil
}

func (f *reportFlags) session(t *calltree.Tree, m *calltree.Membership, limit refine.Threshold) (*refine.Session, error) {
	session := refine.NewSession(t, m)
	session.SetThreshold(limit)
	for _, step := range f.steps {
		if err := session.Apply(step); err != nil {
			return nil, fmt.Errorf("--%s: %w", step.Kind, err)
		}
	}
	if f.auto {
		session.Auto(session.Root().Path, refine.DefaultAutoSteps)
	} else if len(f.steps) == 0 {
		session.Open(openLevels)
	}
	d := f.display
	switch f.order {
	case "own":
		d.ByOwn, d.Own = true, true
	case "", "cost":
	default:
		return nil, usagef("--sort %q: want cost or own", f.order)
	}
	session.SetDisplay(d)
	return session, nil
}

func title(s *source, v *view) string {
	return report.Title(s.recording, v.Tree.Root(), s.options, v.IdleShare())
}
