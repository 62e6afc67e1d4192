package probe

import (
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/elffile"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A Program is the executable of a process, as far as probing needs it.
type Program struct {
	PID int

	bin      *gobinary.Binary
	file     io.ReaderAt
	machine  *machinecode.Machine
	read     func(addr uint64, b []byte) error // the code, at link addresses
	segments []elf.ProgHeader                  // that have code
	growers  map[uint64]bool                   // entries of the functions that grow stacks
}

// NewProgram reads what probing needs from the executable of a
// process. The file must stay open.
func NewProgram(pid int, file io.ReaderAt, bin *gobinary.Binary) (*Program, error) {
	p := &Program{PID: pid, bin: bin, file: file, machine: machinecode.ForArch(bin.Arch),
		growers: map[uint64]bool{}}
	if p.machine == nil {
		return nil, fmt.Errorf("the program is for %s: probes need amd64 or arm64", bin.Arch)
	}
	var err error
	if p.read, err = gobinary.Loaded(file); err != nil {
		return nil, fmt.Errorf("reading the executable: %w", err)
	}
	f, err := elffile.New(file)
	if err != nil {
		return nil, fmt.Errorf("reading the executable: %w", err)
	}
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			p.segments = append(p.segments, s.ProgHeader)
		}
	}
	for fn := range bin.Table.All() {
		if goruntime.GrowsStack(fn.Name()) {
			p.growers[fn.Entry] = true
		}
	}
	return p, nil
}

// offset returns where in the file the code at an address of the
// process is.
func (p *Program) offset(addr uint64) (uint64, bool) {
	addr -= p.bin.Bias
	for _, s := range p.segments {
		if addr >= s.Vaddr && addr < s.Vaddr+s.Filesz {
			return addr - s.Vaddr + s.Off, true
		}
	}
	return 0, false
}

// maxCode limits the code of one function that is decoded.
const maxCode = 1 << 20

// code decodes the code of a function.
func (p *Program) code(fn pclntab.Func) ([]machinecode.Instr, error) {
	n := fn.End - fn.Entry
	if n == 0 || n > maxCode {
		return nil, fmt.Errorf("its code has %d bytes", n)
	}
	b := make([]byte, n)
	if err := p.read(fn.Entry-p.bin.Bias, b); err != nil {
		return nil, err
	}
	return p.machine.Decode(nil, b, fn.Entry), nil
}

// Functions returns the names of the functions that a pattern
// matches, in the order of their addresses: a name, or one with
// * for any characters. The star of a pointer, as in
// main.(*queue).push, is a letter like others.
func (p *Program) Functions(pattern string) []string {
	return slices.DeleteFunc(p.names(), func(name string) bool { return !matches(pattern, name) })
}

func matches(pattern, name string) bool {
	const pointer = "(\x00"
	parts := strings.Split(strings.ReplaceAll(pattern, "(*", pointer), "*")
	name = strings.ReplaceAll(name, "(*", pointer)
	if len(parts) == 1 {
		return parts[0] == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// site returns the place of a call by its return address. In
// inlined code, it is the innermost function.
func (p *Program) site(ret uint64) (function, file string, line int32) {
	frames, ok := p.bin.Table.Frames(nil, ret-1)
	if !ok || len(frames) == 0 {
		return "", "", 0
	}
	return frames[0].Func, frames[0].File, frames[0].Line
}

// callersOf returns functions that an inlined function's code is
// in, at most a few.
func (p *Program) callersOf(name string) []string {
	var list []string
	var frames []pclntab.Frame
	for fn := range p.bin.Table.All() {
		if fn.End-fn.Entry > maxCode {
			continue
		}
		for pc := fn.Entry; pc < fn.End && len(list) < maxInstead; pc += inlineStep {
			frames = fn.Frames(frames[:0], pc)
			within := slices.ContainsFunc(frames,
				func(f pclntab.Frame) bool { return f.Inlined && f.Func == name })
			if within {
				list = append(list, fn.Name())
				break
			}
		}
	}
	return list
}

// inlineStep is the distance at which code is searched for a
// function that is inlined: less than a call takes.
const inlineStep = 8
