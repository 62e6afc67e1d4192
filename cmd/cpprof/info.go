package main

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/spf13/cobra"
)

func newInfoCommand(t terminal) *cobra.Command {
	var f inputFlags
	c := &cobra.Command{
		Use:   "info RECORDING",
		Short: "Show what was recorded, what it cost the target, and warnings",
		Example: `  cpprof info run.cpprof
  cpprof info --json run.cpprof | jq .halted_share`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error {
		r, err := f.recordingAt(path)
		if err != nil {
			return err
		}
		if f.json {
			return report.InfoJSON(t.out, r)
		}
		return report.Info(t.out, path, r)
	})
	f.addInput(c, t)
	f.addFormat(c)
	f.addValue(c)
	f.addJSON(c)
	return c
}
