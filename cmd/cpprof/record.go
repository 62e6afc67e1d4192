package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/spf13/cobra"
)

// recordFlags are the flags of record: what to record, and how.
type recordFlags struct {
	outputs    outputs
	process    processFlag
	child      string
	connect    string // the address of a Delve server
	program    string // a copy of its program's executable
	followExec bool
	view, web  bool
	noBrowser  bool
	shown      viewFlags // with --view or --web
	monitors   []string
	noMonitors bool
	full       bool // keep the whole command line
	maxHalt    time.Duration
	timed      timedFlags
	kept       keepFlags
	samplerFlags

	// adds to what the sampler sees; nil if nothing is added
	wrap func(sampledata.Sink) sampledata.Sink
}

func newRecordCommand(t terminal) *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record [flags] -- COMMAND [ARGUMENT...]\n  cpprof record [flags] -p PROCESS\n  cpprof record [flags] --connect HOST:PORT --program EXECUTABLE",
		Short: "Record a running Go program, launched or attached to",
		Long: `record samples a running Go program, and writes what every goroutine was doing into the folder
PROGRAM-DATE.cpprof, or the one that -o names. It ends after the duration, when the program ends,
or at Ctrl-C; a second Ctrl-C ends cpprof at once. It neither changes the program nor ends it.

A launched program has cpprof's input, output and error, and cpprof ends with its exit status. If
COMMAND is 'go run', 'go test', a script or make, the Go programs that it starts are recorded, but
not the compiler. Several programs give several recordings: run.cpprof, run.2.cpprof, ...

cpprof samples less often than --rate says if it would otherwise exceed --max-overhead or
--max-cpu; without that flag, some 20 times a second if all processors are busy. See 'cpprof info'.`,
		Example: `  cpprof record -o run.cpprof -d 10s -- ./server -flag
  cpprof record -p 4711                        # until Ctrl-C; -p server works if one has this name
  cpprof record --view -p 4711                 # watch it in the Analyzer; --web: in a browser
  cpprof record --keep 60s --when 'goroutines.blocked > 100' -p 4711
  cpprof record -- go test ./pkg -run TestSlow -count=1
  cpprof record --child server -- ./start.sh   # only the programs named server
  cpprof record --rate 100 --max-overhead 5% -d 1m -p 4711`,
		PreRunE: usageArgs(f.check),
		RunE: func(c *cobra.Command, args []string) error {
			if err := setMark(&f.options, f.maxHalt, f.backend, f.maxCPU.float()); err != nil {
				return err
			}
			switch {
			case f.kept.on() && (f.view || f.web):
				return usagef("--keep writes a recording now and then: leave --view and --web out")
			case f.view && f.web:
				return usagef("--view and --web both show the recording: give one of them")
			case f.shown.samples != "" && !f.view && !f.web:
				return usagef("--samples is for --view and --web: a recording has all samples, and the commands that read it have this flag, too")
			case f.web:
				return recordWeb(c.Context(), t, &f, args)
			case f.view:
				return recordView(c.Context(), t, &f, args)
			}
			return record(c.Context(), t, &f, args)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false) // what follows COMMAND is the command's
	addOutput(c, &f.outputs.given, "")
	addForce(c, &f.outputs.force)
	addProcess(c, &f.process)
	addDuration(c, &f.options.Duration, 0)
	addConnect(c, &f.connect)
	addProgram(c, &f.program)
	flags.StringVar(&f.child, "child", "",
		"record the programs whose file name matches `PATTERN`, among COMMAND and all that it starts")
	flags.BoolVar(&f.followExec, "follow-exec", false,
		"if a recorded program replaces itself by another one (exec), record that, too")
	flags.BoolVar(&f.view, "view", false, "show the recording in the Analyzer while it grows")
	flags.BoolVar(&f.web, "web", false,
		"show the recording in a browser while it grows, and then until Ctrl-C")
	addNoBrowser(c, &f.noBrowser)
	addSampleList(c, &f.shown.samples)
	addMonitorFlags(c, &f.monitors, &f.noMonitors)
	flags.BoolVar(&f.full, "full-command", false,
		"keep passwords, tokens and other secrets in the recorded command line")
	addCalls(c, &f.timed.calls)
	f.kept.add(c)
	f.timed.addBounds(c)
	addShare(flags, &f.jitter, "jitter", percent(sampler.DefaultJitter),
		"the `share` of the interval that is random; 0 is strictly periodic")
	f.samplerFlags.add(c)
	addMaxHalt(c, &f.maxHalt)
	return c
}

// check returns an error if the flags and arguments don't fit together.
func (f *recordFlags) check(c *cobra.Command, args []string) error {
	attach := c.Flags().Changed("pid")
	if err := f.kept.check(c, f.options.Duration); err != nil {
		return err
	}
	switch {
	case f.connect != "":
		if err := checkConnect(c, f.connect, f.program, args); err != nil {
			return err
		}
		f.backend = delve.Name
		return f.samplerFlags.check(c) // monitors are read on this system
	case f.program != "":
		return errors.New("--program goes with --connect")
	case attach && len(args) > 0:
		return errors.New("give either a process (-p PROCESS) or a command, not both")
	case !attach && len(args) == 0:
		return &offer{"give a command (cpprof record -- ./server) or a process (cpprof record -p PROCESS)", sampler.Running()}
	}
	if f.timed.calls != "" && (f.child != "" || f.followExec) {
		return errTimesFollowed
	}
	if _, err := path.Match(f.child, ""); err != nil {
		return fmt.Errorf("--child %s: want a file name, or a pattern such as '*.test': %w",
			f.child, err)
	}
	if err := f.chooseMonitors(c.ErrOrStderr(), c.Flags().Changed("child")); err != nil {
		return err
	}
	return f.samplerFlags.check(c)
}

// chooseMonitors sets which monitors are recorded. If several
// programs are recorded, not all need to have what --monitor
// names. Nor need a program have what the config file names,
// which may be for several.
func (f *recordFlags) chooseMonitors(warnings io.Writer, several bool) error {
	var all []monitor.Request
	if !f.noMonitors {
		c, err := loadConfig("", warnings)
		if err != nil {
			return err
		}
		all = requests(c)
	}
	for _, m := range f.monitors {
		all = append(all, monitor.Request{Text: m, Required: !several})
	}
	var err error
	f.options.Monitors, err = monitor.Choose(!f.noMonitors, all)
	return err
}

// requests returns the monitors that a configuration names.
func requests(c *config.Config) []monitor.Request {
	return lists.Each(c.Monitors, func(m string) monitor.Request { return monitor.Request{Text: m} })
}

// follows reports whether record leaves out the command itself, and records
// the programs that it becomes or starts.
func (f *recordFlags) follows(program string, args []string) bool {
	if f.child != "" {
		return true
	}
	e, err := sampler.ReadExecutable(program)
	return err != nil || e.StartsPrograms(args)
}
