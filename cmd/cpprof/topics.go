package main

import (
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/cobra"
)

// topics are the texts of 'cpprof help' that belong to no command: what
// several commands take.
var topics = map[string]string{
	"paths": `A call path is a sequence of frames, from the outermost in. It needs quotes in a shell.

  *                      the root of the view
  main.serve             a function, or go:main.worker, a thread class
  :RUN :LOAD :PRIO       typed time: it ran; it was ready, and others had the processors; others of
  :MONITOR :WAIT         higher priority had them; it waited for a lock; it waited for anything else
  :IO-wait :sleep        for what it waited, below :WAIT
  @json                  an aspect, a named set of functions: 'cpprof report aspects FILE' lists them
  A B                    B is called by A, immediately
  A ..B                  B is called below A, at any depth
  A >B                   B comes right below the first A

Examples: '* ..encoding/json.Marshal', '* ..:MONITOR go:main.flusher', '* ..@json ..@alloc'`,

	"patterns": `A pattern stands for names: of functions in an aspect (--set aspects.NAME=PATTERN,PATTERN), of thread
classes in merge and priorities, of functions for 'cpprof probe' and --name.

  main.serve             this name
  main.(*queue).*        * stands for any text, within names and between them
  re:\.(Read|Write)$     a regular expression, which may match anywhere in the name
  !main.(*queue).len     in a list: but not this name

Patterns of files (--child, --match) are those of the shell: * does not stand for a slash.
'cpprof report aspects' prints examples; 'cpprof help paths' says what a call path is.`,
}

// newHelpCommand shows the help of a command, or a topic.
func newHelpCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | paths | patterns]",
		Short:   "Show the help of a command, or say what paths and patterns are",
		Example: "  cpprof help why\n  cpprof help paths\n  cpprof help patterns",
		Hidden:  true, // it is known
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && topics[args[0]] != "" {
				_, err := termtext.Fprintf(t.out, "%s\n", termtext.Text(topics[args[0]]))
				return err
			}
			of, rest, err := c.Root().Find(args)
			if err == nil && len(rest) == 0 {
				of.InitDefaultHelpFlag()
				return of.Help()
			}
			known := []string{"paths", "patterns"}
			for _, other := range c.Root().Commands() {
				known = append(known, other.Name())
			}
			if near := edit.Nearest(strings.Join(args, " "), known); near != "" {
				return usagef("no help on %q: did you mean %s?", strings.Join(args, " "), near)
			}
			return usagef("no help on %q: want a command, paths or patterns",
				strings.Join(args, " "))
		},
	}
}
