package why

import (
	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
)

// functionKinds finds out which functions allocate, collect garbage or call
// the kernel, by the aspects of these names.
type functionKinds struct {
	r     *sampledata.Recording
	sets  []aspects.Aspect
	names []string
	of    []uint64 // by function: a bit for each set, and known if they have been found
}

const known = 1 << 63

// codeAspects are the aspects that say what code does, the more
// specific first.
var codeAspects = []string{"@alloc", "@gc", "@syscall", "@stack", "@copy", "@compare", "@map", "@hash", "@crypto",
	"@compress", "@json", "@protobuf", "@regexp", "@sort", "@reflect", "@fmt", "@strings", "@cgo"}

const (
	allocKind = iota
	gcKind
	kernelKind
)

func newFunctionKinds(r *sampledata.Recording, set *aspects.Set) *functionKinds {
	k := &functionKinds{r: r, of: make([]uint64, len(r.Functions))}
	for _, name := range codeAspects {
		a, _ := set.Lookup(name)
		k.sets, k.names = append(k.sets, a), append(k.names, name)
	}
	return k
}

// has reports whether a function belongs to one of the aspects.
func (k *functionKinds) has(f sampledata.FunctionID, kind int) bool {
	if k.of[f] == 0 {
		bits := uint64(known)
		for i, a := range k.sets {
			if a.Has(k.r.Functions[f].Name) {
				bits |= 1 << i
			}
		}
		k.of[f] = bits
	}
	return k.of[f]&(1<<kind) != 0
}

// aspect returns the aspect of what the innermost function of
// the program's own calls there. If it calls nothing with an
// aspect, it is the function's own, unless it calls other code.
func (k *functionKinds) aspect(p *places, stack sampledata.NodeID) string {
	own := p.own[stack]
	for kind, name := range k.names {
		for n := stack; n != own; n = k.r.Nodes[n].Parent {
			if k.has(k.r.Nodes[n].Function, kind) {
				return name
			}
		}
	}
	if p.library(own, stack) != "" {
		return ""
	}
	for kind, name := range k.names {
		if k.has(k.r.Nodes[own].Function, kind) {
			return name
		}
	}
	return ""
}

// on reports whether a stack has a function of an aspect.
func (k *functionKinds) on(stack sampledata.NodeID, kind int) bool {
	for n := stack; n != sampledata.NoStack; n = k.r.Nodes[n].Parent {
		if k.has(k.r.Nodes[n].Function, kind) {
			return true
		}
	}
	return false
}

// isSystemCall reports whether a function enters the kernel.
func isSystemCall(function string) bool {
	return words.HasPrefix(function, "internal/runtime/syscall", "runtime/internal/syscall.",
		"syscall.", "golang.org/x/sys/unix.", "internal/syscall/")
}
