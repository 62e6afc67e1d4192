package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Exit statuses. (record ends with the status of a program that
// it launched.)
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitAbove  = 3 // find found more than --fail-above allows

	exitUnread = 128 + int(syscall.SIGPIPE) // as a shell says it
)

// A terminal has a command's input and outputs, and their properties.
type terminal struct {
	in            io.Reader
	out, err      io.Writer
	inIsTerminal  bool
	outIsTerminal bool
	errIsTerminal bool
	color         bool // the output has colours
}

// An output keeps the first error of a writer, so that nobody
// needs to look at each write. After an error, it writes nothing
// more.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.to.Write(p)
	}
	return n, o.err
}

// tell writes a message.
func tell(to io.Writer, format string, args ...any) {
	termtext.Fprintf(to, "cpprof: "+format+"\n", args...)
}

// print writes a report, as JSON if that is asked for.
func (t terminal) print(r report.Report, asJSON bool) error {
	if asJSON {
		return r.WriteJSON(t.out)
	}
	r.Write(t.out)
	return nil
}

// show is print with a headline above the text: what was
// recorded, and which part of it counts.
func (t terminal) show(s *source, r report.Report, asJSON bool) error {
	if !asJSON {
		report.Headline(t.out, s.path, s.recording)
		if span := s.options.Span; span != (views.Span{}) {
			termtext.Fprintf(t.out, "Only the span %s counts.\n\n", span)
		}
	}
	return t.print(r, asJSON)
}

// width returns the width of the terminal that shows the output,
// or 0 if none does.
func (t terminal) width() int {
	out, ok := fileOf(t.out).(*os.File)
	if !ok || !t.outIsTerminal {
		return 0
	}
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// A usageError is a mistake in the arguments of a command.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// A statusError ends the program with its status, without a message.
type statusError struct{ status int }

func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, t terminal) int {
	if err := former(args); err != nil {
		tell(t.err, "%v", err)
		return exitUsage
	}
	out := &output{to: t.out}
	t.out = out
	root := newRootCommand(t)
	root.SetArgs(respelled(root, opened(root, args, t)))
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.err
	}
	var status *statusError
	var usage *usageError
	var syntax *callpath.SyntaxError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &status):
		return status.status
	case errors.Is(out.err, syscall.EPIPE):
		return exitUnread
	case errors.Is(err, tui.ErrStuck):
		return exitFailed // a message would wait for the terminal
	case errors.As(err, &usage), errors.As(err, &syntax):
		termtext.Fprintf(t.err, "cpprof: %v\nSee '%s --help'.\n", err, command.CommandPath())
		return exitUsage
	}
	tell(t.err, "%v", err)
	return exitFailed
}

func newRootCommand(t terminal) *cobra.Command {
	root := &cobra.Command{
		Use:                        "cpprof COMMAND [flags]",
		Short:                      "A call-path profiler for running Go programs",
		Long:                       `cpprof shows where a running Go program spends its time, and why. 'COMMAND --help' explains more.`,
		Example:                    "  cpprof demo; cpprof demo.cpprof",
		Version:                    longVersion(),
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		Args:                       knownCommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{flagError(c, err)}
	})
	root.SetUsageFunc(usage)
	addGroup(root, groupRecord, newDemoCommand(t), newRecordCommand(t), newTopCommand(t),
		newDumpGoroutinesCommand(t), newProbeCommand(t))
	addGroup(root, groupShow, newWhyCommand(t), newStuckCommand(t), newViewCommand(t),
		newWebCommand(t), newReportCommand(t), newClassesCommand(t), newLocksCommand(t),
		newCallsCommand(t), newCostCommand(t), newInfoCommand(t))
	addGroup(root, groupFind, newFindCommand(t), newMonitorsCommand(t))
	addGroup(root, groupFiles, newImportCommand(t), newExportCommand(t))
	addGroup(root, groupMore, newAgentCommand(t), newMCPCommand(t))
	root.SetCompletionCommandGroupID(groupMore)
	root.SetHelpCommand(newHelpCommand(t))
	addCompletionHelp(root)
	return root
}

// addGroup adds commands, and a group of the help that lists them.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// addCompletionHelp replaces the help of the completion commands, which cobra
// adds, by shorter texts with examples.
func addCompletionHelp(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	examples := map[string]string{
		"completion": "  source <(cpprof completion bash)",
		"bash":       "  source <(cpprof completion bash)\n  cpprof completion bash > /etc/bash_completion.d/cpprof",
		"zsh":        "  source <(cpprof completion zsh)\n  cpprof completion zsh > \"${fpath[1]}/_cpprof\"",
		"fish":       "  cpprof completion fish | source\n  cpprof completion fish > ~/.config/fish/completions/cpprof.fish",
		"powershell": "  cpprof completion powershell | Out-String | Invoke-Expression\n  cpprof completion powershell >> $PROFILE",
	}
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Short = "Print a script that completes commands, classes and functions in your shell"
		c.Long = ""
		c.Example = examples[c.Name()]
		for _, shell := range c.Commands() {
			shell.Short = "Print the completion script for " + shell.Name()
			shell.Long = "The first example sets up completion in this shell, the second one in every new shell."
			shell.Example = examples[shell.Name()]
		}
	}
}

// flagError adds to an error what to write: a similar flag, a
// time with its unit, one of the processes that there are.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(c, unknown)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return processError(missing)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	want := ""
	switch invalid.GetFlag().Value.Type() {
	case "int":
		want = "want a whole number"
	case "duration":
		want = "want a time such as 10s or 1m30s"
		if x, err := strconv.ParseFloat(invalid.GetValue(), 64); err == nil && x >= 0 {
			want = "a time needs its unit: " + invalid.GetValue() + "s"
		}
	default:
		return err
	}
	return errors.New(strings.Replace(err.Error(), invalid.Unwrap().Error(), want, 1))
}

// unknownFlag says what a command has in place of a flag that it
// doesn't have.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	if now, ok := formerFlags[name]; ok {
		return fmt.Errorf("unknown flag --%s: %s", name, now)
	}
	if (name == "p" || name == "pid") && c.Flags().Lookup("format") != nil {
		return fmt.Errorf("%w: %s reads a recording; 'cpprof record -p PROCESS' makes one", err, c.Name())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := edit.Nearest(name, names); near != "" && err.GetSpecifiedShortnames() == "" {
		return fmt.Errorf("unknown flag --%s: did you mean --%s?", name, near)
	}
	return err
}

// knownCommand returns an error for a word that is not a
// command, and suggests similar commands.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := c.SuggestionsFor(args[0])
	for _, of := range c.Commands() {
		if inner, _, err := of.Find(args[:1]); err == nil && inner != of {
			near = append(near, of.Name()+" "+inner.Name())
		}
	}
	if len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q, and there is no recording of this name", args[0])
}

// usageArgs returns a check that turns the errors of another
// check into usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// wantArgs checks that there are as many arguments; most is -1
// for any number.
func wantArgs(least, most int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usagef("%s", want)
		}
		if last := len(args) - 1; last > 0 && !exists(args[0]) && exists(args[last]) {
			return usagef("there is no recording %s; the recording comes first: %s %s ...", args[0],
				c.CommandPath(), args[last])
		}
		return nil
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// takeRecording makes a recording the only argument of a command.
func takeRecording(c *cobra.Command, run func(c *cobra.Command, path string) error) {
	c.Args, c.ValidArgsFunction = oneRecording, completeRecording
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, args[0]) }
}

// oneRecording checks that the only argument is the recording to read.
func oneRecording(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("want one recording, such as run.cpprof, or a file of another tool; got %d arguments%s", len(args), quotes(args))
	}
	return nil
}

// quotes says that a call path needs quotes if the arguments
// look as if the shell had split one, and replaced its *.
func quotes(args []string) string {
	for _, arg := range args[min(len(args), 1):] {
		if exists(arg) || strings.HasPrefix(arg, "..") || strings.HasPrefix(arg, ":") {
			return ": put quotes around a call path, such as '* ..main.f': without them, the shell replaces * by the names of files"
		}
	}
	return ""
}

// completeRecording completes the first argument with recordings and files.
func completeRecording(_ *cobra.Command, args []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// longVersion returns what --version prints after "cpprof
// version". (A template of our own would keep all methods of all
// types in the program.)
func longVersion() string {
	return fmt.Sprintf("%s %s %s/%s", version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}

// released is the version of a release, which internal/release sets.
var released string

// version returns the version of the release or of the module. A
// build from a checkout has the commit in it.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return cmp.Or(info.Main.Version, "(devel)")
}
