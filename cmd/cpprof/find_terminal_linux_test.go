package main

import (
	"os/exec"
	"testing"
)

// On a terminal, the conversation has a prompt, a history and
// completion, and goes on after an error.
func TestFindAtATerminal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(ownCommand(t), "find", "bob.cpprof", "--thread", "bob.(*terminal).run", "--interactive")
	cmd.Dir = recordingOfBob(t)
	s := show(t, cmd, "")
	s.readUntil("Thread View of go:bob")
	for _, step := range []struct{ keys, shows string }{
		{"set sugg\tHighC\t\r", "set suggester HighCum"},
		{"suggest\r", "   0   100.00%     0.00%  bob.(*manager).transact"},
		{"select 70\r", "error: no summary 70"},
		{"select 0\r", "path     bob.(*manager).transact"},
		{"\x1b[A\r", "path     bob.(*terminal).run bob.(*manager).transact"},
		{"select bob.(*m\t", "select bob.(*manager)."},
		{"\t", "bob.(*manager).stamp  bob.(*manager).store  bob.(*manager).transact"},
		{"sta\t\r", "path     bob.(*manager).stamp"},
	} {
		s.write(step.keys)
		s.readUntil(step.shows)
	}
	s.read()
	s.write("quit\r")
	s.waits()
}
