//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// The saved session applies unless a flag overrides it.
func TestFlagsComeBeforeTheSession(t *testing.T) {
	folder := filepath.Join(recordingOfBob(t), "bob.cpprof")
	kept := &session.State{
		Options: views.Options{Accounting: views.Single, Classes: views.ClassBy{Site: true}, Span: views.Span{From: time.Second}},
		Windows: []session.Window{&session.Profile{Steps: []refine.Step{{Kind: refine.KindDown, Text: "*"}}}, &session.Profile{Class: "go:x"}},
		Active:  1,
	}
	fixture.Check(t, kept.Save(folder))
	var f viewFlags
	c := &cobra.Command{}
	f.addView(c, terminal{})
	fixture.Check(t, c.ParseFlags([]string{"--set", "accounting=processors", "--span", ",1.2s"}))
	s := fixture.Must(f.open(folder))(t)
	state := fixture.Must(f.restored(c.Flags(), s))(t)
	want := views.Options{Accounting: views.Processors, Classes: views.ClassBy{Site: true}, Span: views.Span{To: 1200 * time.Millisecond}}
	if o := state.Options; o.Accounting != want.Accounting || o.Classes != want.Classes || o.Span != want.Span {
		t.Errorf("the options are %+v, want %+v", o, want)
	}
	if !state.Front("go:x") || state.Active != 2 || state.Front("go:y") || (*session.State)(nil).Front("go:x") {
		t.Errorf("window %d is in front", state.Active)
	}
}

// A session that can't be read is an error. Only --fresh ignores
// and replaces it.
func TestViewOfADamagedSession(t *testing.T) {
	folder := filepath.Join(recordingOfBob(t), "bob.cpprof")
	fixture.Check(t, os.WriteFile(session.Path(folder), []byte("{"), 0o666))
	t.Setenv("TERM", "xterm")
	var errs strings.Builder
	status := run(t.Context(), []string{"view", folder}, terminal{err: &errs, inIsTerminal: true, outIsTerminal: true})
	if status != exitFailed || !strings.Contains(errs.String(), "add --fresh to ignore") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

func TestKeep(t *testing.T) {
	folder := t.TempDir()
	before := &session.State{Options: views.Options{Accounting: views.Single}}
	after := &session.State{Options: before.Options, Windows: []session.Window{new(session.Profile)}}
	var errs strings.Builder
	keep(terminal{err: &errs}, folder, before, before)
	if _, err := session.Load(folder, tui.SessionKinds()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing has changed, but the session is written: %v", err)
	}
	keep(terminal{err: &errs}, folder, before, after)
	if s, err := session.Load(folder, tui.SessionKinds()); err != nil || len(s.Windows) != 1 || errs.Len() > 0 {
		t.Errorf("%v: %+v: %s", err, s, errs.String())
	}
	keep(terminal{err: &errs}, filepath.Join(folder, "gone"), before, after)
	if !strings.Contains(errs.String(), "cpprof: the windows can't be saved for the next time: ") {
		t.Errorf("it says %q", errs.String())
	}
}
