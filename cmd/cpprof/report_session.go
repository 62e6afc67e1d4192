package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/pflag"
)

// withSession are the flags that go with --session. A session has its own steps, span, accounting, and so on.
var withSession = []string{"session", "json", "color", "config"}

// replay shows the windows of the session that 'cpprof view' keeps beside a recording.
func (f *reportFlags) replay(t terminal, flags *pflag.FlagSet, path string) error {
	var others []string
	flags.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(withSession, flag.Name) {
			others = append(others, "--"+flag.Name)
		}
	})
	if len(others) > 0 {
		return usagef("--session shows what 'cpprof view' was left with: it can't be had together with %s", strings.Join(others, ", "))
	}
	color, err := f.useColor(t)
	if err != nil {
		return err
	}
	state, err := session.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := openRecording(path); err != nil {
			return err
		}
		return fmt.Errorf("%s has no session yet: 'cpprof view %s' keeps one", path, shellWord(path))
	}
	if err != nil {
		return err
	}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	s.options = state.Configure(s.config)
	if err := s.checkSpan(); err != nil {
		return err
	}
	if !f.json {
		if err := report.Headline(t.out, path, s.recording); err != nil {
			return err
		}
		if len(state.Windows) == 0 {
			fmt.Fprintln(t.out, "The session has no windows.")
		}
	}
	for i := range state.Windows {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		if err := f.showWindow(t, s, &state.Windows[i], color); err != nil {
			return err
		}
	}
	return nil
}

// showWindow writes what one window shows, and what can't be shown any more.
func (f *reportFlags) showWindow(t terminal, s *source, w *session.Window, color bool) error {
	if w.Locks {
		return f.showLocks(t, s)
	}
	v, err := s.windowView(w)
	var unknown *views.UnknownClassError
	var gone *otherError
	if errors.As(err, &unknown) || errors.As(err, &gone) { // classes were made by another rule, or the other recording was there
		fmt.Fprintf(t.err, "cpprof: a window is left out: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	replayed, failed := w.Replay(v.Tree, v.aspects)
	warnings := v.Warnings
	for _, err := range failed {
		warnings = append(warnings, sampledata.Warning{Kind: "step", Message: "left out: " + err.Error(), Count: 1})
	}
	var p report.Report = &report.Profile{
		Session: replayed, Labels: w.Labels, Title: title(s, v), Warnings: warnings, Color: color,
	}
	if w.Against != "" {
		c := report.ComparePart(replayed, s.options, s.path, w.Other(s.path))
		c.Labels, c.Warnings, c.Color = w.Labels, warnings, color
		p = c
	}
	if f.json {
		return p.WriteJSON(t.out)
	}
	return p.Write(t.out)
}

// showLocks writes all locks.
func (f *reportFlags) showLocks(t terminal, s *source) error {
	a, err := locks.Analyse(s.recording, s.options)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if f.json {
		return report.LocksJSON(t.out, s.recording, a)
	}
	return report.Locks(t.out, s.recording, a, 0)
}

// windowView builds a window's view, merged with the other recording's where the window compares two. An error of reading that
// is an *otherError.
func (s *source) windowView(w *session.Window) (*view, error) {
	if w.Against == "" {
		return s.withAspects(w.View(s.recording, s.options))
	}
	other, err := openRecording(w.Other(s.path))
	if err != nil {
		return nil, &otherError{err}
	}
	return s.withAspects(w.Compared(s.recording, other, s.options))
}

// An otherError says why there is no other recording to compare with.
type otherError struct{ error }
