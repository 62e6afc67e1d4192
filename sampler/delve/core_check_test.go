package delve

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc/core/minidump"

	"github.com/cpprof/cpprof/internal/fixture"
)

// packed returns values one after the other, as files have them.
func packed(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// minidumpWith returns a minidump with one stream.
func minidumpWith(streams, kind uint32, content []byte) []byte {
	head := packed([]byte("MDMP\x93\xa7\x00\x00"), streams, uint32(32), uint32(0), uint32(0), uint64(0))
	return append(append(head, packed(kind, uint32(len(content)), uint32(44))...), content...)
}

// coreWith returns an ELF core dump with notes.
func coreWith(notes []byte) []byte {
	const head, program = 64, 56
	b := packed([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9), uint16(4), uint16(62), uint32(1), uint64(0), uint64(head), uint64(0), uint32(0),
		uint16(head), uint16(program), uint16(1), uint16(0), uint16(0), uint16(0))
	b = append(b, packed(uint32(4), uint32(4), uint64(head+program), uint64(0), uint64(0), uint64(len(notes)), uint64(0), uint64(4))...)
	return append(b, notes...)
}

// Small files that say that they have very much are refused
// before memory is taken for it.
func TestCoreThatSaysTooMuch(t *testing.T) {
	program := fixture.Build(t, "mutex")
	file := filepath.Join(t.TempDir(), "core")
	for _, c := range []struct {
		data []byte
		says string
	}{
		{minidumpWith(1<<31, 3, make([]byte, 100)), "2147483648 streams"},
		{minidumpWith(1, 3, packed(uint32(1<<30))), "1073741824 parts"},
		{minidumpWith(1, 4, packed(uint32(1<<30))), "1073741824 parts"},
		{minidumpWith(1, 16, packed(uint32(16), uint32(48), uint64(1<<40))), "1099511627776 parts"},
		{minidumpWith(1, 3, nil), "cut off"},
		{[]byte("MDMP"), "cut off"},
		{coreWith(packed(uint32(5), uint32(1<<31), uint32(1), []byte("CORE\x00\x00\x00\x00"))), "longer than all notes"},
		{coreWith(packed(uint32(1<<31), uint32(4), uint32(1))), "longer than all notes"},
		{coreWith(packed(uint32(4), uint32(56), uint32(0x444C5654), []byte("dlv\x00"), make([]byte, 49), uint32(1<<31), make([]byte, 3))), "more registers than bytes"},
	} {
		fixture.Check(t, os.WriteFile(file, c.data, 0o666))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadCore(file, program)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; want %q", c.data[:4], err, c.says)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%s: it took %d MB", c.says, took>>20)
		}
	}
}

// What passes the check is read without much more memory than
// the file has.
func FuzzCore(f *testing.F) {
	f.Add(minidumpWith(1, 3, packed(uint32(1), make([]byte, 48))))
	f.Add(minidumpWith(1, 16, packed(uint32(16), uint32(48), uint64(1), make([]byte, 48))))
	f.Add(minidumpWith(1<<31, 3, nil))
	f.Add(coreWith(packed(uint32(5), uint32(336), uint32(1), []byte("CORE\x00\x00\x00\x00"), make([]byte, 336))))
	f.Add(coreWith(packed(uint32(5), uint32(1<<31), uint32(1), []byte("CORE\x00\x00\x00\x00"))))
	file := filepath.Join(f.TempDir(), "core")
	f.Fuzz(func(t *testing.T, data []byte) {
		fixture.Check(t, os.WriteFile(file, data, 0o666))
		if _, err := checkCore(file); err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		func() {
			defer func() { recover() }() // as ReadCore does
			minidump.Open(file, nil)
		}()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(data))*100+1<<20 {
			t.Errorf("%d bytes took %d", len(data), took)
		}
	})
}
