package interchange

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/internal/memory"
	"google.golang.org/protobuf/encoding/protowire"
)

// A fieldReader reads the fields of a protobuf message one after the other,
// however long the message is.
type fieldReader struct {
	in     *bufio.Reader
	at     int64 // bytes read
	most   int64 // bytes of the whole message
	budget *memory.Budget
	long   []byte // a field that is larger than the buffer of in
	seen   int    // bytes of the buffer that the last field took
}

func newFieldReader(r io.Reader, most int64, budget *memory.Budget) *fieldReader {
	return &fieldReader{in: bufio.NewReaderSize(r, 1<<16), most: most, budget: budget}
}

// A field is one field of a message: a number, or bytes that are valid until
// the next field.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64
	bytes  []byte
}

// next returns the next field, or io.EOF at the end.
func (r *fieldReader) next() (f field, err error) {
	if r.seen > 0 {
		if _, err := r.in.Discard(r.seen); err != nil {
			return f, err
		}
		r.seen = 0
	}
	tag, err := r.varint()
	if err != nil {
		return f, err
	}
	f.number, f.kind = protowire.DecodeTag(tag)
	if f.number < protowire.MinValidNumber {
		return f, fmt.Errorf("%w: field number %d", errNotProto, f.number)
	}
	switch f.kind {
	case protowire.VarintType:
		f.value, err = r.varint()
	case protowire.BytesType:
		f.bytes, err = r.content()
	default:
		err = fmt.Errorf("%w: field %d has the type %d", errNotProto, f.number, f.kind)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

var errNotProto = errors.New("it is no protobuf message")

func (r *fieldReader) varint() (uint64, error) {
	v, err := binary.ReadUvarint(r)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", errNotProto, err)
	}
	return v, err
}

// ReadByte is for binary.ReadUvarint.
func (r *fieldReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.at++
	}
	return b, err
}

// content returns the bytes of a field. Those that fit stay in the buffer of
// the file.
func (r *fieldReader) content() ([]byte, error) {
	n, err := r.varint()
	switch {
	case err != nil:
		return nil, err
	case n > uint64(r.most) || int64(n) > r.most-r.at:
		return nil, fmt.Errorf("it has more than %d bytes", r.most)
	}
	r.at += int64(n)
	if n <= uint64(r.in.Size()) {
		b, err := r.in.Peek(int(n))
		r.seen = len(b)
		return b, err
	}
	if err := r.budget.Fits(int64(n)); err != nil {
		return nil, err
	}
	if uint64(cap(r.long)) < n {
		r.long = make([]byte, n)
	}
	_, err = io.ReadFull(r.in, r.long[:n])
	return r.long[:n], err
}

// eachField calls a function for every field of a message that is in memory.
// Numbers of packed fields come one by one.
func eachField(message []byte, packed func(protowire.Number) bool,
	do func(n protowire.Number, value uint64, bytes []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("%w: %w", errNotProto, protowire.ParseError(n))
		}
		message = message[n:]
		var value uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		default:
			return fmt.Errorf("%w: field %d has the type %d", errNotProto, number, kind)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errNotProto, protowire.ParseError(n))
		}
		message = message[n:]
		if kind == protowire.BytesType && packed(number) {
			for len(bytes) > 0 {
				value, n := protowire.ConsumeVarint(bytes)
				if n < 0 {
					return fmt.Errorf("%w: %w", errNotProto, protowire.ParseError(n))
				}
				bytes = bytes[n:]
				if err := do(number, value, nil); err != nil {
					return err
				}
			}
			continue
		}
		if err := do(number, value, bytes); err != nil {
			return err
		}
	}
	return nil
}
