package main

import (
	"bufio"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

func newDumpCommand(t terminal) *cobra.Command {
	var f inputFlags
	c := &cobra.Command{
		Use:   "dump RECORDING",
		Short: "Print a recording as text",
		Long: `dump prints a recording as text, one record per line; undump makes the same recording from that
text.`,
		Example: `  cpprof dump run.cpprof | less
  cpprof dump run.cpprof > run.txt && cpprof undump -o copy.cpprof run.txt`,
		GroupID:           groupFiles,
		Args:              oneRecording,
		ValidArgsFunction: completeRecording,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := f.recordingAt(args[0])
			if err != nil {
				return err
			}
			w := bufio.NewWriter(t.out)
			if err := sampledata.WriteText(w, r); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	return c
}

func newUndumpCommand(t terminal) *cobra.Command {
	f := inputFlags{format: "text"}
	var output string
	c := &cobra.Command{
		Use:   "undump -o RECORDING [FILE]",
		Short: "Make a recording from the text that dump prints",
		Long:  "undump reads the text that dump prints, from a file or standard input, and writes the recording.",
		Example: `  cpprof undump -o copy.cpprof run.txt
  cpprof dump run.cpprof | grep -v '^warning' | cpprof undump -o quiet.cpprof`,
		GroupID: groupFiles,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := f.keep(t, args, output, false, "name the recording to write with -o")
			return err
		},
	}
	f.addInput(c, t)
	c.Flags().StringVarP(&output, "output", "o", "", "the `recording` to write")
	return c
}
