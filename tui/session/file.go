package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/sampledata"
)

// Path returns the path of a recording's session: in its folder or, if the
// recording is a single file, beside it.
func Path(recording string) string {
	if info, err := os.Stat(recording); err == nil && !info.IsDir() {
		return recording + "." + sampledata.SessionFile
	}
	return filepath.Join(recording, sampledata.SessionFile)
}

// Load reads the session of a recording. Its windows must be of the given
// kinds. If there is no session, the error wraps fs.ErrNotExist.
func Load(recording string, kinds []Kind) (*State, error) {
	path := Path(recording)
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading session: %w", err)
	}
	s, err := Parse(data, kinds)
	if err != nil {
		return nil, fmt.Errorf("reading session %s: %w", path, err)
	}
	return s, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Save writes the session of a recording, and replaces an earlier one. Readers
// see either the old file or the new one.
func (s *State) Save(recording string) error {
	if err := s.save(Path(recording)); err != nil {
		return fmt.Errorf("saving session: %w", err)
	}
	return nil
}

func (s *State) save(path string) error {
	data, err := s.Marshal()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+sampledata.SessionFile+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
