package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/files"
)

// What comes out of the container is a tar archive: what cpprof
// printed, the files of the recording, and cpprof's exit status.
// Without the status, it is not whole.
const (
	outputEntry     = "output"
	recordingPrefix = "recording/"
	statusEntry     = "status"
)

// send writes the archive. The recording may be missing.
func send(w io.Writer, output, recording string, status int) error {
	t := tar.NewWriter(w)
	if err := files.Tar(t, outputEntry, output); err != nil {
		return err
	}
	list, err := os.ReadDir(recording)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range list {
		if err := files.Tar(t, recordingPrefix+e.Name(), filepath.Join(recording, e.Name())); err != nil {
			return err
		}
	}
	text := strconv.Itoa(status)
	if err := t.WriteHeader(&tar.Header{Name: statusEntry, Size: int64(len(text)), Mode: 0o600}); err != nil {
		return err
	}
	if _, err := io.WriteString(t, text); err != nil {
		return err
	}
	return t.Close()
}

// recordingFile matches the names of a recording's files.
var recordingFile = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]*$`)

// maxStatus bounds the entry with the status, in bytes.
const maxStatus = 10

// maxReceived bounds what an archive becomes, in bytes. A few
// bytes of one can stand for a file of any size with holes.
const maxReceived = 1 << 30

// receive reads the archive. It prints the output, writes the
// recording into a new folder, and returns the status. After an
// error there is no such folder.
func receive(r io.Reader, out io.Writer, folder string) (status int, err error) {
	made := false
	defer func() {
		if err != nil && made {
			os.RemoveAll(folder)
		}
	}()
	left := int64(maxReceived)
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		if left -= h.Size; left < 0 {
			return 0, fmt.Errorf("the container sent more than %d MB with %q: record for a shorter time, or copy the recording by 'kubectl cp'",
				maxReceived>>20, h.Name)
		}
		name, ofRecording := strings.CutPrefix(h.Name, recordingPrefix)
		switch {
		case h.Name == outputEntry:
			if _, err := io.Copy(out, t); err != nil {
				return 0, err
			}
		case h.Name == statusEntry:
			text, err := io.ReadAll(io.LimitReader(t, maxStatus))
			if err != nil {
				return 0, err
			}
			return strconv.Atoi(string(text))
		case ofRecording && h.Typeflag == tar.TypeReg && folder != "" && recordingFile.MatchString(name):
			if !made {
				if err := os.Mkdir(folder, 0o777); err != nil {
					return 0, err
				}
				made = true
			}
			if err := writeNew(filepath.Join(folder, name), t); err != nil {
				return 0, err
			}
		default:
			return 0, fmt.Errorf("the container sent %q, which belongs to no recording", h.Name)
		}
	}
}

func writeNew(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
