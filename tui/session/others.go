package session

import (
	"path/filepath"
	"sync"

	"github.com/cpprof/cpprof/sampledata"
)

// Others reads the recordings with which a recording is compared. It reads each
// one once, even if several windows show it.
type Others struct {
	open func(path string) (*sampledata.Recording, error)

	mu   sync.Mutex
	read map[string]*other // by absolute path
}

type other struct {
	recording *sampledata.Recording
	mentioned bool // see Others.firstMention
}

// NewOthers returns an Others that reads recordings with open.
func NewOthers(open func(path string) (*sampledata.Recording, error)) *Others {
	return &Others{open: open, read: make(map[string]*other)}
}

// Add adds a recording that was already read.
func (o *Others) Add(path string, r *sampledata.Recording) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read[key(path)] = &other{recording: r}
}

// Open returns the recording at a path. If it couldn't read the recording
// before, it tries again.
func (o *Others) Open(path string) (*sampledata.Recording, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.read[key(path)]; known != nil {
		return known.recording, nil
	}
	r, err := o.open(path)
	if err == nil {
		o.read[key(path)] = &other{recording: r}
	}
	return r, err
}

// firstMention reports whether this is its first call for a recording. Open
// must have returned the recording before.
func (o *Others) firstMention(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.read[key(path)]
	first := !known.mentioned
	known.mentioned = true
	return first
}

func key(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
