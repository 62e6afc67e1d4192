package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeArchive writes the files of a folder. Owners and dates are not those
// of this machine.
func (r *release) writeArchive(path, folder string) error {
	list, err := files(folder)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	all := tar.NewWriter(packed)
	top := strings.TrimSuffix(filepath.Base(path), ".tar.gz")
	for _, name := range list {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: top + "/" + filepath.ToSlash(name),
			Size: int64(len(text)), Mode: mode(name), ModTime: r.date, Format: tar.FormatUSTAR}
		if err := all.WriteHeader(h); err != nil {
			return err
		}
		if _, err := all.Write(text); err != nil {
			return err
		}
	}
	if err := all.Close(); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return f.Close()
}

// mode returns the permissions of a file.
func mode(name string) int64 {
	if name == "cpprof" || name == "cpprof.exe" {
		return 0o755
	}
	return 0o644
}

// writeChecksums writes the checksums of all files in a folder, as sha256sum
// reads them.
func writeChecksums(folder string) error {
	list, err := files(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range list {
		sum, err := checksum(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(text.String()), 0o666)
}

func checksum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
