package main

import (
	"slices"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// working returns the classes without those that did hardly anything but wait
// for work, or all if none would be left. Goroutine dumps show where
// everybody stands: of them, it returns all.
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

// overview prints what was recorded, the classes, where the processors' time
// goes, and the Thread View of the class that waits most for locks and
// processors. It ends with commands to continue with.
func overview(t terminal, s *source, limit refine.Threshold, asJSON bool) error {
	classes, err := views.Classes(s.recording, s.options)
	if err != nil {
		return err
	}
	profiles, held, err := s.firstViews(classes, limit)
	if err != nil {
		return err
	}
	all := &report.Classes{Recording: s.recording, List: classes, Width: t.width()}
	if asJSON {
		return report.OverviewJSON(t.out, all, profiles)
	}
	report.Headline(t.out, s.path, s.recording)
	waits, err := locks.Summarise(s.recording, s.options)
	if err != nil {
		return err
	}
	if warning := report.Deadlocks(s.path, waits.Deadlocks); warning != "" {
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
	termtext.Fprintf(t.out, `
Go on with
  cpprof report %[1]s --server --extended '*'
  cpprof report %[1]s --thread %[2]s --down '*'
  cpprof cost %[1]s --thread %[2]s '* ..:MONITOR'
`, words.Shell(s.path), words.Shell(held.Tree.Root()))
	return nil
}

// firstViews returns the Server View, and the Thread View of the class that
// is held up most, which is also the second result. Without goroutines there
// are none.
func (s *source) firstViews(classes []views.ClassSummary,
	limit refine.Threshold) (profiles []*report.Profile, held *view, err error) {
	if len(classes) == 0 {
		return nil, nil, nil
	}
	server, err := s.serverView()
	if err != nil {
		return nil, nil, err
	}
	if held, err = s.threadView(views.MostHeldUp(classes)); err != nil {
		return nil, nil, err
	}
	for _, v := range []*view{server, held} {
		session := refine.NewSession(v.Tree, v.aspects)
		session.SetThreshold(limit)
		session.Auto(session.Root().Path, report.FewSteps)
		profiles = append(profiles,
			&report.Profile{Session: session, Title: title(s, v), Warnings: v.Warnings,
				Basis: report.BasisOf(s.recording)})
	}
	return profiles, held, nil
}
