package probe

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// A RefusedError says why a function can't be probed.
type RefusedError struct {
	Function string
	Reason   string
	Instead  []string // functions that can be probed instead
}

// maxInstead limits the functions that are offered instead.
const maxInstead = 3

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("probe %s: %s", e.Function, e.Reason)
	if len(e.Instead) > 0 {
		text += ": probe " + strings.Join(e.Instead, " or ") + " instead"
	}
	return text
}

func (p *Program) refused(name, reason string, instead []string) error {
	return &RefusedError{Function: name, Reason: reason, Instead: instead}
}

// unknown explains why the program has no code of a function: it
// is inlined everywhere, is in C, or does not exist.
func (p *Program) unknown(name string) error {
	if callers := p.callersOf(name); len(callers) > 0 {
		return p.refused(name, "the compiler has inlined it into its callers, so that it has no code of its own (the samples show it all the same; "+
			"//go:noinline above it would keep it apart)", p.probeable(callers))
	}
	if p.isC(name) {
		return p.refused(name,
			"it is in C, and has no goroutine that its calls and returns could be matched by",
			p.probeable(p.cgoCallers(name)))
	}
	near := edit.Similar(name, p.names())
	reason := "the program has no such function, or does not use it"
	if len(near) == 0 {
		reason += ": 'cpprof probe' takes the names that 'cpprof report' shows"
	}
	return p.refused(name, reason, near)
}

// Has returns an error if the program has no function of a name,
// not even an inlined one. It names similar ones.
func (p *Program) Has(name string) error {
	if _, ok := p.bin.Table.Find(name)[name]; ok || len(p.callersOf(name)) > 0 || p.isC(name) {
		return nil
	}
	return p.unknown(name)
}

// probeable returns the functions that can be probed, among some.
func (p *Program) probeable(names []string) []string {
	found := p.bin.Table.Find(names...)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		fn, ok := found[name]
		return !ok || !p.canProbe(fn)
	})
}

// names returns the names of all functions that have code.
func (p *Program) names() (list []string) {
	for fn := range p.bin.Table.All() {
		list = append(list, fn.Name())
	}
	return list
}

// isC reports whether the program has a function of this name
// that is not Go's.
func (p *Program) isC(name string) bool {
	f, err := elffile.New(p.file)
	if err != nil {
		return false
	}
	symbols, _ := elffile.Symbols(f)
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Name == name
	})
}

// cgoCallers returns the functions that cgo has generated to call a
// function of C.
func (p *Program) cgoCallers(name string) []string {
	return slices.DeleteFunc(p.names(),
		func(n string) bool { return !strings.HasSuffix(n, "._Cfunc_"+name) })
}
