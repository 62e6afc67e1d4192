package tui

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
)

// A commandLine reads a line after ":" for a window.
type commandLine struct {
	a *app
	w window
}

// ask opens the command line.
func (l commandLine) ask() { l.a.ask(":", "", l.complete, l.do) }

// allCommands returns the commands of a window, and of every window.
func (a *app) allCommands(w window) []command {
	return append(w.commands(), a.commands()...)
}

// A pathTaker is a window that accepts a call path in place of a command.
type pathTaker interface {
	takePath(text string) error

	// names returns all names that an element of a path can have.
	names() []string
}

// do executes a line. If it is not a command, it is a call path,
// if the window accepts one.
func (l commandLine) do(line string) error {
	name, args, _ := strings.Cut(line, " ")
	for _, c := range l.a.allCommands(l.w) {
		if c.name == name {
			return c.do(strings.TrimSpace(args))
		}
	}
	if line == "" {
		return nil
	}
	if p, ok := l.w.(pathTaker); ok && !isUnknownWord(name, p.names()) {
		return p.takePath(line)
	}
	return l.elsewhere(name)
}

// elsewhere returns the error for a word that is no command of
// the window: it says to which window the command belongs, if to
// any.
func (l commandLine) elsewhere(name string) error {
	has := func(commands []command) bool {
		return slices.ContainsFunc(commands, func(c command) bool { return c.name == name })
	}
	for i, w := range l.a.windows {
		if w == l.w || !has(w.commands()) {
			continue
		}
		keys := "Esc, Tab"
		if i < 9 {
			keys = fmt.Sprintf("Esc, %d", i+1)
		}
		// the end may not fit the screen
		return fmt.Errorf("%q is a command of window %d (%s): %s", name, i+1, keys,
			printable(w.title()))
	}
	if has(new(profileWindow).commands()) {
		return fmt.Errorf(
			"%q is a command of a Thread View, or the Server View (Esc, 1, Enter or s)", name)
	}
	return fmt.Errorf("unknown command %q: ? lists the commands of this window", name)
}

// isUnknownWord reports whether a text looks like a command, not
// like an element of a call path: it consists of letters only,
// and no name is the same.
func isUnknownWord(text string, names []string) bool {
	letters := strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz-") == ""
	return letters && !slices.Contains(names, text)
}

// complete returns the possible completions of a line.
func (l commandLine) complete(line string) []string {
	name, args, behind := strings.Cut(line, " ")
	commands := l.a.allCommands(l.w)
	if behind {
		for _, c := range commands {
			if c.name == name && c.complete != nil {
				return lists.Each(c.complete(args), func(end string) string { return name + " " + end })
			}
		}
		return l.completeNames(line)
	}
	out := oneOf(lists.Each(commands, func(c command) string { return c.name + " " })...)(line)
	if names := l.completeNames(line); len(out) == 0 || len(names) > 0 &&
		strings.HasPrefix(names[0], line) {
		out = append(out, names...)
	}
	return out
}

// maxCompletions limits the number of completions.
const maxCompletions = 200

// completeNames completes the last word of a line as an element
// of a call path. The word may be the beginning of a name. If no
// name begins with it, it may be any part of a name.
func (l commandLine) completeNames(line string) []string {
	p, ok := l.w.(pathTaker)
	if !ok {
		return nil
	}
	start := strings.LastIndexByte(line, ' ') + 1
	// At the start of a word, these are part of the expression;
	// inside a name, they are part of the name.
	start += len(line[start:]) - len(strings.TrimLeft(line[start:], "!("))
	head, word := line[:start], line[start:]
	if rest, ok := strings.CutPrefix(word, ".."); ok {
		head, word = head+"..", rest
	}
	names := p.names()
	for _, fits := range []func(s, part string) bool{strings.HasPrefix, strings.Contains} {
		var out []string
		for _, n := range names {
			if fits(n, word) {
				out = append(out, head+n)
			}
		}
		if len(out) > 0 {
			slices.Sort(out)
			return out[:min(len(out), maxCompletions)]
		}
	}
	return nil
}

// oneOf completes the only argument of a command.
func oneOf(choices ...string) func(string) []string {
	return func(args string) []string {
		var out []string
		for _, c := range choices {
			if strings.HasPrefix(c, args) {
				out = append(out, c)
			}
		}
		return out
	}
}

// classCommand changes what defines a thread class.
func (a *app) classCommand(args string) error {
	rest, ok := strings.CutPrefix(args, "by ")
	if !ok {
		return fmt.Errorf("want 'class by function', 'class by site' or 'class by label:KEY'")
	}
	by, err := views.ParseClassBy(strings.TrimSpace(rest))
	if err != nil {
		return err
	}
	a.options.Classes = by
	a.changed()
	if !by.Applies(a.recording) {
		a.message = message{text: fmt.Sprintf(
			"No goroutine has the label %s: classes are by function.", by.Label), isErr: true}
	}
	return nil
}

// commands are the commands of every window.
func (a *app) commands() []command {
	list := []command{
		newCommand("aspect NAME PATTERN...",
			"define an aspect, such as queue main.(*queue).* !main.(*queue).len", a.defineAspect,
			nil),
		newCommand("aspects save", "write the aspects defined here into "+config.Name,
			a.saveAspects, oneOf("save")),
		newCommand("accounting observed|single|processors",
			"how a runnable goroutine's time is divided", func(args string) error {
				by, err := views.ParseAccounting(args)
				if err == nil {
					a.options.Accounting = by
					a.changed()
				}
				return err
			},
			oneOf("observed", "single", "processors")),
		newCommand("class by function|site|label:KEY", "what defines a thread class",
			a.classCommand, oneOf("by function", "by site", "by label:")),
		newCommand("created-by",
			"charge goroutines to those who started them, or each to its own class",
			a.toggleCreatedBy, nil),
		newCommand("span FROM TO | FROM | all",
			"the offsets between which samples count, such as 1.5s 2s", a.spanCommand, oneOf("all")),
		newCommand("merge NAME PATTERN...",
			"count the classes that match as one, such as io go:*.readLoop go:*.writeLoop",
			a.mergeCommand, nil),
		newCommand("merges save", "write the classes merged and split here into "+config.Name,
			a.saveMerges, oneOf("save")),
		newCommand("list NAME = EXPR",
			"define a sample list, such as busy = rate(process.cpu) > 5e8; without EXPR, remove it",
			a.defineList, a.completeMetrics),
		newCommand("samples NAME | EXPR | all", "the sample list that counts in every window",
			a.samplesCommand, a.completeMetrics),
	}
	for _, k := range a.kinds() {
		list = append(list, k.commands...)
	}
	return append(list,
		newCommand("help", "the keys of this window",
			func(string) error { a.overlay = newHelp(a); return nil }, nil),
		newCommand("quit", "leave the Analyzer", func(string) error { a.quit(); return nil }, nil),
	)
}

// defineAspect defines an aspect for all windows. Without patterns, it removes
// the named aspect.
func (a *app) defineAspect(args string) error {
	fields := strings.Fields(args)
	if len(fields) == 0 {
		return fmt.Errorf("want a name and patterns, such as: queue main.(*queue).*")
	}
	aspect, err := aspects.New(fields[0], fields[1:]...)
	if err != nil {
		return err
	}
	a.setConfig(func(c *config.Config) { c.Aspects = c.Aspects.With(aspect) })
	return nil
}

// saveAspects writes the aspects defined in the Analyzer to the
// configuration file.
func (a *app) saveAspects(args string) error {
	fresh := defined(a.given.Aspects, a.config.Aspects)
	err := a.saveConfig("aspects", args, len(fresh),
		"no aspect was defined here: use 'aspect NAME PATTERN...' first",
		func(file string) error { return config.SaveAspects(file, fresh...) })
	if err == nil {
		a.given.Aspects = a.config.Aspects
	}
	return err
}

// saveConfig executes "aspects save" or "merges save": it saves a
// number of definitions of the Analyzer with a function that gets
// the name of the configuration file, the used one or a new one in
// the current folder. none is the error if there are none.
func (a *app) saveConfig(what, args string, number int, none string,
	save func(file string) error) error {
	switch {
	case args != "save":
		return fmt.Errorf("want '%s save'", what)
	case number == 0:
		return errors.New(none)
	}
	file := cmp.Or(a.config.File, config.Name)
	if err := save(file); err != nil {
		return err
	}
	config := *a.config
	config.File = file
	a.config = &config
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	a.say("Saved in %s", file)
	return nil
}

// mergeCommand merges the classes that match patterns.
func (a *app) mergeCommand(args string) error {
	fields := strings.Fields(args)
	if len(fields) < 2 {
		return fmt.Errorf("want a name and patterns of classes, such as: io go:*.readLoop go:*.writeLoop")
	}
	return a.merge(fields[0], fields[1:]...)
}

// saveMerges writes the merges made in the Analyzer to the
// configuration file, and removes the merges that were split.
func (a *app) saveMerges(args string) error {
	fresh := without(a.config.Merges, a.given.Merges, config.Merge.Equal)
	split := without(a.given.Merges, a.config.Merges, config.Merge.Equal)
	gone := lists.Each(split, func(m config.Merge) string { return m.Name })
	err := a.saveConfig("merges", args, len(fresh)+len(gone),
		"no class was merged or split here: in the Summary, Space marks classes, and M merges them",
		func(file string) error { return config.SaveMerges(file, gone, fresh...) })
	if err == nil {
		a.given.Merges = a.config.Merges
	}
	return err
}
