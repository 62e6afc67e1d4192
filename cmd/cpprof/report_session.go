package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/spf13/cobra"
)

// newSessionCommand has few flags: a session has its own steps, span,
// accounting, and so on.
func newSessionCommand(t terminal) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:   "session RECORDING",
		Short: "Print the windows that the Analyzer saved",
		Long: `session prints the windows that 'cpprof view' saved beside a recording, with all that was refined
and labelled in them.`,
		Example: `  cpprof report session run.cpprof
  cpprof report session run.cpprof --json | jq .title`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error { return f.replay(t, path) })
	f.addInput(c, t)
	addSettings(c, &f.settings)
	f.addJSON(c)
	return c
}

// replay prints the windows of the session beside a recording.
func (f *viewFlags) replay(t terminal, path string) error {
	state, err := session.Load(path, tui.SessionKinds())
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := f.recordingAt(path); err != nil {
			return err
		}
		return fmt.Errorf("%s has no session yet: 'cpprof view %s' saves one", path,
			words.Shell(path))
	}
	if err != nil {
		return err
	}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	s.options = state.Configure(s.config)
	whole := s.recording
	if state.Samples != "" {
		if s.recording, err = s.table().Pick(state.Samples); err != nil {
			return fmt.Errorf("%s: the samples that count in its session: %w", path, err)
		}
	}
	if state.Calls != "" {
		s.recording, err = calls.Restricted(whole, state.Calls, s.options.CreatedBy)
		if err != nil {
			return fmt.Errorf("%s: the calls that count in its session: %w", path, err)
		}
	}
	if err := s.checkSpan(); err != nil {
		return err
	}
	if !f.json {
		report.Headline(t.out, path, s.recording)
		if len(state.Windows) == 0 {
			termtext.Fprintln(t.out, "The session has no windows.")
		}
	}
	src := &session.Source{Path: path, Recording: s.recording, Whole: whole, Calls: state.Calls, Config: s.config,
		Options: s.options, Color: t.color, Width: t.width(),
		Others: session.NewOthers(f.recordingAt)}
	for i, w := range state.Windows {
		if i > 0 {
			termtext.Fprintln(t.out)
		}
		if err := showWindow(t, src, w, f.json); err != nil {
			return err
		}
	}
	return nil
}

// showWindow writes the content of one window, or warns that it
// leaves the window out.
func showWindow(t terminal, src *session.Source, w session.Window, asJSON bool) error {
	r, err := w.Report(src)
	if _, ok := errors.AsType[*missingError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*session.MissingError](err); ok { // the recording that it was compared with is gone
		tell(t.err, "a window is left out: %v", err)
		return nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", src.Path, err)
	}
	if _, ok := errors.AsType[*views.UnknownClassError](err); ok { // the session had other classes
		tell(t.err, "a window is left out: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	return t.print(r, asJSON)
}
