package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// outputs names the recordings that one call makes: as -o says,
// or after the program and the date. If several would have the
// same name, they are numbered: run.cpprof, run.2.cpprof, and so
// on.
type outputs struct {
	given string // the name that -o gives, or ""
	force bool   // replace a recording that exists

	mu    sync.Mutex
	taken map[string]bool
}

// check returns an error if the recording of a program can't be
// written. It is called before the program is touched. To find
// out, it creates the folder, and removes it again.
func (o *outputs) check(program string) error {
	name := o.base(program)
	_, err := os.Lstat(name)
	switch {
	case err == nil && !o.force:
		return fmt.Errorf("%s already exists: give another name with -o, or replace it with --force", name)
	case err == nil:
		if err := sampledata.Replaceable(name); err != nil {
			return fmt.Errorf("replace %s: %w", name, err)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(name)
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s to write the recording into: give another name with -o", parent)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		return fmt.Errorf("the recording can't be written: %w: give another name with -o", err)
	}
	return os.Remove(name)
}

func (o *outputs) base(program string) string {
	if o.given != "" {
		return o.given
	}
	return strings.TrimSuffix(filepath.Base(program), ".exe") +
		time.Now().Format("-20060102-150405") + ".cpprof"
}

// claim returns a name that is free, and reserves it.
func (o *outputs) claim(program string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	base := o.base(program)
	name := base
	for n := 2; !o.free(name); n++ {
		stem, isRecording := strings.CutSuffix(base, ".cpprof")
		name = stem + "." + strconv.Itoa(n)
		if isRecording {
			name += ".cpprof"
		}
	}
	if o.taken == nil {
		o.taken = map[string]bool{}
	}
	o.taken[name] = true
	return name
}

func (o *outputs) free(name string) bool {
	if o.taken[name] {
		return false
	}
	_, err := os.Lstat(name)
	return o.force || errors.Is(err, fs.ErrNotExist)
}

// release frees a name that was claimed and not used.
func (o *outputs) release(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.taken, name)
}

// discard removes a recording that has no samples, and frees its name.
func (o *outputs) discard(name string) error {
	defer o.release(name)
	return os.RemoveAll(name)
}

// create begins a recording. After an error, nothing is left of it.
func (o *outputs) create(name string, h sampledata.Header) (*sampledata.Writer, error) {
	_, missing := os.Lstat(name)
	create := sampledata.Create
	if o.force {
		create = sampledata.Replace
	}
	w, err := create(name, h)
	if err != nil && errors.Is(missing, fs.ErrNotExist) { // otherwise it is somebody else's
		err = errors.Join(err, os.RemoveAll(name))
	}
	return w, err
}
