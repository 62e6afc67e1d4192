package main

import (
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

func newClassesCommand(t terminal) *cobra.Command {
	var f viewFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "classes RECORDING",
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
  WAIT        waiting for anything else`,
		Example: `  cpprof classes run.cpprof
  cpprof classes run.cpprof --class-by label:route --from 10s --to 20s`,
		GroupID:           groupShow,
		Args:              oneRecording,
		ValidArgsFunction: completeRecording,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := f.open(args[0])
			if err != nil {
				return err
			}
			classes, err := views.Classes(s.recording, s.options)
			if err != nil {
				return err
			}
			if asJSON {
				return report.ClassesJSON(t.out, classes, report.BasisOf(s.recording))
			}
			return report.Classes(t.out, classes, f.nameWidth(t))
		},
	}
	f.addOptions(c, t)
	f.addIdle(c)
	f.addFullNames(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
