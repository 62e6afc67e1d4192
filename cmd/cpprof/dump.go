package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

func newDumpCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "dump RECORDING",
		Short: "Print the text twin of a recording",
		Long: `dump prints a recording as text, one record per line; undump makes the same recording from that
text.`,
		Example: `  cpprof dump run.cpprof | less
  cpprof dump run.cpprof > run.txt && cpprof undump -o copy.cpprof run.txt`,
		GroupID:           groupFiles,
		Args:              oneRecording,
		ValidArgsFunction: completeRecording,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := openRecording(args[0])
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
}

func newUndumpCommand(t terminal) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "undump -o RECORDING [FILE]",
		Short: "Make a recording of its text twin",
		Long:  "undump reads the text that dump prints, from a file or standard input, and writes the recording.",
		Example: `  cpprof undump -o copy.cpprof run.txt
  cpprof dump run.cpprof | grep -v '^warning' | cpprof undump -o quiet.cpprof`,
		GroupID: groupFiles,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return usagef("where to? Name the recording to write with -o")
			}
			in, name, err := t.open(args)
			if err != nil {
				return err
			}
			defer in.Close()
			return undump(in, name, output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the `recording` to write")
	return c
}

func undump(in io.Reader, name, output string) error {
	r, err := sampledata.ReadText(in)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return r.Write(output)
}
