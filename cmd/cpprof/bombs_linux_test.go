package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/klauspost/compress/zstd"
)

// bombSize is what each bomb becomes: 2 GB.
const bombSize = 2 << 30

// bombOf compresses a beginning, and then a text again and
// again, up to the size of a bomb.
func bombOf(t *testing.T, begin, again string) []byte {
	t.Helper()
	part := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fixture.Must(io.WriteString(z, text))(t)
		fixture.Check(t, z.Close())
		return b.Bytes()
	}
	again = strings.Repeat(again, 1<<20/len(again)+1)
	return append(part(begin), bytes.Repeat(part(again), bombSize/len(again)+1)...)
}

// smallTrace returns an execution trace.
func smallTrace(t *testing.T) string {
	var b bytes.Buffer
	fixture.Check(t, trace.Start(&b))
	trace.Stop()
	return b.String()
}

// bombFrame returns a frame of a recording's samples whose
// content is far larger than its header says.
func bombFrame(t *testing.T) []byte {
	var packed bytes.Buffer
	z := fixture.Must(zstd.NewWriter(&packed, zstd.WithEncoderCRC(true)))(t)
	zeros := make([]byte, 1<<20)
	for range bombSize / len(zeros) {
		fixture.Must(z.Write(zeros))(t)
	}
	fixture.Check(t, z.Close())
	order := binary.LittleEndian
	head := append(order.AppendUint32(order.AppendUint32(nil, 0x184D2A5C), 20), "CPSD"...)
	for _, n := range []int{packed.Len(), min(32*packed.Len(), 16<<20), 1} {
		head = order.AppendUint32(head, uint32(n))
	}
	head = order.AppendUint32(head, crc32.Checksum(head[8:], crc32.MakeTable(crc32.Castagnoli)))
	return append(head, packed.Bytes()...)
}

// bombSection returns an executable whose debug information is a bomb.
func bombSection(t *testing.T) string {
	var b bytes.Buffer
	b.WriteString("ZLIB")
	b.Write(binary.BigEndian.AppendUint64(nil, bombSize/8)) // below the limit of all sections
	z := zlib.NewWriter(&b)
	fixture.Must(z.Write(make([]byte, bombSize/8)))(t)
	fixture.Check(t, z.Close())
	return fixture.Changed(t, fixture.Build(t, "mutex"), map[string]fixture.Section{
		".debug_info": {Name: ".zdebug_info", Content: b.Bytes()}})
}

// A small file that decompresses to gigabytes takes neither much
// memory nor a look at all of it, whatever its format. The error
// names the file, the limit, and what to do.
func TestDecompressionBombsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	folder, cpprof := t.TempDir(), fixture.Cpprof(t)
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		fixture.Check(t, os.WriteFile(path, content, 0o666))
		return path
	}
	damaged := synthesized(t, 100)
	samples := fixture.Must(os.OpenFile(filepath.Join(damaged, "SampleData"), os.O_APPEND|os.O_WRONLY, 0))(t)
	fixture.Must(samples.Write(bombFrame(t)))(t)
	samples.Close()
	const memory, packed = "allow more with --max-memory", "decompress it first (gunzip)"
	frames := "\x0a\x02\x08\x01" + "\x32\x00" // a sample type, and the empty string
	for _, c := range fixture.Third([]struct{ what, path, limit, remedy string }{
		{"pprof", file("a.pprof", bombOf(t, frames, "\x12\x06\x0a\x01\x01\x12\x01\x01")), "64MB", memory},
		{"text", file("a.txt", bombOf(t, "cpprof recording 1\n", "sample 0s\n")), "64MB", memory},
		{"text: a comment", file("b.txt", bombOf(t, "cpprof recording 1\n", "# "+strings.Repeat("x", 1000)+"\n")), "MB, as no profile does", packed},
		{"perf", file("a.perf", bombOf(t, "", "a 1 1.5: 1 cpu-clock:\n\t48a3c4 main.f (/a)\n\n")), "64MB", memory},
		{"folded", file("a.folded", bombOf(t, "", "main;f 1\n")), "64MB", memory},
		{"folded: one line", file("b.folded", bombOf(t, "main;f 1\n", "main;f")), "longer than 1 MB", "shorten its names"},
		{"arcflow", file("a.arcflow", bombOf(t, "0 pidtid one\n", "0 > f\n0 < f\n")), "MB, as no profile does", packed},
		{"arcflow: deeper and deeper", file("b.arcflow", bombOf(t, "0 pidtid one\n", "0 > f\n")), "64MB", memory},
		{"goroutine dump", file("a.dump", bombOf(t, "", "goroutine 1 [running]:\nmain.f()\n\t/a.go:1 +0x1\n\n")), "64MB", memory},
		{"execution trace", file("a.trace", bombOf(t, smallTrace(t), "\x00")), "it is damaged", ""},
		{"core dump", file("a.core", bombOf(t, "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x04\x00\x3e\x00", "\x00")), "not compressed", ""},
		{"recording", damaged, "output bigger", "it is damaged, and 100 samples"},
		{"executable", bombSection(t), ".zdebug_info unpacks to more than 100 times its size", "objcopy"},
	}) {
		t.Run(c.what, func(t *testing.T) {
			args := []string{"info", c.path, "--max-memory", "64MB"}
			if c.what == "executable" {
				args = []string{"dump-goroutines", "-p", fmt.Sprint(fixture.Start(t, c.path).Pid())}
			}
			most, said := peakOf(t, cpprof, args...)
			t.Logf("%d MB: %s", most, said)
			if most > 300 {
				t.Errorf("it took %d MB", most)
			}
			for _, want := range []string{filepath.Base(c.path), c.limit, c.remedy} {
				if !strings.Contains(said, want) {
					t.Errorf("it says %q, want %q", said, want)
				}
			}
		})
	}
}
