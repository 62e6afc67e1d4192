package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A processFlag is the value of -p: the pid of a running
// process, or the name of its program.
type processFlag string

func addProcess(c *cobra.Command, p *processFlag) {
	c.Flags().StringVarP((*string)(p), "pid", "p", "",
		"the running `PROCESS`: its pid, or the name of its program")
	_ = c.RegisterFlagCompletionFunc("pid", completeProcess)
}

// needProcess returns an error if -p is not given. It serves the
// commands that can't launch a program.
func needProcess(c *cobra.Command) error {
	if c.Flags().Changed("pid") {
		return nil
	}
	return &offer{"give a process: " + c.CommandPath() + " -p PROCESS", sampler.Running()}
}

// find returns the pid. Only one running Go program may have a given name.
func (p processFlag) find() (int, error) {
	text := string(p)
	if strings.Trim(text, "0123456789") == "" && text != "" {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return 0, usagef("-p %s: no process has such a number", text)
		}
		return pid, nil
	}
	running := sampler.Running()
	named := slices.DeleteFunc(slices.Clone(running),
		func(r *sampler.Process) bool { return filepath.Base(r.Name) != text })
	switch len(named) {
	case 0:
		return 0, &usageError{&offer{"-p " + text +
			": no Go program of this name runs that cpprof may halt", running}}
	case 1:
		return named[0].PID, nil
	}
	return 0, &usageError{&offer{"-p " + text +
		": several programs have this name: give the number of one", named}}
}

// An offer is an error that lists processes that can be given instead.
type offer struct {
	problem string
	list    []*sampler.Process
}

// maxOffered limits the list of processes in a message.
const maxOffered = 20

func (o *offer) Error() string { return o.problem + o.lines() }

// TerminalText lays out the error in several lines.
func (o *offer) TerminalText() string { return termtext.Printable(o.problem) + o.lines() }

func (o *offer) lines() string {
	if len(o.list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nGo programs that cpprof may halt:")
	for _, p := range o.list[:min(len(o.list), maxOffered)] {
		termtext.Fprintf(&b, "\n  -p %-8d %s", p.PID, commandOf(p))
	}
	if more := len(o.list) - maxOffered; more > 0 {
		termtext.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// longestArguments limits a command line in a message, in characters.
const longestArguments = 80

// commandOf returns the name of a process's program and its
// arguments, cut if they are long.
func commandOf(p *sampler.Process) string {
	words := []string{filepath.Base(p.Name)}
	if command := p.Command(); len(command) > 1 {
		words = append(words, command[1:]...)
	}
	text := []rune(strings.Join(words, " "))
	if len(text) > longestArguments {
		text = append(text[:longestArguments-1], '…')
	}
	return string(text)
}

// completeProcess completes -p: with a name if a process is the
// only one of that name, otherwise with its pid.
func completeProcess(_ *cobra.Command, _ []string, word string) ([]string,
	cobra.ShellCompDirective) {
	running := sampler.Running()
	count := map[string]int{}
	for _, p := range running {
		count[filepath.Base(p.Name)]++
	}
	var list []string
	for _, p := range running {
		value := filepath.Base(p.Name)
		if !isPlainName(value) || count[value] > 1 ||
			strings.HasPrefix(strconv.Itoa(p.PID), word) && word != "" {
			value = strconv.Itoa(p.PID)
		}
		list = append(list, value+"\t"+termtext.Printable(commandOf(p)))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// isPlainName reports whether a name means itself in every
// shell, and can't be taken for a pid or for a flag.
func isPlainName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."
	return strings.Trim(name, letters+"0123456789-+") == "" && strings.IndexAny(name, letters) == 0
}

// processError adds to the error of a -p without a value which
// processes there are.
func processError(err *pflag.ValueRequiredError) error {
	if err.GetFlag() == nil || err.GetFlag().Name != "pid" {
		return err
	}
	return &offer{"-p: want a running process, by its number or its name", sampler.Running()}
}
