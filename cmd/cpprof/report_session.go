package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/pflag"
)

// withSession lists the flags that may be combined with --session. A session has its own steps, span, accounting, and so on.
var withSession = []string{"session", "json", "color", "config", "strict", "full-names"}

// replay prints the windows of the session that 'cpprof view' saved beside a recording.
func (f *reportFlags) replay(t terminal, flags *pflag.FlagSet, path string) error {
	var others []string
	flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(withSession, flag.Name) {
			others = append(others, "--"+flag.Name)
		}
	})
	if len(others) > 0 {
		return usagef("--session prints the windows that 'cpprof view' saved: it can't be combined with %s", strings.Join(others, ", "))
	}
	color, err := f.useColor(t)
	if err != nil {
		return err
	}
	state, err := session.Load(path, tui.SessionKinds())
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := f.recordingAt(path); err != nil {
			return err
		}
		return fmt.Errorf("%s has no session yet: 'cpprof view %s' saves one", path, words.Shell(path))
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
	if err := s.checkSpan(); err != nil {
		return err
	}
	if !f.json {
		if err := report.Headline(t.out, path, s.recording); err != nil {
			return err
		}
		if len(state.Windows) == 0 {
			termtext.Fprintln(t.out, "The session has no windows.")
		}
	}
	src := &session.Source{Path: path, Recording: s.recording, Whole: whole, Config: s.config, Options: s.options, Color: color, Width: f.nameWidth(t), Others: session.NewOthers(f.recordingAt)}
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

// showWindow writes the content of one window, or warns that it leaves the window out.
func showWindow(t terminal, src *session.Source, w session.Window, asJSON bool) error {
	r, err := w.Report(src)
	var strict *missingError
	if errors.As(err, &strict) {
		return err
	}
	var missing *session.MissingError
	if errors.As(err, &missing) { // the recording that it was compared with is gone
		termtext.Fprintf(t.err, "cpprof: a window is left out: %v\n", err)
		return nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", src.Path, err)
	}
	var unknown *views.UnknownClassError
	if errors.As(err, &unknown) { // the session had another --class-by
		termtext.Fprintf(t.err, "cpprof: a window is left out: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	if asJSON {
		return r.WriteJSON(t.out)
	}
	return r.Write(t.out)
}
