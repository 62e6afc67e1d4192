package interchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/klauspost/compress/gzip"
)

// mistaken are files that cpprof doesn't read, by their beginning.
var mistaken = []struct {
	begins *regexp.Regexp
	text   string
}{
	{regexp.MustCompile(`^$`), "it is empty"},
	{regexp.MustCompile("^(?:\x7fELF|MZ)"),
		"it is a program: 'cpprof record -- PROGRAM' makes a recording of it"},
	{regexp.MustCompile(`^\\\*M\x18\x14\x00\x00\x00CPS[TD]`),
		"it is a file of a recording: give the folder that it is in"},
	// what net/http/pprof writes for people, but goroutines with debug=2
	{regexp.MustCompile(`^(?:--- (?:mutex|contention):\n|heap profile: \d+: |[a-z]+ profile: total \d)`),
		"it is the text that debug=1 makes of a profile: cpprof reads the profile itself, without debug=1 in its URL"},
}

// headSize is the number of bytes of a file that are read to
// find its format.
const headSize = 4096

// An Input is a file, folder or stream to read. As an io.Reader
// it returns the content of a file, uncompressed if the file is
// compressed by gzip.
type Input struct {
	Name   string  // the name in errors: a path, or "standard input"
	Format *Format // the format in which it is read
	start  Start
	plain  io.Reader
	raw    *meter    // nil for a folder
	file   io.Closer // nil for a stream
	size   int64     // of the file; 0 if it is not known
	begun  error     // of reading the beginning, if that is not the whole file
	last   byte      // the last byte that was read
	got    int64     // number of bytes that were read

	compressed bool
}

// A meter counts the bytes that are read, and tells them to a
// function if there is one.
type meter struct {
	in   io.Reader
	read int64
	tell func(read int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	m.read += int64(n)
	if m.tell != nil {
		m.tell(m.read)
	}
	return n, err
}

// Start is the beginning of a file, from which formats are recognised.
type Start struct {
	Folder bool
	Bytes  []byte // the first bytes of a file, uncompressed; at most headSize
}

// cut reports whether the file may have more bytes.
func (s Start) cut() bool { return len(s.Bytes) == headSize }

// firstLine returns the first line that is neither empty nor a
// comment ("#"), without blanks around it.
func (s Start) firstLine() string {
	for line := range bytes.Lines(s.Bytes) {
		if text := string(bytes.TrimSpace(line)); text != "" && text[0] != '#' {
			return text
		}
	}
	return ""
}

// Open opens a file or folder. It uses the format of the given
// name or, for Auto, finds the format from the content. The
// error for an unknown name is a *FormatError.
func Open(path, format string) (*Input, error) {
	if err := known(format); err != nil {
		return nil, err
	}
	file, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no recording %s: make one with 'cpprof record -o %s -- PROGRAM'", path, path)
	}
	if err != nil {
		return nil, err
	}
	in := &Input{Name: path}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		in.start.Folder = true
	} else if err == nil {
		if in, err = newInput(file, path); err == nil && info.Mode().IsRegular() {
			in.size = info.Size()
		}
	}
	if err != nil {
		err = fmt.Errorf("reading %s: %w", path, err)
	} else {
		in.file = file
		err = in.as(format)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return in, nil
}

// Stream is like Open for a file that is already open, such as
// standard input. The caller closes the file.
func Stream(r io.Reader, name, format string) (*Input, error) {
	if err := known(format); err != nil {
		return nil, err
	}
	in, err := newInput(r, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return in, in.as(format)
}

// ReadRecording reads a recording in any format.
func ReadRecording(path string) (*sampledata.Recording, error) {
	in, err := Open(path, Auto)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.Recording(Options{})
}

func known(format string) error {
	if format == Auto {
		return nil
	}
	_, err := Lookup(format)
	return err
}

// newInput reads the beginning of a file.
func newInput(r io.Reader, name string) (*Input, error) {
	in := &Input{Name: name, raw: &meter{in: r}}
	raw := bufio.NewReaderSize(in.raw, headSize)
	magic, err := raw.Peek(2)
	if err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("compressed by gzip, but damaged: %w", err)
		}
		raw, in.compressed = bufio.NewReaderSize(z, headSize), true
	}
	in.plain = raw
	if in.start.Bytes, in.begun = raw.Peek(headSize); errors.Is(in.begun, io.EOF) {
		in.begun = nil
	}
	return in, nil
}

// as chooses the format.
func (in *Input) as(name string) (err error) {
	if name != Auto {
		in.Format, err = Lookup(name)
		if err == nil && in.start.Folder && !in.Format.Sniff(in.start) {
			err = fmt.Errorf("reading %s: it is a folder, not %s: leave out --format", in.Name, in.Format.Title)
		}
		return err
	}
	for _, f := range formats {
		if f.Sniff(in.start) {
			in.Format = f
			return nil
		}
	}
	if in.begun != nil {
		return fmt.Errorf("reading %s: it is damaged, or cut off after byte %d: %w",
			in.Name, in.raw.read, in.begun)
	}
	for _, m := range mistaken {
		if m.begins.Match(in.start.Bytes) {
			return fmt.Errorf("reading %s: %s", in.Name, m.text)
		}
	}
	return fmt.Errorf("reading %s: its beginning, %.20q, matches none of the formats that cpprof reads: %s; "+
		"if you know the format, name it with --format", in.Name, in.start.Bytes,
		strings.Join(Names()[1:], ", "))
}

// Size returns the number of bytes of a file, as it is on the
// disk; 0 for folders and streams.
func (in *Input) Size() int64 { return in.size }

// Close closes the file.
func (in *Input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

func (in *Input) Read(p []byte) (int, error) {
	n, err := in.plain.Read(p)
	if n > 0 {
		in.last = p[n-1]
	}
	if in.got += int64(n); in.compressed && in.got > maxPlain+maxRatio*in.raw.read {
		return n, &bombError{in.got, in.raw.read}
	}
	return n, err
}

// A compressed file may become maxPlain bytes plus maxRatio
// times its size. Files of profilers shrink to a twentieth at
// best; small ones may shrink more. Without a bound, a file of 8
// MB could take minutes.
const maxPlain, maxRatio = 256 << 20, 32

// A bombError says that a compressed file becomes much larger
// than such files do.
type bombError struct{ plain, compressed int64 }

func (e *bombError) Error() string {
	return fmt.Sprintf("its first %d bytes decompress to more than %d MB, as no profile does: if you trust the file, decompress it first (gunzip)",
		e.compressed, e.plain>>20)
}

// Recording reads the recording in the input.
func (in *Input) Recording(o Options) (*sampledata.Recording, error) {
	if in.raw != nil {
		in.raw.tell = o.Progress
	}
	r, err := in.Format.Read(in, o)
	if err == nil && r.Profile != nil {
		r.Profile.Title = in.Format.Title
	}
	if err == nil && in.Format.Lines && in.last != '\n' {
		warnCut(r, "its last line has no end")
	}
	if err != nil && !in.start.Folder {
		return nil, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	return r, err
}

// warnCut adds a warning that the file of a recording seems to
// be cut, unless it has one: the first reason is the more
// specific one.
func warnCut(r *sampledata.Recording, why string) {
	isCut := func(w sampledata.Warning) bool { return w.Kind == sampledata.CutFile }
	if !slices.ContainsFunc(r.Warnings, isCut) {
		r.Warnings = append(r.Warnings,
			sampledata.Warning{Kind: sampledata.CutFile, Message: why, Count: 1})
	}
}
