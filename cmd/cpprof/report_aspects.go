package main

import (
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

func newAspectsCommand(t terminal) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:   "aspects [RECORDING]",
		Short: "List each aspect, and the functions that belong to it",
		Long: `aspects lists the aspects that call paths can name, and the functions of a recording that belong
to each. Without a recording it prints the built-in definitions; your own cpprof.yaml has the same
form and takes precedence.`,
		Example: `  cpprof report aspects run.cpprof
  cpprof report aspects > cpprof.yaml`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeRecording,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := t.out.Write(config.BuiltinYAML())
				return err
			}
			s, err := f.open(args[0])
			if err != nil {
				return err
			}
			functions := lists.Each(s.recording.Functions,
				func(f sampledata.Function) string { return f.Name })
			report.Aspects(t.out, s.config.AllAspects(), functions)
			return nil
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	addSettings(c, &f.settings)
	return c
}
