package main

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// On a terminal, keys order the classes at once, Space stops the
// screen, and q ends top.
func TestTopKeys(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	cmd := exec.Command(ownCommand(t), "top", "-i", "300ms", "--sort", "alive", "-p", fmt.Sprint(target.Pid()))
	s := show(t, cmd, "")
	for _, step := range []struct{ key, shows string }{
		{"", "alive▼"}, {"W", "WAIT▼"}, {"W", "WAIT▲"}, {"B", "time▼"}, {"<", "class▼"}, {"?", "r reverse"}, {" ", "PAUSED"}, {"i", "(i shows "},
	} {
		s.write(step.key)
		s.readUntil(step.shows)
	}
	s.read()
	s.write("q")
	s.waits()
}
