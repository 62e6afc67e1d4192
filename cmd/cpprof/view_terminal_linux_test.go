package main

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
)

// A shown command of cpprof runs on a terminal that a test
// holds.
type shown struct {
	*exec.Cmd
	t      *testing.T
	pty    *fixture.PTY
	folder string // of the recording
	ended  chan struct{}
}

func show(t *testing.T, cmd *exec.Cmd, folder string) *shown {
	s := &shown{cmd, t, fixture.OpenPTY(t), folder, make(chan struct{})}
	s.Env = append(s.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	s.pty.Start(t, s.Cmd)
	go func() {
		_ = s.Wait()
		close(s.ended)
	}()
	return s
}

// showOnPTY opens the Analyzer, waits for its first screen, and
// opens a second window, which a session saves.
func showOnPTY(t *testing.T) *shown {
	t.Helper()
	folder := filepath.Join(recordingOfBob(t), "bob.cpprof")
	s := show(t, exec.Command(ownCommand(t), "view", folder), folder)
	s.readUntil("Quit")
	s.write("\r")
	s.readUntil("Thread View")
	return s
}

func (s *shown) write(keys string) {
	s.t.Helper()
	fixture.Must(io.WriteString(s.pty, keys))(s.t)
}

// readUntil reads the terminal until a text was drawn. A program
// that does not draw it within a minute is killed, which ends
// the terminal.
func (s *shown) readUntil(text string) {
	s.t.Helper()
	killer := time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() })
	defer killer.Stop()
	var all []byte
	for b := make([]byte, 4096); !bytes.Contains(all, []byte(text)); {
		n, err := s.pty.Read(b)
		if err != nil {
			s.t.Fatalf("waiting for %q: %v; it has drawn %q", text, err, all)
		}
		all = append(all, b[:n]...)
	}
}

// read reads the terminal, and forgets what it reads.
func (s *shown) read() { go func() { _, _ = io.Copy(io.Discard, s.pty) }() }

// flood presses Ctrl-L until the terminal is closed.
func (s *shown) flood() {
	go func() {
		for keys := []byte(strings.Repeat("\f", 512)); ; {
			if _, err := s.pty.Write(keys); err != nil {
				return
			}
		}
	}()
}

// waits waits until the command has ended.
func (s *shown) waits() {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Fatal("it is still running")
	}
}

// ends checks that the Analyzer ends by itself, and that it has
// saved Why and the window that was opened.
func (s *shown) ends() {
	s.t.Helper()
	s.waits()
	kept, err := session.Load(s.folder, tui.SessionKinds())
	if err != nil || len(kept.Windows) != 2 {
		s.t.Errorf("%v: the session is %+v", err, kept)
	}
}

// Any end of its terminal and every signal end the Analyzer,
// whatever keys are queued, and even if the terminal takes no
// more output. (Once, a redrawing that was queued behind the end
// never returned.)
func TestTheAnalyzerEndsLong(t *testing.T) {
	fixture.LongInTurn(t, 1)
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*shown)
	}{
		{"q, then a lot of redrawing", func(s *shown) { s.read(); s.write("q" + strings.Repeat("\f", 1000)) }},
		{"a lot of redrawing, then q", func(s *shown) { s.read(); s.write(strings.Repeat("\f", 1000) + "q") }},
		{"a hang-up", func(s *shown) { s.pty.Close() }},
		{"a hang-up while keys come in", func(s *shown) { s.read(); s.flood(); time.Sleep(100 * time.Millisecond); s.pty.Close() }},
		{"a hang-up with keys and output waiting", func(s *shown) { s.write(strings.Repeat("\f", 1000)); s.pty.Close() }},
		{"SIGTERM", func(s *shown) { s.read(); s.signal(syscall.SIGTERM) }},
		{"SIGHUP", func(s *shown) { s.read(); s.signal(syscall.SIGHUP) }},
		{"SIGTERM while keys come in", func(s *shown) { s.read(); s.flood(); s.signal(syscall.SIGTERM) }},
		{"SIGTERM while nobody reads the output", func(s *shown) { s.flood(); time.Sleep(100 * time.Millisecond); s.signal(syscall.SIGTERM) }},
		{"q while keys come in", func(s *shown) { s.read(); s.write("q"); s.flood() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := showOnPTY(t)
			c.end(s)
			s.ends()
		})
	}
}

func (s *shown) signal(sig syscall.Signal) {
	s.t.Helper()
	fixture.Check(s.t, s.Process.Signal(sig))
}

// A signal ends the Analyzer in a terminal that doesn't take its
// output, but leaves the terminal in the mode in which it was.
func TestTheModeOfABlockedTerminal(t *testing.T) {
	s := showOnPTY(t)
	s.flood()
	time.Sleep(100 * time.Millisecond)
	s.signal(syscall.SIGTERM)
	s.ends()
	if mode := s.pty.Mode(t); !mode.Echo || !mode.Lines {
		t.Errorf("the terminal's mode is %+v", mode)
	}
}
