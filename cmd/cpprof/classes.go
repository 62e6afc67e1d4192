package main

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

func newClassesCommand(t terminal) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:   "classes RECORDING [--against RECORDING]",
		Short: "List the thread classes: instances, and the share of each typed time",
		Long: `classes lists the classes of goroutines that were seen, the one with most time first:

  count       how many goroutines there were, one after the other or at a time
  instances   these, counted in every sample in which they were there
  alive       how many there were at a time, on average
  idle        the share of their time in which they waited for work, as the aspect @idle says; the
              instances and the other shares are those of the rest, or with --idle of all
  RUN         running on a processor
  LOAD        ready to run, but a goroutine of the same priority had the processor
  PRIO        ready to run, but one of higher priority or the garbage collector had it
  MONITOR     waiting for a lock
  WAIT        waiting for anything else

With --against OLD it matches the classes by name, and prints the shares minus those in OLD.`,
		Example: `  cpprof classes run.cpprof
  cpprof classes run.cpprof --set classes=label:route --span 10s,20s
  cpprof classes new.cpprof --against old.cpprof`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error {
		if f.compares(path) {
			return f.compareClasses(t, path)
		}
		s, err := f.open(path)
		if err != nil {
			return err
		}
		classes, err := views.Classes(s.recording, s.options)
		if err != nil {
			return err
		}
		if !f.json {
			report.PartHeadline(t.out, path, s.recording)
		}
		return t.print(&report.Classes{Recording: s.recording, List: classes,
			CreatedBy: s.options.CreatedBy, Width: t.width()},
			f.json)
	})
	f.addOptions(c, t)
	f.addValue(c)
	f.addCharging(c)
	f.addComparison(c)
	f.addJSON(c)
	return c
}

// compareClasses prints how the classes of two recordings differ.
func (f *viewFlags) compareClasses(t terminal, path string) error {
	p, err := f.openRecordings(path)
	if err != nil {
		return err
	}
	classes, err := p.classes()
	if err != nil {
		return err
	}
	if !f.json {
		termtext.Fprintf(t.out, "old is %s, new is %s\n\n", p.b.path, p.a.path)
	}
	return t.print(&report.ClassesCompared{Pairs: classes, New: p.a.named(), Old: p.b.named(),
		Width: t.width()}, f.json)
}
