package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/spf13/pflag"
)

// restored returns the session that was saved beside a recording, or nil if
// there is none. Flags override the session.
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

// keep saves the windows of the Analyzer beside the recording, if they have
// changed. If it can't, it only prints a message: the recording may belong to
// another user.
func keep(t terminal, path string, before, now *session.State) {
	began, beganErr := before.Marshal()
	data, err := now.Marshal()
	if err == nil && beganErr == nil && bytes.Equal(data, began) {
		return
	}
	if err = errors.Join(err, now.Save(path)); err != nil {
		termtext.Fprintf(t.err, "cpprof: the windows can't be saved for the next time: %v\n", err)
	}
}
