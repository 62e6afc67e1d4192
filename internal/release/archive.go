package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
)

// An entry is one file of an archive, or a folder if it has no source.
type entry struct {
	name   string
	mode   int64
	source string
}

// writeTar writes entries in their order, without the owners and
// dates of this machine.
func (r *release) writeTar(w io.Writer, list []entry) error {
	all := tar.NewWriter(w)
	for _, e := range list {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: e.name, Mode: e.mode, ModTime: r.date,
			Format: tar.FormatUSTAR}
		var text []byte
		if e.source != "" {
			var err error
			if text, err = os.ReadFile(e.source); err != nil {
				return err
			}
			h.Typeflag, h.Size = tar.TypeReg, int64(len(text))
		}
		if err := all.WriteHeader(h); err != nil {
			return err
		}
		if _, err := all.Write(text); err != nil {
			return err
		}
	}
	return all.Close()
}

// entries returns the files of a folder, below another name of it.
func entries(folder, top string) ([]entry, error) {
	names, err := files(folder)
	return lists.Each(names, func(name string) entry {
		return entry{path.Join(top, name), mode(name), filepath.Join(folder, name)}
	}), err
}

// writeArchive writes the files of a folder.
func (r *release) writeArchive(to, folder string) error {
	list, err := entries(folder, strings.TrimSuffix(filepath.Base(to), ".tar.gz"))
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(r.writeTar(packed, list), packed.Close(), f.Close())
}

// mode returns the permissions of a file.
func mode(name string) int64 {
	if slices.Contains(programs, strings.TrimSuffix(name, ".exe")) {
		return 0o755
	}
	return 0o644
}

// writeChecksums writes the checksums of all files in a folder,
// as sha256sum reads them.
func writeChecksums(folder string) error {
	list, err := files(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range list {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(text.String()), 0o666)
}
