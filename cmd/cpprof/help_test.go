package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A screen of this size shows the help of a command up to its flags.
const (
	helpLines   = 24
	helpColumns = 100
)

// everyCommand calls f for each command.
func everyCommand(f func(*cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		f(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard}))
}

// Every command's help has an example, and says in a line what
// the command is for.
func TestEveryCommandHasAnExample(t *testing.T) {
	everyCommand(func(c *cobra.Command) {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s: example %q, short help %q", c.CommandPath(), c.Example, c.Short)
		}
	})
}

var flagLine = regexp.MustCompile(`(?m)^ +(-\w, )?--\w`)

// The help before the flags fits a screen.
func TestHelpFitsAScreen(t *testing.T) {
	everyCommand(func(c *cobra.Command) {
		var text bytes.Buffer
		c.InitDefaultHelpFlag()
		c.SetOut(&text)
		fixture.Check(t, c.Help())
		c.SetOut(nil)
		for line := range strings.Lines(text.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > helpColumns {
				t.Errorf("%s --help: %d columns, more than %d: %s", c.CommandPath(), n, helpColumns, line)
			}
		}
		flags := flagLine.FindStringIndex(text.String())
		if flags == nil {
			t.Fatalf("%s --help lists no flags:\n%s", c.CommandPath(), text.String())
		}
		before := strings.TrimSpace(text.String()[:flags[0]])
		before = strings.TrimSpace(before[:strings.LastIndexByte(before, '\n')]) // without the title of the flags
		if n := strings.Count(before, "\n") + 1; n > helpLines {
			t.Errorf("%s --help: %d lines before the flags, more than %d:\n%s", c.CommandPath(), n, helpLines, before)
		}
	})
}

// Each flag of a command that has many is in a group, and no
// flag is in two.
func TestFlagsAreInGroups(t *testing.T) {
	used := map[string]bool{}
	everyCommand(func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		flags := c.LocalFlags()
		for _, g := range flagGroups {
			for _, name := range g.names {
				used[name] = used[name] || flags.Lookup(name) != nil
			}
		}
		if countFlags(flags) <= fewFlags {
			return
		}
		for _, name := range ungrouped(flags) {
			t.Errorf("%s: --%s is in no group of flagGroups", c.CommandPath(), name)
		}
	})
	seen := map[string]bool{}
	for _, g := range flagGroups {
		for _, name := range g.names {
			if seen[name] {
				t.Errorf("--%s is twice in flagGroups", name)
			}
			if seen[name] = true; !used[name] {
				t.Errorf("--%s of group %q is a flag of no command", name, g.title)
			}
		}
	}
}

// maxFlags bounds the flags of a command that a person reads
// most often, and maxNames the names of all flags.
const (
	maxFlags = 25
	maxNames = 92
)

func TestFewFlags(t *testing.T) {
	names := map[string]bool{}
	everyCommand(func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		n := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			names[f.Name] = true
			n++
			if formerFlags[f.Name] != "" && f.Name != "to" {
				t.Errorf("%s: --%s is a flag and a former one", c.CommandPath(), f.Name)
			}
		})
		switch c.CommandPath() {
		case "cpprof report", "cpprof export", "cpprof why":
			if n > maxFlags {
				t.Errorf("%s has %d flags, more than %d", c.CommandPath(), n, maxFlags)
			}
		}
	})
	if len(names) > maxNames {
		t.Errorf("%d names of flags, more than %d", len(names), maxNames)
	}
}

// A flag means the same in every command: it has one type, one
// letter and one text. A letter stands for one flag.
func TestFlagsMeanOneThing(t *testing.T) {
	type meaning struct{ kind, letter, text string }
	meanings, letters := map[string]meaning{}, map[string]string{}
	everyCommand(func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			now := meaning{f.Value.Type(), f.Shorthand, f.Usage}
			if before, ok := meanings[f.Name]; ok && before != now {
				t.Errorf("%s: --%s is %q, elsewhere it is %q", c.CommandPath(), f.Name, now, before)
			}
			meanings[f.Name] = now
			if before := letters[f.Shorthand]; f.Shorthand != "" && before != "" && before != f.Name {
				t.Errorf("%s: -%s is --%s, elsewhere it is --%s", c.CommandPath(), f.Shorthand, f.Name, before)
			}
			letters[f.Shorthand] = f.Name
		})
	})
}

// A wrong value is answered with what is right.
func TestWrongValues(t *testing.T) {
	for line, want := range map[string]string{
		"web x -d -3s":                  `"-3s" for "-d, --duration" flag: want a time such as 10s`,
		"record -d 10 -p 1":             "a time needs its unit: 10s",
		"web x --port 80a":              `"80a" for "--port" flag: want a whole number`,
		"why x --without f --against y": "--without and --against ask different questions",
		"why x --without=":              "--without names nothing",
	} {
		if status, _, said := runLine(t, line); status != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s ends with %d: %s", line, status, said)
		}
	}
}

// An unknown flag is answered with a similar one, a former flag
// with what replaces it.
func TestUnknownFlags(t *testing.T) {
	for line, want := range map[string]string{
		"report x --tread y":     "unknown flag --tread: did you mean --thread?",
		"report x --from 2s":     "one flag now: --span FROM,TO",
		"why x --full-names":     "names are shortened on a terminal only",
		"export x --push http:x": "cpprof export push RECORDING URL",
		"locks x --zzzzzzzz":     "unknown flag: --zzzzzzzz",
		"top -d 5s":              "unknown shorthand flag: 'd'",
		"web -p 12":              "unknown shorthand flag: 'p' in -p: web reads a recording; 'cpprof record -p PROCESS' makes one",
		"locks --pid 12":         "unknown flag: --pid: locks reads a recording",
	} {
		if status, _, said := runLine(t, line); status != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s ends with %d: %s", line, status, said)
		}
	}
}
