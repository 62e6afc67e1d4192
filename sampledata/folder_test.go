package sampledata

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Two recordings are never written into one folder at the same
// time, even if both may replace an existing one.
func TestFolderIsLocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows itself keeps files that are being written from being removed")
	}
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w := fixture.Must(Replace(name, testHeader()))(t)
	if _, err := Replace(name, testHeader()); !errors.Is(err, errBusy) {
		t.Errorf("a second recording into the folder: %v", err)
	}
	if err := Replaceable(name); !errors.Is(err, errBusy) {
		t.Errorf("the folder counts as replaceable: %v", err)
	}
	fixture.Check(t, w.Finish(End{Cause: EndDuration}))
	if err := Replaceable(name); err != nil {
		t.Error(err)
	}
	again := fixture.Must(Replace(name, testHeader()))(t)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// If the files of a recording are removed or replaced, the next
// write and the end fail, since the data is lost.
func TestRemovedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove files that are being written")
	}
	for how, take := range map[string]func(dir string) error{
		"was removed": os.RemoveAll,
		"was replaced": func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			w, err := Create(dir, testHeader())
			if err != nil {
				return err
			}
			return w.Close()
		},
	} {
		for _, idle := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "r.cpprof")
			w := fixture.Must(Create(name, testHeader()))(t)
			fixture.Check(t, take(name))
			if !idle {
				fixture.Check(t, w.Sample(Sample{}, nil))
				w.flushLate()
				w.backlog.wait()
				if err := w.Sample(Sample{}, nil); err == nil || !strings.Contains(err.Error(), how) {
					t.Errorf("a sample after the recording %s: %v", how, err)
				}
			}
			if err := w.Finish(End{}); err == nil || !strings.Contains(err.Error(), how) {
				t.Errorf("the end of a recording that %s: %v", how, err)
			}
		}
	}
}
