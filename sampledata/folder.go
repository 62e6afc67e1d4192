package sampledata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// The files of a recording's folder.
const (
	stringsFile = "Strings"
	samplesFile = "SampleData"
)

// Files of other packages in a recording's folder. Readers of a
// recording ignore them; Replace removes them together with
// their recording.
const (
	SessionFile = "Session.json" // a person's settings and notes (package session)
	// what the recorded program wrote, if the terminal was not free for it
	OutputFile = "Output"
)

// A folder is the folder of a recording that is being written.
// It is locked: no second recording is written into it.
type folder struct {
	path             string
	lock             *os.File // nil if the system can't lock folders
	strings, samples *file
}

// newFolder makes the folder and its files. An existing folder
// must be empty. If replace is set, it may contain a recording,
// but none that is being written.
func newFolder(path string, replace bool) (*folder, error) {
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	d := &folder{path: path, lock: lock}
	if err := d.fill(replace); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *folder) fill(replace bool) error {
	entries, err := recordingFiles(d.path)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !replace {
		return errors.New("it exists: remove it, or choose another name")
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(d.path, e.Name())); err != nil {
			return err
		}
	}
	if d.strings, err = newFile(d.path, stringsFile); err != nil {
		return err
	}
	d.samples, err = newFile(d.path, samplesFile)
	return err
}

// close syncs the files to the disk and closes them. It returns
// an error if they were removed or moved.
func (d *folder) close() error {
	var errs []error
	for _, f := range []*file{d.strings, d.samples} {
		if f != nil {
			errs = append(errs, f.close())
		}
	}
	syncFolder(d.path)
	syncFolder(filepath.Dir(d.path))
	if d.lock != nil {
		errs = append(errs, d.lock.Close()) // which unlocks it
	}
	return errors.Join(errs...)
}

// syncFolder makes names in a folder durable, if the system
// supports this. If it doesn't, files are lost only if the
// machine fails.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// A file is a file of a recording that is being written. If
// somebody removes it, its writes fail. An os.File's writes
// would succeed, and the data would be lost.
type file struct {
	*os.File
}

func newFile(dir, name string) (*file, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &file{f}, nil
}

// Write appends to the file. It fails if the file was removed or replaced.
func (f *file) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if err == nil {
		err = f.inPlace()
	}
	return n, err
}

func (f *file) close() error {
	err := f.Sync()
	if gone := f.inPlace(); gone != nil {
		err = gone
	}
	return errors.Join(err, f.Close())
}

// inPlace returns an error if the file or its folder was removed
// or replaced since the file was made.
func (f *file) inPlace() error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	current, err := os.Lstat(f.Name())
	switch {
	case err == nil && os.SameFile(own, current):
		return nil
	case err == nil:
		return fmt.Errorf("%s was replaced while the recording was made: what was recorded is lost; record into a folder of its own", f.Name())
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was removed or moved while the recording was made", f.Name())
	}
	return err
}

// Replaceable returns the reason why Replace would not replace
// dir; nil if it would.
func Replaceable(dir string) error {
	if _, err := recordingFiles(dir); err != nil {
		return err
	}
	lock, err := lockFolder(dir)
	if err != nil || lock == nil {
		return err
	}
	return lock.Close()
}

// recordingFiles lists the files of a recording's folder. It
// returns an error if there are other files.
func recordingFiles(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s exists and is not a folder (%w): choose another name", dir, err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{stringsFile, samplesFile, SessionFile, OutputFile}, e.Name()) {
			return nil, fmt.Errorf(
				"the folder exists and contains other files, such as %s: choose another name",
				e.Name())
		}
	}
	return entries, nil
}

// errBusy is the error of lockFolder if another recording is
// being written into the folder.
var errBusy = errors.New("another recording is being written into it: wait until that ends, or choose another name")
