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

// working returns the classes without those that did hardly anything but wait for work, or all if none would be left. Goroutine
// dumps show where everybody stands: of them, it returns all.
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

// overview prints what was recorded, the classes, where the processors' time goes, and the Thread View of the class that
// waits most for locks and processors. It ends with commands to continue with.
func overview(t terminal, s *source, limit refine.Threshold) error {
	classes, err := views.Classes(s.recording, s.options)
	if err != nil {
		return err
	}
	if err := report.Headline(t.out, s.path, s.recording); err != nil {
		return err
	}
	waits, err := locks.Summarise(s.recording, s.options)
	if err != nil {
		return err
	}
	if warning := report.Deadlocks(s.path, waits.Deadlocks); warning != "" {
		termtext.Fprintln(t.out, termtext.Text(warning))
	}
	if len(classes) == 0 {
		_, err := termtext.Fprintln(t.out, "No goroutine was seen: the recording has no samples in this span.")
		return err
	}
	shown := working(s, classes, (*views.ClassSummary).OnlyIdle)
	if err := report.Classes(t.out, shown, t.width()); err != nil {
		return err
	}
	if n := len(classes) - len(shown); n > 0 {
		termtext.Fprintf(t.out, "(%d of the classes did hardly anything but wait for work; 'cpprof classes %s' lists all)\n", n, words.Shell(s.path))
	}
	server, err := s.serverView()
	if err != nil {
		return err
	}
	held := views.MostHeldUp(classes)
	thread, err := s.threadView(held)
	if err != nil {
		return err
	}
	for _, v := range []*view{server, thread} {
		session := refine.NewSession(v.Tree, v.aspects)
		session.SetThreshold(limit)
		session.Auto(session.Root().Path, report.FewSteps)
		termtext.Fprintln(t.out)
		p := report.Profile{Session: session, Title: title(s, v), Warnings: v.Warnings, Color: t.color, Width: t.width()}
		if err := p.Write(t.out); err != nil {
			return err
		}
	}
	if err := idleHint(t, thread); err != nil {
		return err
	}
	_, err = termtext.Fprintf(t.out, `
Go on with
  cpprof report %[1]s --server --extended '*'
  cpprof report %[1]s --thread %[2]s --down '*'
  cpprof cost %[1]s --thread %[2]s '* ..:MONITOR'
`, words.Shell(s.path), words.Shell(held))
	return err
}
