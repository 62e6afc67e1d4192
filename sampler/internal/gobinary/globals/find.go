package globals

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/pclntab"
)

// A Code gives what disassembly needs of a binary.
type Code struct {
	Arch  string // GOARCH
	Table *pclntab.Table
	// Bytes gives the code of a function, nil where it is not in the file.
	Bytes func(f pclntab.Func) []byte
	// Data tells whether an address is one of a variable.
	Data func(addr uint64) bool
}

// FromCode finds the variables in the code of functions that use them, with addresses as the table has them.
func FromCode(c Code) Globals {
	refs := c.references()
	var g Globals
	for name, p := range g.byName() {
		*p = vote(c.Arch, clues[name], refs)
	}
	return g
}

// references lists for each function of the clues the variables that it names.
func (c *Code) references() map[string][]uint64 {
	var names []string
	for _, cs := range clues {
		for _, cl := range cs {
			names = append(names, cl.function)
		}
	}
	refs := map[string][]uint64{}
	for name, f := range c.Table.Find(names...) {
		refs[name] = references(c.Arch, c.Bytes(f), f.Entry, c.Data)
	}
	return refs
}

// vote gives the address that most clues lead to, 0 where none does or two are equal.
func vote(arch string, cs []clue, refs map[string][]uint64) uint64 {
	votes := map[uint64]int{}
	for _, c := range cs {
		ordinals := c.amd64
		if arch == "arm64" {
			ordinals = c.arm64
		}
		for _, n := range ordinals {
			if r := refs[c.function]; n < len(r) {
				votes[r[n]]++
			}
		}
	}
	var best uint64
	tie := false
	for addr, n := range votes {
		switch {
		case n > votes[best]:
			best, tie = addr, false
		case n == votes[best]:
			tie = true
		}
	}
	if tie {
		return 0
	}
	return best
}

// TLS finds the offset of g's slot from the thread pointer on amd64, 0 where the code does not tell.
func TLS(c Code) int64 {
	f, ok := c.Table.Find(tlsFunction)[tlsFunction]
	if !ok || c.Arch != "amd64" {
		return 0
	}
	code := c.Bytes(f)
	constant := map[x86asm.Reg]int64{} // registers that the code set to constants
	for off := 0; off < len(code); {
		in, err := x86asm.Decode(code[off:], 64)
		if err != nil {
			return 0
		}
		off += in.Len
		for _, a := range in.Args {
			if m, ok := a.(x86asm.Mem); ok && m.Segment == x86asm.FS {
				if m.Base == 0 {
					return int64(int32(m.Disp))
				}
				return constant[m.Base] + m.Disp
			}
		}
		if dst, ok := in.Args[0].(x86asm.Reg); ok && in.Op == x86asm.MOV {
			if imm, ok := in.Args[1].(x86asm.Imm); ok {
				constant[dst] = int64(imm)
			}
		}
	}
	return 0
}
