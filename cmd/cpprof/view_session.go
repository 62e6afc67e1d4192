package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/tui"
	"github.com/spf13/pflag"
)

// restored is the session that is kept beside a recording, nil where there is none. What the flags say comes before what
// it says.
func (f *viewFlags) restored(flags *pflag.FlagSet, s *source) (*session.State, error) {
	state, err := session.Load(s.path, tui.SessionKinds())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a file has nothing beside it
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --fresh does without it, and replaces it", err)
	}
	given, kept := s.options, &state.Options
	for name, take := range map[string]func(){
		"accounting": func() { kept.Accounting = given.Accounting },
		"by":         func() { kept.Granularity = given.Granularity },
		"class-by":   func() { kept.Classes = given.Classes },
		"no-inlines": func() { kept.NoInlines = given.NoInlines },
		"from":       func() { kept.Span = given.Span },
		"to":         func() { kept.Span = given.Span },
	} {
		if flags.Changed(name) {
			take()
		}
	}
	return state, nil
}

// keep writes what the Analyzer was left with beside the recording, where that is not what it began with. That it can't is
// no failure: the recording may be somebody else's.
func keep(t terminal, path string, before, now *session.State) {
	began, beganErr := before.Marshal()
	data, err := now.Marshal()
	if err == nil && beganErr == nil && bytes.Equal(data, began) {
		return
	}
	if err = errors.Join(err, now.Save(path)); err != nil {
		fmt.Fprintf(t.err, "cpprof: the windows can't be kept for the next time: %v\n", err)
	}
}
