package heap

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/target/elffile"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A core is a core dump of a Linux program as a source. It is of
// one moment.
type core struct {
	file    io.ReaderAt
	parts   []elf.ProgHeader // loaded, by address
	loaded  func(addr uint64, b []byte) error
	bias    uint64
	threads []Thread
	entry   uint64 // AT_ENTRY
}

// Kinds of notes in a core dump.
const (
	noteThread  = 1 // NT_PRSTATUS
	noteFloats  = 2 // NT_PRFPREG
	noteAuxv    = 6
	noteVectors = 0x202 // NT_X86_XSTATE
	auxEntry    = 9
)

// OfCore prepares the examination of a core dump, given the
// program that wrote it. The config has the limits. Both files
// must stay open.
func OfCore(dump, executable io.ReaderAt, c Config) (*Examination, error) {
	f, err := elffile.New(dump)
	if err != nil || f.Type != elf.ET_CORE {
		return nil, fmt.Errorf("reading the heap of a core dump: it is no core dump of Linux (%v)",
			err)
	}
	s := &core{file: dump}
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if p.Filesz > 0 {
				s.parts = append(s.parts, p.ProgHeader)
			}
		case elf.PT_NOTE:
			if err := elffile.Notes(p, func(kind uint32, content []byte) error {
				s.readNote(kind, content, f.Machine)
				return nil
			}); err != nil {
				return nil, fmt.Errorf("reading the heap of a core dump: %w", err)
			}
		}
	}
	sort.Slice(s.parts, func(i, j int) bool { return s.parts[i].Vaddr < s.parts[j].Vaddr })
	if c.Binary, err = gobinary.Open(executable, s.entry); err != nil {
		return nil, err
	}
	if s.loaded, err = gobinary.Loaded(executable); err != nil {
		return nil, err
	}
	s.bias, c.Source, c.MaxHalt = c.Binary.Bias, s, time.Hour
	c.Reasons, err = goruntime.ReadReasons(s.whole, c.Binary.Globals.WaitReasonStrings)
	if err != nil {
		return nil, fmt.Errorf("reading the heap of a core dump: %w", err)
	}
	c.Namer = sync.OnceValues(func() (*lockname.Namer, error) {
		return lockname.New(executable, s.bias, s.whole)
	})
	return New(c)
}

// readNote reads a thread, or the entry point.
func (s *core) readNote(kind uint32, content []byte, machine elf.Machine) {
	switch kind {
	case noteThread:
		s.threads = append(s.threads, threadIn(content, machine))
	case noteFloats, noteVectors:
		if n := len(s.threads); n > 0 {
			s.threads[n-1].Words = append(s.threads[n-1].Words, words(content)...)
		}
	case noteAuxv:
		for ; len(content) >= 16; content = content[16:] {
			if memory.Word(content, 0) == auxEntry {
				s.entry = memory.Word(content, 8)
			}
		}
	}
}

// words decodes memory that may begin anywhere.
func words(b []byte) []uint64 {
	ws := make([]uint64, len(b)/8)
	_ = binary.Read(bytes.NewReader(b[:len(ws)*8]), binary.LittleEndian, ws)
	return ws
}

// threadIn decodes an elf_prstatus.
func threadIn(b []byte, machine elf.Machine) Thread {
	const pid, registers = 32, 112
	t := Thread{ID: int(memory.Half(b, pid))}
	if len(b) > registers {
		t.Words = words(b[registers:])
	}
	pc, sp := 16, 19 // of user_regs_struct
	if machine == elf.EM_AARCH64 {
		pc, sp = 32, 31
	}
	if len(t.Words) > max(pc, sp) {
		t.PC, t.SP = t.Words[pc], t.Words[sp]
	}
	return t
}

// ReadRanges implements Reader. What the dump does not have may
// be in the executable.
func (s *core) ReadRanges(rs []memory.Range) (failed int) {
	for i := range rs {
		n := s.read(rs[i].Addr, rs[i].Buf)
		if n < len(rs[i].Buf) {
			failed++
		}
		rs[i].Buf = rs[i].Buf[:n]
	}
	return failed
}

// whole reads memory, or returns an error if it can't read all of it.
func (s *core) whole(addr uint64, b []byte) error {
	if s.read(addr, b) < len(b) {
		return errors.New("not in the core dump")
	}
	return nil
}

// read reads memory, and returns how many bytes it could.
func (s *core) read(addr uint64, b []byte) (n int) {
	for n < len(b) {
		at := addr + uint64(n)
		i := sort.Search(len(s.parts),
			func(i int) bool { return s.parts[i].Vaddr+s.parts[i].Filesz > at })
		if i == len(s.parts) || at < s.parts[i].Vaddr {
			if s.loaded(at-s.bias, b[n:]) == nil {
				return len(b)
			}
			return n
		}
		p := &s.parts[i]
		some := b[n:min(uint64(len(b)), uint64(n)+p.Vaddr+p.Filesz-at)]
		got, _ := s.file.ReadAt(some, int64(p.Off+at-p.Vaddr))
		if n += got; got < len(some) {
			return n
		}
	}
	return n
}

// Halt implements Source: the program is halted for ever.
func (s *core) Halt(_ time.Duration, now func(Reader, []Thread) error, _ func(Reader,
	Thread)) (time.Duration, int, error) {
	return 0, 0, now(s, s.threads)
}

// Now implements Source. The time of the dump by the runtime's
// clock is not known.
func (s *core) Now() time.Duration { return 0 }
