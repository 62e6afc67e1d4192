package sampledata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/internal/memory"
)

// The framing that sampledata.proto defines.
const (
	frameMagic  = 0x184D2A5C
	frameHeader = 28 // without padding
	// the part of the header that the skippable frame's length
	// does not count
	framePrefix  = 8
	maxContent   = 16 << 20 // of a frame
	maxRatio     = 32       // of a frame's content to its size in the file
	flushContent = 256 << 10
	maxRecord    = maxContent - flushContent
)

// The tags of the two files.
const (
	stringsTag = "CPST"
	samplesTag = "CPSD"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frameWriter collects records into frames.
type frameWriter struct {
	tag     string
	out     io.Writer
	encoder *zstd.Encoder
	content []byte
	records uint32
	frame   []byte
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
		zstd.WithSingleSegment(true),
		zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
}

// add adds a record to the frame.
func (w *frameWriter) add(m proto.Message) error {
	size := proto.Size(m)
	if size > maxRecord {
		return fmt.Errorf("record of %d bytes: at most %d are possible", size, maxRecord)
	}
	w.content = protowire.AppendVarint(w.content, uint64(size))
	content, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(w.content, m)
	if err != nil {
		return err
	}
	w.content = content
	w.records++
	return nil
}

// flush writes the frame, if it has any records.
func (w *frameWriter) flush() error {
	if w.records == 0 {
		return nil
	}
	w.frame = appendFrame(w.frame[:0], w.tag, w.content, w.records, w.encoder)
	w.content, w.records = w.content[:0], 0
	_, err := w.out.Write(w.frame)
	return err
}

func appendFrame(b []byte, tag string, content []byte, records uint32,
	encoder *zstd.Encoder) []byte {
	start := len(b)
	compressed := encoder.EncodeAll(content, nil)
	padding := max(0, (len(content)+maxRatio-1)/maxRatio-frameHeader-len(compressed))
	b = binary.LittleEndian.AppendUint32(b, frameMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(frameHeader-framePrefix+padding))
	b = append(b, tag...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(compressed)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = binary.LittleEndian.AppendUint32(b, records)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start+framePrefix:], castagnoli))
	b = append(b, make([]byte, padding)...)
	return append(b, compressed...)
}

// A frameReader reads the records of a file one by one.
type frameReader struct {
	tag     string
	in      io.Reader
	left    int64 // number of bytes after the frames read so far
	unread  int64 // left, plus the frame that is being read
	record  int   // the number of the record that next read last, from 1
	size    int64 // of the file
	decoder *zstd.Decoder
	budget  *memory.Budget
	frame   []byte
	content []byte
	rest    []byte // of content
	records uint32 // of rest
}

var (
	errTorn     = errors.New("torn: the file ends within it")
	errChecksum = errors.New("checksum mismatch")
)

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderMaxWindow(maxContent))
}

// next reads a record into m. It returns io.EOF after the last
// frame; other errors are about record number r.record.
func (r *frameReader) next(m proto.Message) error {
	if r.records == 0 && len(r.rest) == 0 && r.left == 0 {
		return io.EOF
	}
	r.record++
	if r.records == 0 {
		if len(r.rest) > 0 {
			return errors.New("the frame has more content than records")
		}
		if err := r.readFrame(); err != nil {
			return err
		}
	}
	body, n := protowire.ConsumeBytes(r.rest)
	if n < 0 {
		return errors.New("a record's length does not fit its frame")
	}
	if err := r.budget.Fits(int64(len(body)) * decodedMemory); err != nil {
		return err
	}
	r.rest = r.rest[n:]
	r.records--
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, m); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}

// readFrame reads the next frame, and sets r.rest to its
// content. If any part of the frame is damaged, it is not read.
func (r *frameReader) readFrame() error {
	var head [frameHeader]byte
	r.unread = r.left
	if r.left < frameHeader {
		return errTorn
	}
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return readError(err)
	}
	field := func(at int) int64 { return int64(binary.LittleEndian.Uint32(head[at:])) }
	padded, compressed, content := framePrefix+field(4), field(12), field(16)
	switch {
	case field(0) != frameMagic:
		return errors.New("no frame begins here")
	case string(head[8:12]) != r.tag:
		return fmt.Errorf("frame of another file: tag %q, want %q", head[8:12], r.tag)
	case field(24) != int64(crc32.Checksum(head[framePrefix:frameHeader-4], castagnoli)):
		return errChecksum
	case padded < frameHeader || content < 1 || content > maxContent ||
		content > maxRatio*(padded+compressed):
		return errors.New("impossible lengths in the frame's header")
	case padded+compressed > r.left:
		return errTorn
	}
	if _, err := io.CopyN(io.Discard, r.in, padded-frameHeader); err != nil {
		return readError(err)
	}
	r.frame = room(r.frame, int(compressed))[:compressed]
	if _, err := io.ReadFull(r.in, r.frame); err != nil {
		return readError(err)
	}
	if err := r.decompress(int(content)); err != nil {
		return err
	}
	r.records = uint32(field(20))
	if r.records == 0 {
		return errors.New("frame without records")
	}
	r.left -= padded + compressed
	return nil
}

func (r *frameReader) decompress(size int) error {
	var h zstd.Header
	if err := h.Decode(r.frame); err != nil || h.Skippable || !h.HasCheckSum {
		return errors.New("not a zstd frame with a checksum")
	}
	r.content = room(r.content, size)
	content, err := r.decoder.DecodeAll(r.frame, r.content[:0:size]) // it may not use more
	switch {
	case errors.Is(err, zstd.ErrCRCMismatch):
		return errChecksum
	case err != nil:
		return fmt.Errorf("its compressed content is damaged (%w)", err)
	case len(content) != size:
		return fmt.Errorf("content of %d bytes, not %d", len(content), size)
	}
	r.rest = content
	return nil
}

// room returns a buffer for n bytes, which is b if that is large
// enough. Frames differ in size, so a new buffer has room to
// spare.
func room(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n+n/4)
	}
	return b
}

// readError returns errTorn if the file has become shorter since
// it was opened, and err otherwise.
func readError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTorn
	}
	return err
}
