package main

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/spf13/cobra"
)

// reportFlags are the flags that say how to refine and show a view.
type reportFlags struct {
	viewFlags
	steps []refine.Step
	auto  bool
	min   minFlag
	order string
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
is an immediate call of B by A, 'A ..B' a call at any depth, and * the root of the view: 'cpprof
help paths' says more.`,
		Example: `  cpprof report run.cpprof
  cpprof report run.cpprof --server --extended '*' --up '* | encoding/json.Marshal'
  cpprof report run.cpprof --thread go:main.worker --down '*' --down '* main.worker'
  cpprof report new.cpprof --against old.cpprof --thread main.worker --auto
  cpprof report xprof run.cpprof --server --min 1%`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error { return f.run(t, path) })
	f.addView(c, t)
	for _, x := range xReports {
		c.AddCommand(newXReportCommand(t, x))
	}
	c.AddCommand(newAspectsCommand(t), newSessionCommand(t))
	f.addSteps(c)
	f.addComparison(c)
	addMin(c, &f.min)
	addSort(c, &f.order, byCost, byOwn)
	f.addJSON(c)
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
		flags.Func(s.kind.String(), s.usage, func(text string) error {
			f.steps = append(f.steps, refine.Step{Kind: s.kind, Text: text}) // in their order
			return nil
		})
		_ = c.RegisterFlagCompletionFunc(s.kind.String(), f.completePath)
	}
	flags.BoolVar(&f.auto, "auto", false, "refine the most expensive entries automatically")
}

// The orders of entries below one. By own time, a column shows it.
const (
	byCost = "cost"
	byOwn  = "own"
)

// openLevels is the number of levels of a view that are open
// unless the flags say how to refine it.
const openLevels = 2

func (f *reportFlags) run(t terminal, path string) error {
	if f.order != byCost && f.order != byOwn {
		return usagef("--sort %q: want %s or %s", f.order, byCost, byOwn)
	}
	if f.compares(path) {
		return f.compare(t, path)
	}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	if !f.server && f.thread == "" {
		if len(f.steps) > 0 || f.order == byOwn {
			return f.needView(path)
		}
		return overview(t, s, f.threshold(s.config), f.json)
	}
	v, err := f.view(s)
	if err != nil {
		return err
	}
	if s.recording.Profile != nil && len(f.steps) == 0 {
		f.auto = true // there is no overview of a profile
	}
	session, err := f.session(v)
	if err != nil {
		return err
	}
	p := v.profile(session)
	p.Color, p.Width = t.color, t.width()
	if f.json {
		return p.WriteJSON(t.out)
	}
	report.Headline(t.out, path, s.recording)
	p.Write(t.out)
	if len(f.steps) == 0 && !f.auto {
		termtext.Fprintf(t.out,
			"\nRefine it: --auto, --down '*', --extended '*', or --up '* | FUNCTION'.\n")
	}
	idleHint(t, v)
	return nil
}

// idleHint writes how to see what a view leaves out.
func idleHint(t terminal, v *view) {
	if v.IdleShare().Sign() != 0 {
		termtext.Fprintf(t.out,
			"\nWhat waited for work is left out: --idle counts it, too. The aspect @idle says what that is.\n")
	}
}

// threshold returns the threshold of the flags or, if they are
// not given, of the configuration.
func (f *reportFlags) threshold(c *config.Config) refine.Threshold {
	if f.min.text == "" {
		return c.Threshold
	}
	return f.min.Threshold
}

// session applies the steps to the view.
func (f *reportFlags) session(v *view) (*refine.Session, error) {
	session := refine.NewSession(v.Tree, v.aspects())
	session.SetThreshold(f.threshold(v.from.config))
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
	own := f.order == byOwn
	session.SetDisplay(refine.Display{ByOwn: own, Own: own})
	return session, nil
}

// working returns the classes without those that did hardly
// anything but wait for work, or all if none would be left.
// Goroutine dumps show where everybody stands: of them, it
// returns all.
func working[C any](s *source, classes []C, onlyIdle func(*C) bool) []C {
	if s.isDump() {
		return classes
	}
	shown := slices.DeleteFunc(slices.Clone(classes), func(c C) bool { return onlyIdle(&c) })
	if len(shown) == 0 {
		return classes
	}
	return shown
}

// overview prints what was recorded, the classes, where the
// processors' time goes, and the Thread View of the class that
// is held up most. It ends with commands to continue with.
func overview(t terminal, s *source, limit refine.Threshold, asJSON bool) error {
	classes, err := views.Classes(s.recording, s.options)
	if err != nil {
		return err
	}
	profiles, held, typed, err := s.firstViews(classes, limit)
	if err != nil {
		return err
	}
	all := &report.Classes{Recording: s.recording, List: classes,
		CreatedBy: s.options.CreatedBy, Width: t.width()}
	if asJSON {
		return report.OverviewJSON(t.out, all, profiles)
	}
	report.Headline(t.out, s.path, s.recording)
	waits, err := locks.Summarise(s.recording, s.options)
	if err != nil {
		return err
	}
	if warning := report.Deadlocks(s.path, waits); warning != "" {
		termtext.Fprintln(t.out, termtext.Text(warning))
	}
	if len(classes) == 0 {
		_, err := termtext.Fprintln(t.out,
			"No goroutine was seen: the recording has no samples in this span.")
		return err
	}
	all.List = working(s, classes, (*views.ClassSummary).OnlyIdle)
	all.Write(t.out)
	if n := len(classes) - len(all.List); n > 0 {
		termtext.Fprintf(t.out,
			"(%d of the classes did hardly anything but wait for work; 'cpprof classes %s' lists all)\n", n, words.Shell(s.path))
	}
	for _, p := range profiles {
		termtext.Fprintln(t.out)
		p.Color, p.Width = t.color, t.width()
		p.Write(t.out)
	}
	idleHint(t, held)
	termtext.Fprintf(t.out, "\nGo on with\n")
	if profiles[0].Session.Root().Weight.Sign() > 0 { // of the Server View
		termtext.Fprintf(t.out, "  cpprof report %s --server --extended '*'%s\n", words.Shell(s.path), s.again())
	}
	termtext.Fprintf(t.out, `  cpprof report %[1]s --thread %[2]s --down '*'%[3]s
  cpprof cost %[1]s --thread %[2]s '* ..%[4]s'%[3]s
`, words.Shell(s.path), words.Shell(held.Tree.Root()), s.again(), typed)
	return nil
}

// firstViews returns the Server View, and the Thread View of the
// class that is held up most. The other results are its view,
// and the typed time that has most of it. Without goroutines
// there are none.
func (s *source) firstViews(classes []views.ClassSummary,
	limit refine.Threshold) (profiles []*report.Profile, held *view, t views.TypedTime, err error) {
	if len(classes) == 0 {
		return nil, nil, t, nil
	}
	server, err := s.view(views.Server)
	if err != nil {
		return nil, nil, t, err
	}
	class := views.MostHeldUp(classes)
	if held, err = s.threadView(class.Class); err != nil {
		return nil, nil, t, err
	}
	for _, v := range []*view{server, held} {
		session := refine.NewSession(v.Tree, v.aspects())
		session.SetThreshold(limit)
		session.Auto(session.Root().Path, report.FewSteps)
		profiles = append(profiles, v.profile(session))
	}
	return profiles, held, class.Costliest(), nil
}
