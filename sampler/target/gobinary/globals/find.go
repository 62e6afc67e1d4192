package globals

import "github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"

// A Code provides what disassembly needs of a binary.
type Code struct {
	Arch  string // GOARCH
	Table *pclntab.Table
	// Bytes returns the code of a function; nil if it is not in the file.
	Bytes func(f pclntab.Func) []byte
	// Data reports whether a variable lies at an address.
	Data func(addr uint64) bool
}

// FromCode finds the variables in the code of functions that use
// them. Their addresses are in the address space of the table.
func FromCode(c Code) Globals {
	refs := c.references()
	var g Globals
	for name, p := range g.byName() {
		*p = vote(c.Arch, clues[name], refs)
	}
	return g
}

// references returns the variables that each function of the clues refers to.
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

// vote returns the address that most clues lead to; 0 if there
// is none or a tie.
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
