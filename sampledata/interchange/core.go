package interchange

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/delve"
)

// coreDump is the format of a memory image in a file. A system
// writes it if a program crashes; a debugger writes it at any
// time. It is one sample. It has no names of functions: the
// executable of the program must be there, too.
var coreDump = Format{
	Name:  "core",
	Title: "a core dump",
	Sniff: func(s Start) bool { return isCore(s.Bytes) },
	Read:  readCore,
}

// isCore reports whether a file begins as an ELF file of the
// type ET_CORE, or as a minidump.
func isCore(b []byte) bool {
	const class, order, kind, core = 4, 5, 16, 4
	switch {
	case bytes.HasPrefix(b, []byte("MDMP\x93\xa7")):
		return true
	case len(b) < kind+2 || !bytes.HasPrefix(b, []byte("\x7fELF")) || b[class] != 2 ||
		b[order] != 1:
		return false
	}
	return binary.LittleEndian.Uint16(b[kind:]) == core
}

func readCore(in *Input, o Options) (*sampledata.Recording, error) {
	switch {
	case in.size == 0 || in.compressed:
		return nil, errors.New("core dump: want a file that is not compressed, not a stream")
	case o.Program == "":
		return nil, errors.New("core dump: name the executable of the program that wrote it with --program, or keep the core dump with 'cpprof import -o run.cpprof --program EXECUTABLE CORE'")
	}
	return delve.ReadCore(in.Name, o.Program)
}
