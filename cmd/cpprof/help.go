package main

import (
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	groupRecord = "Record"
	groupShow   = "Show"
	groupFind   = "Find"
	groupFiles  = "Files"
	groupMore   = "More"
)

// helpWidth is the width at which the descriptions of flags are wrapped.
const helpWidth = 100

// fewFlags is the number of flags, --help among them, that are
// easy to read without groups.
const fewFlags = 5

// A flagGroup is a part of a command's help.
type flagGroup struct {
	title string
	names []string
}

// flagGroups lists the flags of all commands. A flag name has
// the same meaning in every command, so each name is in one
// group. Help shows the groups, and the flags in them, in this
// order.
var flagGroups = []flagGroup{
	{"What to record", []string{"pid", "connect", "duration", "child", "follow-exec", "monitor",
		"no-monitors", "match", "progress", "base", "probes", "full-command", "keep", "when", "counts-only",
		"breakpoints"}},
	{"How often, and at what cost",
		[]string{"every", "at-once", "max-duration", "rate", "jitter", "max-overhead",
			"max-halt", "max-cpu", "probe-overhead", "max-removal", "backend"}},
	{"What to read", []string{"server", "thread", "against", "fresh", "editor", "format", "program", "value",
		"strict", "max-memory"}},
	{"Refinement steps", []string{"down", "extended", "up", "prune", "zoom", "auto"}},
	{"What to count", []string{"span", "samples", "calls", "against-calls",
		"over", "with", "scatter", "idle", "created-by", "by", "without"}},
	{"How much to show", []string{
		"count", "interval", "sort", "min", "name", "depth", "metric", "coverage",
		"interactive", "fail-above", "slow", "number", "top", "least", "instances", "log",
	}},
	{"Where it goes", []string{
		"to", "output", "force", "folder", "app", "otlp", "tenant", "listen", "token-file",
		"tls-cert", "tls-key", "client-ca", "view", "web", "no-browser", "port", "text",
		"json", "csv",
	}},
	{"Settings", []string{"set", "help"}},
}

// The commands of a group are listed in the order in which they
// are added, not by name.
func init() { cobra.EnableCommandSorting = false }

// inOneLine has the groups of commands that take one line of the
// list together, and what they are for.
var inOneLine = map[string]string{
	groupFiles: "Recordings as text, and the files of other tools",
	groupMore:  "For fleets, for assistants, and for your shell",
}

// usage writes how a command is called, its examples, the
// commands below it, and its flags.
func usage(c *cobra.Command) error {
	var b strings.Builder
	if use := c.UseLine(); strings.Contains(use, "\n") {
		termtext.Fprintf(&b, "Usage:\n  %s\n", termtext.Text(use))
	} else {
		termtext.Fprintf(&b, "Usage: %s\n", use)
	}
	switch {
	case strings.Contains(c.Example, "\n"):
		termtext.Fprintf(&b, "\nExamples:\n%s\n", termtext.Text(c.Example))
	case c.HasExample():
		termtext.Fprintf(&b, "Example: %s\n", strings.TrimSpace(c.Example))
	}
	if c.HasAvailableSubCommands() {
		b.WriteByte('\n')
		listCommands(&b, c)
	}
	b.WriteByte('\n')
	listFlags(&b, c.LocalFlags())
	_, err := io.WriteString(c.OutOrStderr(), b.String())
	return err
}

// listCommands writes a line for each command below c. The first
// line of a group begins with the group's title.
func listCommands(b *strings.Builder, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	margin := 0
	for _, g := range groups {
		margin = max(margin, len(g.Title))
	}
	for _, g := range groups {
		title := g.Title
		if what, ok := inOneLine[g.ID]; ok {
			termtext.Fprintf(b, "%-*s  %s: %s\n", margin, title,
				strings.Join(lists.Each(commandsOf(c, g.ID), (*cobra.Command).Name), ", "), what)
			continue
		}
		for _, sub := range commandsOf(c, g.ID) {
			termtext.Fprintf(b, "%-*s  %-*s  %s\n", margin, title, sub.NamePadding(), sub.Name(),
				sub.Short)
			title = ""
		}
	}
}

// commandsOf returns the commands of a group.
func commandsOf(c *cobra.Command, group string) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
		return sub.GroupID != group || !sub.IsAvailableCommand()
	})
}

// listFlags writes the flags by group, or in one list if they
// are few. Flags that no group lists come last.
func listFlags(b *strings.Builder, flags *pflag.FlagSet) {
	if countFlags(flags) <= fewFlags {
		b.WriteString("Flags:\n" + flags.FlagUsagesWrapped(helpWidth))
		return
	}
	groups := append(slices.Clone(flagGroups), flagGroup{"Other flags", ungrouped(flags)})
	var texts []string
	for _, g := range groups {
		if set := subset(flags, g.names); set.HasFlags() {
			texts = append(texts, g.title+":\n"+set.FlagUsagesWrapped(helpWidth))
		}
	}
	b.WriteString(strings.Join(texts, "\n"))
}

func countFlags(flags *pflag.FlagSet) (n int) {
	flags.VisitAll(func(*pflag.Flag) { n++ })
	return n
}

// subset returns the flags of these names, in this order.
func subset(flags *pflag.FlagSet, names []string) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, name := range names {
		if f := flags.Lookup(name); f != nil {
			set.AddFlag(f)
		}
	}
	return set
}

// ungrouped returns the names of the flags that no group lists.
func ungrouped(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		lists := func(g flagGroup) bool { return slices.Contains(g.names, f.Name) }
		if !f.Hidden && !slices.ContainsFunc(flagGroups, lists) {
			names = append(names, f.Name)
		}
	})
	return names
}

// enumerate joins words into a list: "a, b or c".
func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// topics are the texts of 'cpprof help' that belong to no
// command: what several commands take.
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
