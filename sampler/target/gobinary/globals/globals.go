// Package globals finds the runtime's variables in a binary: by
// its symbol table, else in the code that uses them.
package globals

import (
	"debug/elf"

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

// FromSymbols finds the variables by name, at link addresses. It
// reports false if the binary lacks some that are needed: it was
// linked with -s, or stripped.
func FromSymbols(f *elf.File) (g Globals, ok bool) {
	symbols, err := elffile.Symbols(f)
	want := g.byName()
	for _, s := range symbols {
		if p := want[s.Name]; p != nil {
			*p = s.Value
		}
	}
	return g, err == nil && len(g.Missing()) == 0
}
