package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
		GroupID: groupMore,
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

// A mcpServer answers the calls of tools. Each call runs a command of cpprof in a process of its own, so that it can be ended,
// and what it needs ends with it.
type mcpServer struct {
	program   string   // cpprof itself
	path      string   // of the folder, absolute
	folder    *os.Root // does not let a symbolic link lead out of the folder
	session   context.Context
	recording chan struct{} // has room for the recordings at a time
	reading   chan struct{} // has room for the other commands at a time
	commands  sync.WaitGroup
}

// How many commands run at a time.
const (
	mostMCPRecordings = 1
	mostMCPReaders    = 2
)

// serveMCP answers until the input ends or a signal ends it. Commands that still run then are ended, recordings as by Ctrl-C.
func serveMCP(ctx context.Context, t terminal, folder string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := &mcpServer{
		program: program, path: path, folder: root, session: ctx,
		recording: make(chan struct{}, mostMCPRecordings), reading: make(chan struct{}, mostMCPReaders),
	}
	defer s.commands.Wait()
	defer stop() // ends the commands
	server := mcp.NewServer(&mcp.Implementation{Name: "cpprof", Version: version()}, &mcp.ServerOptions{
		Instructions: mcpInstructions, Capabilities: &mcp.ServerCapabilities{},
	})
	s.addTools(server)
	err = server.Run(ctx, &mcp.IOTransport{Reader: &endingReader{t.in, stop}, Writer: unclosed{t.out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// An endingReader calls a function when its input ends: what the client has asked for is not wanted any more.
type endingReader struct {
	io.Reader
	ended func()
}

func (r *endingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.ended()
	}
	return n, err
}

func (r *endingReader) Close() error { return nil }

// unclosed is an output that others close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
