package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/interchange"
)

// A form is what a weighted call tree is read from.
type form string

const (
	recordingForm form = "recording"
	pprofForm     form = "pprof"
	arcflowForm   form = "arcflow"
)

// String is what a headline calls it.
func (f form) String() string {
	switch f {
	case pprofForm:
		return "a profile"
	case arcflowForm:
		return "a trace"
	}
	return "a recording"
}

// formOf tells what an argument is: a folder is a recording, what is compressed a profile, anything else a trace.
func (f *treeFlags) formOf(path string) (form, error) {
	switch form := form(f.format); form {
	case "auto":
		return guessForm(path), nil
	case recordingForm, pprofForm, arcflowForm:
		return form, nil
	}
	return "", usagef("--format %q: want auto, recording, pprof or arcflow", f.format)
}

func guessForm(path string) form {
	in, err := os.Open(path)
	if err != nil {
		return recordingForm // opening it as one tells what is wrong
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.IsDir() {
		return recordingForm
	}
	head, _ := bufio.NewReader(in).Peek(2)
	if interchange.IsPprof(head) {
		return pprofForm
	}
	return arcflowForm
}

// file reads a tree that another tool made.
func (f *treeFlags) file(path string, form form) (*subject, error) {
	if f.server || f.thread != "" {
		return nil, usagef("%s is %v: it has no views; leave out --server and --thread", path, form)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var tree *calltree.Tree
	if form == pprofForm {
		tree, err = readProfile(in, f.meter)
	} else {
		tree, err = readTrace(in, f.meter)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &subject{path: path, tree: tree, title: "Calls of " + tree.Root(), form: form}, nil
}

func readTrace(in io.Reader, meter string) (*calltree.Tree, error) {
	if meter == "" {
		meter = "CPU time"
	}
	return calltree.ReadEvents(in, meter, meter)
}

// readProfile reads a profile, of which one sample type may be chosen.
func readProfile(in io.Reader, meter string) (*calltree.Tree, error) {
	tree, err := interchange.ReadPprof(in)
	if err != nil || meter == "" {
		return tree, err
	}
	var names []string
	for i, m := range tree.Metrics() {
		if m.Name == meter {
			return tree.Only(i), nil
		}
		names = append(names, m.Name)
	}
	return nil, usagef("--meter %q: the profile counts %s", meter, strings.Join(names, ", "))
}
