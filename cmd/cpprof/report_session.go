package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
			fmt.Fprintln(t.out, "The session has no profile windows.")
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

// showWindow writes one window's profile, and what can't be shown any more.
func (f *reportFlags) showWindow(t terminal, s *source, w *session.Window, color bool) error {
	v, err := s.withAspects(w.View(s.recording, s.options))
	var unknown *views.UnknownClassError
	if errors.As(err, &unknown) { // it was opened when classes were made by another rule
		fmt.Fprintf(t.err, "cpprof: a window is left out: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	replayed, failed := w.Replay(v.Tree, v.aspects)
	p := report.Profile{Session: replayed, Labels: w.Labels, Title: title(s, v), Warnings: v.Warnings, Color: color}
	for _, err := range failed {
		p.Warnings = append(p.Warnings, sampledata.Warning{Kind: "step", Message: "left out: " + err.Error(), Count: 1})
	}
	if f.json {
		return p.WriteJSON(t.out)
	}
	return p.Write(t.out)
}
