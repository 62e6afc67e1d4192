package session

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/sampledata"
)

// Path returns the path of a recording's session: in its folder
// or, if the recording is a single file, beside it.
func Path(recording string) string {
	if info, err := os.Stat(recording); err == nil && !info.IsDir() {
		return recording + "." + sampledata.SessionFile
	}
	return filepath.Join(recording, sampledata.SessionFile)
}

// Load reads the session of a recording. Its windows must be of
// the given kinds. If there is no session, the error wraps
// fs.ErrNotExist.
func Load(recording string, kinds []Kind) (*State, error) {
	path := Path(recording)
	data, err := files.Read(path, maxFile+1)
	if err != nil {
		return nil, fmt.Errorf("reading session: %w", err)
	}
	s, err := Parse(data, kinds)
	if err != nil {
		return nil, fmt.Errorf("reading session %s: %w", path, err)
	}
	return s, nil
}

// Save writes the session of a recording, and replaces an
// earlier one. Readers see either the old file or the new one.
func (s *State) Save(recording string) error {
	data, err := s.Marshal()
	if err == nil {
		err = files.Replace(Path(recording), data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("saving session: %w", err)
	}
	return nil
}

// Others reads the recordings with which a recording is
// compared. It reads each one once, even if several windows show
// it.
type Others struct {
	open func(path string) (*sampledata.Recording, error)

	mu        sync.Mutex
	read      map[string]*sampledata.Recording // by absolute path
	mentioned map[*sampledata.Recording]bool   // see firstMention
}

// NewOthers returns an Others that reads recordings with open.
func NewOthers(open func(path string) (*sampledata.Recording, error)) *Others {
	return &Others{open: open, read: make(map[string]*sampledata.Recording),
		mentioned: make(map[*sampledata.Recording]bool)}
}

// Add adds a recording that was already read.
func (o *Others) Add(path string, r *sampledata.Recording) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read[key(path)] = r
}

// Open returns the recording at a path. If it couldn't read the
// recording before, it tries again.
func (o *Others) Open(path string) (*sampledata.Recording, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.read[key(path)]; known != nil {
		return known, nil
	}
	r, err := o.open(path)
	if err == nil {
		o.read[key(path)] = r
	}
	return r, err
}

// firstMention reports whether this is its first call for a
// recording. Open must have returned the recording before.
func (o *Others) firstMention(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.read[key(path)]
	first := !o.mentioned[r]
	o.mentioned[r] = true
	return first
}

func key(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
