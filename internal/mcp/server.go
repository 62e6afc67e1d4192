// Package mcp lets the program of an assistant record and
// examine Go programs. It speaks the Model Context Protocol.
//
//	server.go      what serves, and until when
//	connection.go  messages, one a line
//	tools.go       the tools, and what they take
//	run.go         the commands of cpprof behind the tools
//	answer.go      answers within their bound
//	words.go       errors of commands in terms of the tools
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/cpprof/cpprof/sampler"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say what a server offers.
type Options struct {
	Program string // the executable of cpprof
	Version string
	Folder  string // of the recordings

	// Describe returns the command line of a process in one line.
	Describe func(*sampler.Process) string
}

// A server answers the calls of tools. Each call runs a command
// of cpprof in its own process, so that it can be ended.
type server struct {
	o         Options
	folder    *os.Root // does not let a symbolic link lead out of the folder
	session   context.Context
	recording chan struct{} // has room for the recordings at a time
	reading   chan struct{} // has room for the other commands at a time
	commands  sync.WaitGroup
}

// How many commands run at a time.
const (
	maxRecordings = 1
	maxReaders    = 2
)

// Serve answers until the input or the context ends. It then
// ends the commands, recordings as by Ctrl-C.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	var err error
	if o.Folder, err = filepath.Abs(o.Folder); err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make the folder, or name another one with --folder", err)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, stop := context.WithCancel(ctx)
	s := &server{
		o: o, folder: root, session: ctx,
		recording: make(chan struct{}, maxRecordings), reading: make(chan struct{}, maxReaders),
	}
	defer s.commands.Wait()
	defer stop() // ends the commands
	of := sdk.NewServer(&sdk.Implementation{Name: "cpprof", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	of.AddReceivingMiddleware(boundErrors)
	s.addTools(of)
	c := newConnection(in, out, stop)
	if err := of.Run(ctx, c); !c.ended() && ctx.Err() == nil {
		return err
	}
	return nil
}
