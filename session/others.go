package session

import (
	"path/filepath"
	"sync"

	"github.com/cpprof/cpprof/sampledata"
)

// Others are the recordings that a recording is compared with. Each is read once, however many windows show it.
type Others struct {
	open func(path string) (*sampledata.Recording, error)

	mu   sync.Mutex
	read map[string]*other // by absolute path
}

type other struct {
	recording *sampledata.Recording
	told      bool // see Others.tell
}

// NewOthers returns the recordings that open reads.
func NewOthers(open func(path string) (*sampledata.Recording, error)) *Others {
	return &Others{open: open, read: make(map[string]*other)}
}

// Add adds a recording that is read already.
func (o *Others) Add(path string, r *sampledata.Recording) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read[key(path)] = &other{recording: r}
}

// Open returns the recording at a path. It tries again to read one that it couldn't read before.
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

// tell reports whether it is the first time that it is called for a recording, which Open has returned.
func (o *Others) tell(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.read[key(path)]
	first := !known.told
	known.told = true
	return first
}

func key(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
