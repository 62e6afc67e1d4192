package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newViewCommand(t terminal) *cobra.Command {
	var f reportFlags
	var fresh bool
	var editor string
	c := &cobra.Command{
		Use:   "view RECORDING",
		Short: "Browse a recording in the terminal",
		Long: `view opens the Analyzer: what is slow (see 'cpprof why'), a summary of the recording, and windows
for the Server View and for the Thread View of each class. Highlight an entry, then refine it: d
(what it calls immediately), e (what it leads to), u (who calls it); the result appears below it.

Everything works by key and by mouse. ? lists the keys of a window, and : takes a call path, or
whatever 'cpprof report' can do. --server or --thread opens that view.

The Analyzer saves its windows, refinements and labels beside the recording, and restores them
unless --fresh is given; 'cpprof report session RECORDING' prints them.`,
		Example: `  cpprof view run.cpprof
  cpprof view run.cpprof --thread main.worker
  cpprof view new.cpprof --against old.cpprof --thread main.worker
  cpprof view run.cpprof --span 2s,5s --set classes=label:route`,
	}
	takeRecording(c, func(c *cobra.Command, path string) error {
		if !t.isScreen() {
			return usagef("view needs a terminal: 'cpprof report %s' prints the same as text",
				words.Shell(path))
		}
		s, err := f.whole(path)
		if err != nil {
			return err
		}
		o := tui.Options{Samples: f.samples, Editor: editor}
		if o.Against, err = f.other(); err != nil {
			return err
		}
		if !fresh {
			if o.Session, err = f.restored(c.Flags(), s); err != nil {
				return err
			}
		}
		return f.analyze(c.Context(), t, s, o)
	})
	f.addView(c, t)
	addProgram(c, &f.program)
	f.addAgainst(c)
	c.Flags().StringVar(&editor, "editor", "",
		"the `command` that E opens source with, such as 'code --wait' (default: $VISUAL or $EDITOR)")
	c.Flags().BoolVar(&fresh, "fresh", false, "ignore the windows that the Analyzer saved")
	addMin(c, &f.min)
	return c
}

// whole reads a recording with all its samples, and checks
// --samples. The Analyzer counts the samples of that flag.
func (f *viewFlags) whole(path string) (*source, error) {
	all := *f
	all.samples = ""
	s, err := all.open(path)
	if err == nil && f.samples != "" {
		if err = s.needSamples("samples"); err != nil {
			return nil, &usageError{err}
		}
		_, err = f.list(s.table())
	}
	return s, err
}

// isScreen reports whether input and output are a terminal that
// can show windows.
func (t terminal) isScreen() bool {
	return t.inIsTerminal && t.outIsTerminal && os.Getenv("TERM") != "dumb"
}

var errSignalled = errors.New("the Analyzer was ended by a signal")

// analyze opens the Analyzer on a source, and adds to the
// options what the flags say. It restores the terminal when a
// person leaves the Analyzer or a signal ends it.
func (f *reportFlags) analyze(ctx context.Context, t terminal, s *source, o tui.Options) error {
	limit := f.threshold(s.config)
	o.Path, o.Recording, o.Config, o.Views, o.Threshold, o.NoColor = s.path, s.recording, s.config,
		s.options, limit, !t.color
	o.Levels = openLevels
	began := &session.State{Options: s.options,
		Summary: session.Summary{All: !s.options.LeaveOutIdle}}
	if o.Session != nil {
		began = o.Session
		config := *s.config
		s.options = o.Session.Configure(&config)
	}
	left := began
	o.Keep = func(now *session.State) { left = now }
	if f.server || f.thread != "" {
		class, err := f.class(s)
		if err != nil {
			return err
		}
		if o.Against != nil || !o.Session.Front(class) {
			o.Windows = []session.Window{&session.Profile{Class: class, Threshold: limit}}
		}
	}
	o.Findings = o.Session == nil && o.Windows == nil && o.Against == nil && o.Live == nil &&
		o.Greeting == ""
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends cpprof at once
	err := tui.Run(ctx, o)
	if o.Findings && len(left.Windows) == 1 && // it opened by itself
		left.Windows[0].Kind().Name == session.FindingsKind.Name {
		began.Windows, began.Active = left.Windows, left.Active
	}
	keep(t, s.path, began, left)
	if err != nil && ctx.Err() != nil && !errors.Is(err, tui.ErrStuck) {
		return errSignalled
	}
	return err
}

// other returns the recording that --against names, or nil if
// the flag is not given.
func (f *reportFlags) other() (*tui.Against, error) {
	if f.against == "" {
		return nil, nil
	}
	r, err := f.recordingAt(f.against)
	if err != nil {
		return nil, err
	}
	return &tui.Against{Path: f.against, Recording: r}, nil
}

// class returns the class of the Thread View that the flags
// choose, or "" for the Server View. It builds the view once, so
// that a mistake is reported before the Analyzer takes the
// screen.
func (f *viewFlags) class(s *source) (string, error) {
	if f.server {
		return "", nil
	}
	v, err := s.threadView(f.thread)
	if err != nil {
		return "", err
	}
	return v.Tree.Root(), nil
}

// restored returns the session that was saved beside a
// recording, or nil if there is none. Flags override the
// session.
func (f *viewFlags) restored(flags *pflag.FlagSet, s *source) (*session.State, error) {
	state, err := session.Load(s.path, tui.SessionKinds())
	// a recording that is one file has no session
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: add --fresh to ignore and replace the session", err)
	}
	given, kept := s.options, &state.Options
	for name, take := range map[string]func(){
		"accounting": func() { kept.Accounting = given.Accounting },
		"by":         func() { kept.Granularity = given.Granularity },
		"classes":    func() { kept.Classes = given.Classes },
		"inlines":    func() { kept.NoInlines = given.NoInlines },
		"created-by": func() { kept.CreatedBy = given.CreatedBy },
		"span":       func() { kept.Span = given.Span },
		"samples":    func() { state.Samples = f.samples },
	} {
		set := func(setting string) bool { return strings.HasPrefix(setting, name+"=") }
		if flags.Changed(name) || slices.ContainsFunc(f.settings, set) {
			take()
		}
	}
	return state, nil
}

// keep saves the windows of the Analyzer beside the recording,
// if they have changed. If it can't, it only prints a message:
// the recording may belong to another user.
func keep(t terminal, path string, before, now *session.State) {
	began, beganErr := before.Marshal()
	data, err := now.Marshal()
	if err == nil && beganErr == nil && bytes.Equal(data, began) {
		return
	}
	if err = errors.Join(err, now.Save(path)); err != nil {
		tell(t.err, "the windows can't be saved for the next time: %v", err)
	}
}
