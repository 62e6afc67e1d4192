//go:build linux && (amd64 || arm64)

package snapshot

import (
	"os"

	"github.com/cpprof/cpprof/sampler/snapshot/learned"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

// A codeMemory has what recordings have learned about the
// target's code, in a folder of the user's.
type codeMemory struct {
	store *learned.Store // nil if nothing is kept
	key   string
}

// Remember makes the backend begin with what earlier recordings
// of the same executable have learned about its code, and keep
// what it learns, when it is closed. A folder that can't be
// used, or that others can write to, changes nothing: then the
// code is learned anew.
func (b *Backend) Remember(dir string) {
	ids := [2]string{}
	for i, path := range []string{b.t.Path("exe"), "/proc/self/exe"} {
		if ids[i] = buildID(path); ids[i] == "" {
			return
		}
	}
	if b.t.bin.Bias != 0 {
		return // what is known has addresses, and those are others in each run
	}
	store, err := learned.Open(dir)
	if err != nil {
		return
	}
	b.memory = codeMemory{store, learned.KeyOf(ids[:]...)}
	if data := store.Load(b.memory.key); data != nil {
		_ = b.goroutines.finder.Remember(data) // what can't be read is learned anew
	}
}

// buildID returns the ID of an executable; "" if it has none or
// can't be read.
func buildID(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	id, err := gobinary.BuildID(f)
	if err != nil {
		return ""
	}
	return id
}

// keep saves what is known, if anything was learned.
func (m *codeMemory) keep(b *Backend) {
	if m.store != nil && b.goroutines.finder.Spent() > 0 {
		// without it, the next recording learns that again
		_ = m.store.Save(m.key, b.goroutines.finder.AppendKnown(nil))
	}
}
