package sampledata

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// Open reads the recording in the folder dir, which may still be
// growing. If a file is torn or damaged, the recording ends
// before the damage and End is nil. A warning of kind
// DamagedFile then says what is missing. If a header can't be
// read, Open returns an error.
//
// If the recording needs more than a quarter of the machine's
// memory, Open returns an error, too.
func Open(dir string) (*Recording, error) { return OpenWithin(dir, 0) }

// OpenWithin is Open with another bound on the recording's
// memory, in bytes. 0 stands for Open's bound.
func OpenWithin(dir string, maxMemory int64) (*Recording, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("read recording %s: it is not a folder: a recording is a folder with the files %s and %s", dir, stringsFile, samplesFile)
	}
	// Strings is written first, so its size is read last: it
	// then has all strings that SampleData needs.
	samples, err := openFile(filepath.Join(dir, samplesFile))
	if err != nil {
		return nil, err
	}
	defer samples.Close()
	texts, err := openFile(filepath.Join(dir, stringsFile))
	if err != nil {
		return nil, err
	}
	defer texts.Close()
	return read(texts, samples, memory.NewBudget(maxMemory))
}

// A source is one of the two files, with its size when it was opened.
type source struct {
	io.ReadSeekCloser
	path string
	size int64
}

func openFile(path string) (*source, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w: a recording has the files %s and %s",
			err, stringsFile, samplesFile)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is a folder, not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read recording: %s: %w", path, err)
	}
	return &source{f, path, info.Size()}, nil
}

func (s *source) frames(tag string, d *zstd.Decoder, budget *memory.Budget) *frameReader {
	return &frameReader{tag: tag, in: bufio.NewReaderSize(s, 64<<10), size: s.size, left: s.size,
		decoder: d, budget: budget}
}

func read(texts, samples *source, budget *memory.Budget) (*Recording, error) {
	z, err := newDecoder()
	if err != nil {
		return nil, err
	}
	defer z.Close()
	t, stringsErr := readStrings(texts.frames(stringsTag, z, budget))
	if stringsErr != nil {
		stringsErr = fmt.Errorf("reading strings file %s: %w", texts.path, stringsErr)
	}
	if t == nil || tooLarge(stringsErr) {
		return nil, stringsErr
	}
	taken := budget.Taken()
	d, samplesErr := readSamples(samples.frames(samplesTag, z, budget), t, nil)
	if bad, ok := errors.AsType[*seriesError](samplesErr); ok && !tooLarge(bad) {
		if _, err := samples.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("reading sample data file %s: %w", samples.path, err)
		}
		budget.Return(budget.Taken() - taken)
		d, samplesErr = readSamples(samples.frames(samplesTag, z, budget), t, bad)
	}
	if samplesErr != nil {
		samplesErr = fmt.Errorf("reading sample data file %s: %w", samples.path, samplesErr)
	}
	if tooLarge(samplesErr) {
		return nil, samplesErr
	}
	if d == nil {
		return nil, errors.Join(samplesErr, stringsErr)
	}
	for _, err := range []error{stringsErr, samplesErr} {
		if err != nil {
			d.b.Warn(DamagedFile, err.Error(), 1)
		}
	}
	return d.b.last(), nil
}

// texts are the strings by code, and the start time of their recording.
type texts struct {
	byCode  []string
	seconds int64
	nanos   int32
}

// readStrings returns the strings that it could read, nil if it
// could not read the header, and the error at which it stopped.
func readStrings(r *frameReader) (*texts, error) {
	var record pb.StringsRecord
	if err := r.next(&record); err != nil {
		return nil, r.headerError(err)
	}
	h := record.GetHeader()
	if h == nil {
		return nil, r.headerError(errNoHeader)
	}
	if err := checkVersion(h.FormatVersion); err != nil {
		return nil, err
	}
	t := &texts{byCode: []string{""}, seconds: h.StartSeconds, nanos: h.StartNanos}
	for {
		record.Reset()
		err := r.next(&record)
		if err == io.EOF {
			return t, nil
		}
		m := record.GetTexts()
		if err == nil && m == nil {
			err = errUnknownRecord
		}
		for i, s := range m.GetText() {
			if len(s) > maxText {
				err = fmt.Errorf("string %d of %d bytes: at most %d are possible",
					i, len(s), maxText)
			}
		}
		if err != nil {
			return t, r.lost(err)
		}
		for _, s := range m.Text {
			if err := r.budget.Take(stringMemory + int64(len(s))); err != nil {
				return t, r.lost(err)
			}
			t.byCode = append(t.byCode, string(s))
		}
	}
}

// readSamples returns the samples that it could read, nil if it
// could not read the header, and the error at which it stopped.
// If it is a seriesError, the caller reads once more with it.
func readSamples(r *frameReader, t *texts, bad *seriesError) (*decoder, error) {
	var record pb.DataRecord
	if err := r.next(&record); err != nil {
		return nil, r.headerError(err)
	}
	m := record.GetHeader()
	if m == nil {
		return nil, r.headerError(errNoHeader)
	}
	if err := checkVersion(m.FormatVersion); err != nil {
		return nil, err
	}
	d := &decoder{dictionary: dictionary{texts: t.byCode}, budget: r.budget,
		replaced: make(map[uint32]int64), bad: bad}
	h, err := d.header(m)
	if err != nil {
		return nil, r.headerError(err)
	}
	if m.StartSeconds != t.seconds || m.StartNanos != t.nanos {
		return nil, errors.New("it and the strings file beside it are of different recordings: put the original file back")
	}
	d.b = NewBuilder(h)
	d.b.meter.budget = r.budget
	d.series = decodeBeside(t.byCode, r.budget)
	err = d.records(r)
	if failed := d.series.end(d.b); failed != nil {
		return nil, failed
	}
	return d, err
}

// records decodes all records after the header.
func (d *decoder) records(r *frameReader) error {
	var record pb.DataRecord
	for {
		record.Reset()
		err := r.next(&record)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = d.record(&record)
		}
		if err != nil {
			return r.lost(err)
		}
	}
}

var (
	errNoHeader      = errors.New("not a header")
	errUnknownRecord = errors.New("unknown kind of record: a newer cpprof may know it")
)

func checkVersion(v uint32) error {
	if v != formatVersion {
		return fmt.Errorf("format version %d, but this cpprof reads %d: use the version that recorded it, or a newer one", v, formatVersion)
	}
	return nil
}

func (r *frameReader) headerError(err error) error {
	if err == io.EOF {
		return errors.New("the file is empty: nothing was recorded")
	}
	return fmt.Errorf("record 1: %w: without this record nothing can be read", err)
}

// lost returns an error that says at which record reading
// stopped, and how much of the file is missing.
func (r *frameReader) lost(err error) error {
	if tooLarge(err) {
		return fmt.Errorf("record %d: %w", r.record, err)
	}
	return fmt.Errorf("record %d: %w; the rest of the file is left out, at most %d of %d bytes",
		r.record, err, r.unread, r.size)
}
