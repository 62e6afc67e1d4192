package gobinary

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// BuildID returns the ID that the Go linker has given an
// executable: it depends on everything that was linked. It is ""
// if the executable has none.
func BuildID(r io.ReaderAt) (string, error) {
	f, err := elffile.New(r)
	if err != nil {
		return "", fmt.Errorf("reading executable: %w", err)
	}
	s := f.Section(".note.go.buildid")
	if s == nil {
		return "", nil
	}
	b, err := elffile.Data(s, memory.NewBudget(int64(maxPart)))
	if err != nil {
		return "", err
	}
	const header = 16 // sizes of the name and of the ID, the note's type, and the name
	if len(b) < header || !bytes.Equal(b[12:header], []byte("Go\x00\x00")) {
		return "", nil
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	return string(b[header : header+min(n, uint64(len(b)-header))]), nil
}
