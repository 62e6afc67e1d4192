package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Bounds of a call.
const (
	readingTime = 2 * time.Minute  // of a command that reads
	patience    = 10 * time.Second // until a command that was interrupted is killed
	maxOutput   = 256 << 20        // bytes that a command may write
)

// A boundedBuffer keeps the beginning of what is written to it.
type boundedBuffer struct {
	bytes.Buffer
	limit int
	cut   bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.limit-b.Len())]
	b.cut = b.cut || len(kept) < len(p)
	b.Buffer.Write(kept)
	return len(p), nil
}

// said returns the messages of a command in terms of the tools,
// without the program's name before each line.
func (b *boundedBuffer) said(folder string) string {
	text := inTools(strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(b.String(),
		"\ncpprof: ", "\n"), "cpprof: ")), folder)
	if b.cut {
		text += " ..."
	}
	return text
}

// A commandError has the messages of a command, which has made
// them safe to print.
type commandError string

func (e commandError) Error() string        { return string(e) }
func (e commandError) TerminalText() string { return string(e) }

var errCancelled = errors.New("the call was cancelled")

// run runs a command of cpprof as one of those that fill a
// channel. It interrupts the command when the time is over, the
// call is cancelled or the session ends.
func (s *server) run(ctx context.Context, room chan struct{}, limit time.Duration,
	args ...string) (out []byte, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(s.session, cancel)()
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, "", errCancelled
		}
		return nil, "", errors.New("other calls have taken all the time: try again")
	}
	s.commands.Add(1)
	defer s.commands.Done()
	c := exec.CommandContext(ctx, s.o.Program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	written, messages := &boundedBuffer{limit: maxOutput}, &boundedBuffer{limit: maxNote}
	c.Stdout, c.Stderr = written, messages
	err = c.Run()
	said = messages.said(s.o.Folder)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, said, fmt.Errorf("cpprof %s has not ended after %v", args[0], limit)
	case ctx.Err() != nil:
		return nil, said, errCancelled
	case err != nil && said != "":
		return nil, said, commandError(said)
	case err != nil:
		return nil, said, fmt.Errorf("cpprof %s: %w", args[0], err)
	case written.cut:
		return nil, said, fmt.Errorf("the answer has more than %d MB: ask for less, such as one class", maxOutput>>20)
	}
	return written.Bytes(), said, nil
}
