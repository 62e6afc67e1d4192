package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// A targetLog is the file for the output of a launched program
// while the Analyzer uses the terminal.
type targetLog struct {
	*os.File
	path string // the file's present path
}

// redirectTarget returns what a launched program gets in place
// of the terminal: no input, and a file for its output. Its
// errors go to the file only if they would go to the terminal.
// The program starts before the recording exists; moveInto moves
// the file into the recording later.
func (f *recordFlags) redirectTarget(t terminal, command []string) (terminal, *targetLog, error) {
	if f.child != "" || f.followExec {
		return t, nil, errFollowed
	}
	if err := f.checkSingle(command, errFollowed); err != nil || len(command) == 0 {
		return t, nil, err
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return t, nil, err
	}
	f.outputs.given = f.outputs.base(program) // fixed now, since the date in it changes
	if err := f.outputs.check(program); err != nil {
		return t, nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(f.outputs.given), ".cpprof-output-*")
	if err != nil {
		return t, nil, fmt.Errorf("the program's output can't be written: %w: give another name with -o", err)
	}
	t.in, t.out = nil, file
	if t.errIsTerminal {
		t.err = file
	}
	return t, &targetLog{file, file.Name()}, nil
}

// moveInto moves the file into a recording. If the system can't
// move an open file, the file stays where it is.
func (l *targetLog) moveInto(recording string) {
	if l == nil {
		return
	}
	path := filepath.Join(recording, sampledata.OutputFile)
	if os.Rename(l.path, path) == nil {
		l.path = path
	}
}

var errFollowed = errors.New("--view shows one program, and can't follow others: leave --view out, or record the program itself")

// close prints where the output is, or removes the file if it is empty.
func (l *targetLog) close(t terminal) {
	if l == nil {
		return
	}
	info, err := l.Stat()
	l.Close()
	if err == nil && info.Size() == 0 {
		_ = os.Remove(l.path)
		return
	}
	tell(t.err, "the program's output is in %s", l.path)
}
