package main

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// On a terminal, keys order the classes at once, Space stops the
// screen, and q ends top.
func TestTopKeys(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	cmd := exec.Command(fixture.Cpprof(t), "top", "-i", "300ms", "--sort", "alive", "-p", fmt.Sprint(target.Pid()))
	s := &shown{Cmd: cmd, t: t, pty: fixture.OpenPTY(t), ended: make(chan struct{})}
	s.Env = append(s.Environ(), "TERM=xterm-256color")
	s.pty.Start(t, s.Cmd)
	go func() {
		_ = s.Wait()
		close(s.ended)
	}()
	for _, step := range []struct{ key, shows string }{
		{"", "alive▼"}, {"W", "WAIT▼"}, {"W", "WAIT▲"}, {"B", "time▼"}, {"<", "class▼"}, {"?", "r reverse"}, {" ", "PAUSED"}, {"i", "(i shows "},
	} {
		s.write(step.key)
		s.readUntil(step.shows)
	}
	s.read()
	s.write("q")
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatal("top is still running")
	}
}
