package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Kept is a recording of the last seconds of a program.
type Kept struct {
	Name    string    `json:"name"` // of the recording, a folder
	Program string    `json:"program"`
	PID     int       `json:"pid"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	// Short says that memory allowed no more than these seconds.
	Short bool  `json:"short,omitempty"`
	End   bool  `json:"end,omitempty"` // it was kept since the program ended
	Bytes int64 `json:"bytes"`

	// The user who may have it: the one who could trace the program.
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// A Store is a folder with recordings. Only its owner can look
// into it, since they are not for everybody.
type Store struct {
	dir     string
	each    int   // recordings of a program, and as many of its ends
	space   int64 // bytes of all
	release func()

	mu   sync.Mutex
	list []Kept // the oldest first
}

// part is what a recording is called before it is in the list.
const part = ".part"

// OpenStore opens a folder, which it makes if there is none.
// What an agent left unfinished there is removed.
func OpenStore(dir string, each int, space int64) (*Store, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	release, err := ownFolder(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, each: each, space: space, release: release}
	names, err := os.ReadDir(dir)
	for _, n := range names {
		if strings.HasSuffix(n.Name(), part) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, n.Name())))
		}
		if k, ok := s.read(n.Name()); ok {
			s.list = append(s.list, k)
		}
	}
	slices.SortStableFunc(s.list, func(a, b Kept) int { return a.At.Compare(b.At) })
	if err = errors.Join(err, s.fit()); err != nil {
		release()
		return nil, err
	}
	return s, nil
}

// Close lets another agent have the folder.
func (s *Store) Close() { s.release() }

// NewPath returns the path for a recording that is to be added to a store.
func NewPath(dir string, pid int) string {
	return filepath.Join(dir, fmt.Sprintf("%d-%d%s", pid, time.Now().UnixNano(), part))
}

// read returns what is known of a recording, from the file beside it.
func (s *Store) read(name string) (k Kept, ok bool) {
	name, ok = strings.CutSuffix(name, ".json")
	if !ok {
		return k, false
	}
	text, err := os.ReadFile(filepath.Join(s.dir, name+".json"))
	if err != nil || json.Unmarshal(text, &k) != nil || k.Name != name {
		return k, false
	}
	info, err := os.Lstat(filepath.Join(s.dir, name))
	return k, err == nil && info.IsDir()
}

// add takes a recording from a path that NewPath returned. It
// removes older ones if there are too many, recordings of ends
// first.
func (s *Store) add(path string, k Kept) (Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := fmt.Sprintf("%s-%d-%s", plainName(k.Program), k.PID, k.At.Format("20060102-150405"))
	k.Name = base + ".cpprof"
	for n := 2; s.has(k.Name); n++ {
		k.Name = fmt.Sprintf("%s.%d.cpprof", base, n)
	}
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if info, failed := d.Info(); err == nil && failed == nil && info.Mode().IsRegular() {
			k.Bytes += info.Size()
		}
		return err
	})
	text, err := json.Marshal(k)
	if err == nil {
		err = os.Rename(path, filepath.Join(s.dir, k.Name))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, k.Name+".json"), text, 0o600)
	}
	if err != nil {
		return k, errors.Join(err, os.RemoveAll(path), os.RemoveAll(filepath.Join(s.dir, k.Name)))
	}
	s.list = append(s.list, k)
	return k, s.fit()
}

func (s *Store) has(name string) bool {
	_, err := os.Lstat(filepath.Join(s.dir, name))
	return err == nil
}

// fit removes recordings until they are as many as may be, and
// fit into the space.
func (s *Store) fit() (err error) {
	type group struct {
		program string
		end     bool
	}
	number, bytes := map[group]int{}, int64(0)
	for _, k := range s.list {
		number[group{k.Program, k.End}]++
		bytes += k.Bytes
	}
	drop := func(k Kept) bool {
		g := group{k.Program, k.End}
		if number[g] <= s.each && (bytes <= s.space || k.Name == s.list[len(s.list)-1].Name) {
			return false
		}
		number[g]--
		bytes -= k.Bytes
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, k.Name)),
			os.Remove(filepath.Join(s.dir, k.Name+".json")))
		return true
	}
	dropped := map[string]bool{}
	for _, ends := range []bool{true, false} { // these go first
		for _, k := range s.list {
			if k.End == ends {
				dropped[k.Name] = drop(k)
			}
		}
	}
	s.list = slices.DeleteFunc(s.list, func(k Kept) bool { return dropped[k.Name] })
	return err
}

// all returns the recordings that a user may have, the newest first.
func (s *Store) all(may func(Kept) bool) []Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Kept{}
	for _, k := range slices.Backward(s.list) {
		if may(k) {
			list = append(list, k)
		}
	}
	return list
}

// longestName limits the name of a program in the name of a recording.
const longestName = 64

// plainName returns the name of a program as a part of a file's
// name that means itself everywhere.
func plainName(path string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._+-", r)) {
			return r
		}
		return '_'
	}, filepath.Base(path))
	return strings.TrimLeft(name[:min(len(name), longestName)], ".-")
}
