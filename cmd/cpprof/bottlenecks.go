package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/cmd/cpprof/shell"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/cobra"
)

func newBottlenecksCommand(t terminal) *cobra.Command {
	var f treeFlags
	c := &cobra.Command{
		Use:   "bottlenecks RECORDING [--server | --thread CLASS] [--against RECORDING]",
		Short: "Search for bottlenecks step by step, with commands",
		Long: `bottlenecks reads commands from a terminal (with history and Tab completion) or from a script:

  suggest                  list single functions to start with, the highest own time first
  select N                 show number N of the last list: its cost, its overlap with each label,
                           and the nearby call sequences (one call more or less, at either end)
  select NAME NAME ...     the same for a call sequence
  zoom on                  skip steps that offer no choice
  label NAME               remember the call sequence; overlap and labels compare labelled ones
  help                     list all commands

own is the time of the last function itself, base that of the calls, both without what they lead
to, and cum includes that. With --against OLD they are differences. A script ends at its first
error, with status 1. Without a view, it takes the busiest thread class; next goes on with the next.

` + inputHelp(),
		Example: `  cpprof bottlenecks run.cpprof --server
  printf 'suggest\nselect 0\n' | cpprof bottlenecks run.cpprof --thread go:main.worker
  cpprof bottlenecks new.cpprof --against old.cpprof --server`,
		GroupID: groupFind,
		Args:    oneRecording,
		RunE: func(c *cobra.Command, args []string) error {
			classes, err := f.turns(args[0])
			if err != nil {
				return err
			}
			turnsHint(t, classes)
			if len(classes) > 0 {
				if err := f.choose(c, classes[0]); err != nil {
					return err
				}
				classes = classes[1:]
			}
			a, b, err := f.subjects(args[0])
			if err != nil {
				return err
			}
			s := shell.New(profile(a, b))
			s.Width = t.width()
			s.Next = f.nextTurn(c, args[0], classes)
			if !t.inIsTerminal {
				return script(s, t.in, t.out)
			}
			if err := heading(t.out, a, b); err != nil {
				return err
			}
			termtext.Fprintln(t.out, "suggest lists functions to start with; help lists all commands.")
			return converse(s, t)
		},
	}
	f.addTree(c, t)
	addAgainst(c, &f.against)
	return c
}

// longestCommand is enough for a call sequence of a thousand names.
const longestCommand = 1 << 20

// script executes the lines of a script up to the first that fails. It writes the output of a line before it reads the
// next one, so that a program can react to the output.
func script(s *shell.Shell, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestCommand)
	number := 1
	for ; lines.Scan(); number++ {
		text, err := s.Exec(lines.Text())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}
