//go:build linux && amd64

package gobinary_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

// A span is a part of a file.
type span struct{ off, size uint64 }

// tender lists the parts of an executable that control how it is read.
func tender(t testing.TB, data []byte) []span {
	t.Helper()
	f := fixture.Must(elf.NewFile(bytes.NewReader(data)))(t)
	spans := []span{
		{0, 64},
		{binary.LittleEndian.Uint64(data[32:]), uint64(len(f.Progs)) * 56},
		{binary.LittleEndian.Uint64(data[40:]), uint64(len(f.Sections)) * 64},
	}
	for _, s := range f.Sections {
		switch s.Name {
		case ".gopclntab":
			spans = append(spans, span{s.Offset, 200})
		case ".go.module", ".go.buildinfo", ".rela":
			spans = append(spans, span{s.Offset, s.FileSize})
		case ".debug_info", ".debug_abbrev", ".symtab":
			spans = append(spans, span{s.Offset, min(s.FileSize, 4096)})
		}
	}
	return spans
}

// FuzzOpen opens executables with a few bytes changed. Each
// change is given by four bytes: a part of the file, an offset
// in it (two), a value.
func FuzzOpen(f *testing.F) {
	var files [][]byte
	var parts [][]span
	for _, mode := range []string{"stripped", "pie"} {
		data := mustRead(f, build(f, "target", modes[mode]...))
		files, parts = append(files, data), append(parts, tender(f, data))
	}
	f.Add(uint8(0), []byte{})
	f.Add(uint8(0), []byte{0, 24, 0, 1, 2, 60, 0, 7})
	f.Add(uint8(1), []byte{3, 8, 0, 255, 4, 176, 0, 1})
	f.Fuzz(func(t *testing.T, file uint8, changes []byte) {
		n := int(file) % len(files)
		data := bytes.Clone(files[n])
		for ; len(changes) >= 4; changes = changes[4:] {
			p := parts[n][int(changes[0])%len(parts[n])]
			at := p.off + uint64(binary.LittleEndian.Uint16(changes[1:]))%max(p.size, 1)
			if at < uint64(len(data)) {
				data[at] = changes[3]
			}
		}
		b, err := gobinary.Open(bytes.NewReader(data), 0)
		if err != nil {
			return
		}
		lo, hi := b.Table.Text()
		b.Table.Frames(nil, lo+(hi-lo)/2)
	})
}

// FuzzUnwind unwinds stacks in arbitrary memory: each walk must
// end within its limit.
func FuzzUnwind(f *testing.F) {
	b := openFile(f, build(f, "target", modes["stripped"]...))
	lo, hi := b.Table.Text()
	f.Add([]byte{1, 2, 3}, uint64(lo), uint64(0x1000), uint64(lo+64), uint64(0x1010), true)
	f.Add(bytes.Repeat([]byte{0, 0x10, 0x40, 0, 0, 0, 0, 0}, 100), uint64(0), uint64(0x1000), uint64(lo+999), uint64(0x1008), false)
	f.Fuzz(func(t *testing.T, stack []byte, pc, sp, otherPC, otherSP uint64, onThread bool) {
		// Half of the words become code addresses, so that walks
		// take several steps.
		for i := 0; i+8 <= len(stack); i += 16 {
			binary.LittleEndian.PutUint64(stack[i:], lo+binary.LittleEndian.Uint64(stack[i:])%(hi-lo))
		}
		c := unwind.Context{
			StackLo: 0x1000, StackHi: 0x1000 + uint64(len(stack)),
			SchedPC: otherPC, SchedSP: otherSP, SyscallPC: pc, SyscallSP: otherSP,
			OnThread: onThread, Regs: unwind.Registers{PC: pc, SP: sp, LR: otherPC}, VDSOPC: otherPC, VDSOSP: sp,
		}
		for _, arch := range []string{"amd64", "arm64"} {
			u := fixture.Must(unwind.New(b.Table, arch))(t)
			frames, res := u.Unwind(nil, &copied{0x1000, stack}, &c)
			if len(frames) > unwind.MaxDepth || len(frames) == 0 && !res.Torn {
				t.Fatalf("%d frames, %+v", len(frames), res)
			}
			logical(u, frames)
		}
	})
}
