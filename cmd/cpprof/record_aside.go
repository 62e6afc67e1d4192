package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/cpprof/cpprof/sampler"
)

// A targetLog takes what a launched program writes while the Analyzer has the terminal.
type targetLog struct{ *os.File }

// aside gives a launched program what it has in place of the terminal: no input, and a file for its output, beside the
// recording. Errors that go elsewhere still do.
func (f *recordFlags) aside(t terminal, command []string) (terminal, *targetLog, error) {
	if len(command) == 0 {
		if f.child != "" || f.followExec {
			return t, nil, errFollowed
		}
		return t, nil, nil
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return t, nil, err
	}
	if f.follows(program, command[1:]) || f.followExec {
		return t, nil, errFollowed
	}
	f.outputs.given = f.outputs.base(program) // the date may be another one later
	if err := f.outputs.settle(program); err != nil {
		return t, nil, err
	}
	mode := os.O_EXCL
	if f.outputs.force {
		mode = os.O_TRUNC
	}
	file, err := os.OpenFile(f.outputs.given+".log", os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if err != nil {
		return t, nil, fmt.Errorf("the program's output can't be written: %w: give another name with -o, or replace it with --force", err)
	}
	t.in, t.out = nil, file
	if t.errIsTerminal {
		t.err = file
	}
	return t, &targetLog{file}, nil
}

var errFollowed = errors.New("--view shows one program, and can't follow others: leave --view out, or record the program itself")

// close says where the output is, or takes the file away where there is none.
func (l *targetLog) close(t terminal) {
	if l == nil {
		return
	}
	info, err := l.Stat()
	l.Close()
	if err == nil && info.Size() == 0 {
		_ = os.Remove(l.Name())
		return
	}
	fmt.Fprintf(t.err, "cpprof: the program's output is in %s\n", l.Name())
}
