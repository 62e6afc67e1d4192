// Package globals finds the runtime's variables in a binary: by
// its symbol table, else in the code that uses them.
package globals

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// Globals are the addresses of variables of package runtime; 0
// for a variable that does not exist or was not found.
type Globals struct {
	AllGs             uint64 // allgs []*g
	AllM              uint64 // allm *m
	AllP              uint64 // allp []*p
	Sched             uint64 // sched schedt
	GCPhase           uint64 // gcphase uint32
	WaitReasonStrings uint64 // waitReasonStrings [...]string
	GCController      uint64 // gcController gcControllerState
	MemStats          uint64 // memstats mstats
	Work              uint64 // work workType
	MHeap             uint64 // mheap_ mheap
	SemTable          uint64 // semtable semTable
	AllFin            uint64 // allfin *finBlock
	GCCleanups        uint64 // gcCleanups cleanupQueue, from 1.25 on
}

// byName returns the addresses by the variables' names.
func (g *Globals) byName() map[string]*uint64 {
	return map[string]*uint64{
		"runtime.allgs":             &g.AllGs,
		"runtime.allm":              &g.AllM,
		"runtime.allp":              &g.AllP,
		"runtime.sched":             &g.Sched,
		"runtime.gcphase":           &g.GCPhase,
		"runtime.waitReasonStrings": &g.WaitReasonStrings,
		"runtime.gcController":      &g.GCController,
		"runtime.memstats":          &g.MemStats,
		"runtime.work":              &g.Work,
		"runtime.mheap_":            &g.MHeap,
		"runtime.semtable":          &g.SemTable,
		"runtime.allfin":            &g.AllFin,
		"runtime.gcCleanups":        &g.GCCleanups,
	}
}

// Move adds the bias, the distance between link addresses and
// those in the running process.
func (g *Globals) Move(bias uint64) {
	for _, p := range g.byName() {
		if *p != 0 {
			*p += bias
		}
	}
}

// Missing returns the names of the variables that were not found
// and without which a program can't be sampled.
func (g *Globals) Missing() []string {
	var names []string
	for _, n := range []string{"runtime.allgs", "runtime.allm", "runtime.allp"} {
		if *g.byName()[n] == 0 {
			names = append(names, n)
		}
	}
	return names
}

// ErrNoSymbols reports that a binary has no symbol table: it was
// linked with
// -s, or stripped.
var ErrNoSymbols = errors.New("no symbol table")

// FromSymbols finds the variables by name, at link addresses, in
// one pass that creates no strings for other symbols.
func FromSymbols(f *elf.File) (Globals, error) {
	var g Globals
	syms, names, err := symbolTable(f)
	if err != nil {
		return g, err
	}
	want := g.byName()
	const symbolSize = 24
	for found := 0; len(syms) >= symbolSize && found < len(want); syms = syms[symbolSize:] {
		at := uint64(binary.LittleEndian.Uint32(syms))
		if at >= uint64(len(names)) || !strings.HasPrefix(names[at:], "runtime.") {
			continue
		}
		name, _, ok := strings.Cut(names[at:min(at+64, uint64(len(names)))], "\x00")
		if p := want[name]; ok && p != nil {
			*p = binary.LittleEndian.Uint64(syms[8:])
			found++
		}
	}
	if len(g.Missing()) > 0 {
		return g, ErrNoSymbols
	}
	return g, nil
}

// symbolTable reads the symbols and their names.
func symbolTable(f *elf.File) (syms []byte, names string, err error) {
	s := f.SectionByType(elf.SHT_SYMTAB)
	if s == nil || s.Link == 0 || int(s.Link) >= len(f.Sections) {
		return nil, "", ErrNoSymbols
	}
	strs := f.Sections[s.Link]
	if strs.Type != elf.SHT_STRTAB {
		return nil, "", ErrNoSymbols
	}
	budget := memory.NewBudget(0)
	if syms, err = elffile.Data(s, budget); err != nil {
		return nil, "", fmt.Errorf("reading symbols: %w", err)
	}
	b, err := elffile.Data(strs, budget)
	if err != nil {
		return nil, "", fmt.Errorf("reading symbols: %w", err)
	}
	return syms, string(b), nil
}
