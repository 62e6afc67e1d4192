//go:build linux

// Package learned keeps what recordings have learned about
// programs in a folder of the user's, so that the next recording
// of the same program starts with it. What is lost or damaged is
// learned again: so nothing here is an error for a recording.
//
//	s, err := learned.Open(dir)          // a folder that nobody else can write to
//	data := s.Load(key)                  // nil if there is nothing, or nothing whole
//	err = s.Save(key, data)
//
// Files are checked before they are used: they must be this
// user's, not too large, and end with the hash of what they
// hold.
package learned

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/files"
)

// Bounds of what is kept. The files that were used least
// recently are removed first.
const (
	MaxSize = 4 << 20             // bytes of one file
	maxAll  = 32 << 20            // bytes of all files
	maxAge  = 30 * 24 * time.Hour // since a file was last used
)

const suffix = ".learned"

// A Store is a folder with what was learned.
type Store struct{ dir string }

// Open opens a folder, and makes it if it doesn't exist. It
// refuses a folder that others can write to.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !private(info) {
		return nil, fmt.Errorf("opening %s: it is not a folder that only this user can write to",
			dir)
	}
	return &Store{dir}, nil
}

// private reports whether a file belongs to this user, and
// nobody else can write to it.
func private(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// KeyOf makes the key of a program from whatever distinguishes it.
func KeyOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s *Store) path(key string) string { return filepath.Join(s.dir, key+suffix) }

// Load returns what was saved for a key, nil if there is nothing
// that can be used.
func (s *Store) Load(key string) []byte {
	f, err := os.OpenFile(s.path(key), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !private(info) ||
		info.Size() > MaxSize+sha256.Size {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxSize+sha256.Size+1))
	if err != nil || len(b) < sha256.Size || len(b) > MaxSize+sha256.Size {
		return nil
	}
	data, want := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if got := sha256.Sum256(data); !bytes.Equal(got[:], want) {
		return nil
	}
	now := time.Now()
	os.Chtimes(s.path(key), now, now) // it was used
	return data
}

// Save keeps data for a key, and removes files that are too old
// or too many.
func (s *Store) Save(key string, data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("saving what was learned: %d bytes are more than %d", len(data), MaxSize)
	}
	sum := sha256.Sum256(data)
	if err := files.Replace(s.path(key), slices.Concat(data, sum[:]), 0o600); err != nil {
		return err
	}
	return s.prune(time.Now())
}

// prune removes files that are too old, and those used least
// recently if there is too much.
func (s *Store) prune(now time.Time) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	size := int64(0)
	for _, f := range files {
		if size += f.Size(); size > maxAll || now.Sub(f.ModTime()) > maxAge {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, f.Name())))
		}
	}
	return err
}
