package delve

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// maxMinidump is the size of a minidump, which Delve keeps in memory as a whole.
const maxMinidump = 2 << 30

// checkCore returns an error if Delve would take much more
// memory for a core dump than the file says anything with: Delve
// believes the numbers of things and their lengths in it. It
// also returns what the file lacks of the program's memory.
func checkCore(path string) (lacks lack, err error) {
	f, err := os.Open(path)
	if err != nil {
		return lacks, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return lacks, err
	}
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err == nil && string(magic[:]) == "MDMP" {
		return lacks, checkMinidump(f, info.Size())
	}
	x, err := elffile.New(f)
	if err != nil {
		return lacks, fmt.Errorf("it is damaged: %w", err)
	}
	for _, p := range x.Progs {
		if p.Type == elf.PT_NOTE {
			if err := elffile.Notes(p, checkThread); err != nil {
				return lacks, err
			}
		}
		if end := p.Off + p.Filesz; end >= p.Off && end < 1<<62 {
			lacks.atEnd = max(lacks.atEnd, int64(end)-info.Size())
		}
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Filesz < p.Memsz {
			lacks.unwritten += p.Memsz - p.Filesz
		}
	}
	return lacks, nil
}

// A lack is how many bytes of a program's memory a core dump lacks.
type lack struct {
	atEnd     int64  // the file was cut
	unwritten uint64 // who wrote it left out memory that the program could write to
}

// explain says why a core dump can't be read, if it lacks memory.
func (l lack) explain(err error) error {
	if err == nil || l.unwritten == 0 {
		return err
	}
	return fmt.Errorf("%w: it lacks pages of the heap (%d KB of writable memory were left out): "+
		"have it written with 'echo 0x7f > /proc/PID/coredump_filter'", err, l.unwritten>>10)
}

// checkThread checks a note of an ELF core dump: Delve has its
// own kind of notes about threads.
func checkThread(kind uint32, note []byte) error {
	const delveThread, beforeRegisters = 0x444C5654, 49
	if kind == delveThread && int64(half(note, beforeRegisters)) > int64(len(note)) {
		return errors.New("more registers than bytes")
	}
	return nil
}

// checkMinidump checks the lists of a minidump.
func checkMinidump(f io.ReaderAt, size int64) error {
	if size > maxMinidump {
		return fmt.Errorf("a minidump of %d MB would not fit into memory: at most %d MB can be read", size>>20, maxMinidump>>20)
	}
	var head struct{ Magic, Version, Streams, Directory uint32 }
	if err := binary.Read(io.NewSectionReader(f, 0, size), binary.LittleEndian, &head); err != nil {
		return errors.New("it is cut off")
	}
	const entry = 12
	if int64(head.Streams) > size/entry {
		return fmt.Errorf("it says that it has %d streams, which it has no room for", head.Streams)
	}
	directory := make([]struct{ Kind, Size, At uint32 }, head.Streams)
	if err := binary.Read(io.NewSectionReader(f, int64(head.Directory), size), binary.LittleEndian,
		directory); err != nil {
		return errors.New("its directory is cut off")
	}
	for _, s := range directory {
		if int64(s.At)+int64(s.Size) > size {
			return fmt.Errorf("its stream at %d is cut off", s.At)
		}
		n, each, err := listOf(f, s.Kind, s.At)
		if err != nil {
			return fmt.Errorf("its stream at %d is cut off", s.At)
		}
		if end, err := endOfMemory(f, s.Kind, s.At, s.Size); err != nil || end > size {
			return errors.New("the memory of the program is cut off")
		}
		if each > 0 && n > uint64(s.Size)/each {
			return fmt.Errorf("its stream at %d says that it has %d parts, which it has no room for", s.At, n)
		}
	}
	return nil
}

// endOfMemory returns where the memory ends that a stream of a
// minidump lists; 0 if the stream lists none.
func endOfMemory(f io.ReaderAt, kind, at, size uint32) (end int64, err error) {
	const memory64, head, entry = 9, 16, 16
	if kind != memory64 {
		return 0, nil
	}
	r := io.NewSectionReader(f, int64(at), int64(size))
	var list struct{ Number, Base uint64 }
	if err := binary.Read(r, binary.LittleEndian, &list); err != nil {
		return 0, err
	}
	if list.Number > (uint64(size)-head)/entry || list.Base > maxMinidump {
		return 0, io.ErrUnexpectedEOF
	}
	ranges := make([]struct{ Start, Size uint64 }, list.Number)
	if err := binary.Read(r, binary.LittleEndian, ranges); err != nil {
		return 0, err
	}
	end = int64(list.Base)
	for _, g := range ranges {
		if g.Size > maxMinidump || end > maxMinidump {
			return 0, io.ErrUnexpectedEOF
		}
		end += int64(g.Size)
	}
	return end, nil
}

// listOf returns how many parts a stream of a minidump has, and
// the size of each; 0 if it is not one of those whose parts
// Delve reads in one piece.
func listOf(f io.ReaderAt, kind, at uint32) (n, each uint64, err error) {
	const threads, modules, memoryInfo = 3, 4, 16
	var b [16]byte
	switch kind {
	case threads, modules:
		_, err = f.ReadAt(b[:4], int64(at))
		each = map[uint32]uint64{threads: 48, modules: 108}[kind]
		return uint64(binary.LittleEndian.Uint32(b[:])), each, err
	case memoryInfo:
		_, err = f.ReadAt(b[:], int64(at))
		return binary.LittleEndian.Uint64(b[8:]), 48, err
	}
	return 0, 0, nil
}
