package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/cpprof/cpprof/internal/mcp"
	"github.com/spf13/cobra"
)

func newMCPCommand(t terminal) *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "mcp --folder FOLDER",
		Short: "Let an assistant record and examine Go programs (Model Context Protocol)",
		Long: `mcp speaks the Model Context Protocol on standard input and output. The program of an assistant
starts it, and gets tools: to list the Go programs that run, to record one, and to read recordings
as 'cpprof why', 'report', 'locks', 'classes' and comparisons do. Long answers are cut, and say so.

Recordings are written into the folder, and read from there only. Nothing is replaced or deleted.
A program is recorded only if the user who runs mcp may trace it, within the usual bounds.`,
		Example: "  cpprof mcp --folder recordings",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if folder == "" {
				return usagef("no folder is given: name the folder of the recordings with --folder")
			}
			if t.inIsTerminal {
				return usagef("mcp speaks to the program of an assistant, not to a terminal: enter 'cpprof mcp --folder %s' as a server in its configuration", folder)
			}
			return serveMCP(c.Context(), t, folder)
		},
	}
	c.Flags().StringVar(&folder, "folder", "", "the `folder` of the recordings")
	return c
}

func serveMCP(ctx context.Context, t terminal, folder string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return mcp.Serve(ctx, t.in, t.out,
		mcp.Options{Program: program, Version: version(), Folder: folder, Describe: commandOf})
}
