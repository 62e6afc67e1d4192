package why

import (
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

const (
	fewFunctions = 3   // names of fewer functions don't tell programs apart
	sharedNames  = 0.5 // of the names in the recording that has fewer
)

// OfOneProgram reports whether recordings are of one program,
// perhaps in two versions. Its own functions have mostly the
// same names. known is false if too few were seen.
func OfOneProgram(a, b *sampledata.Recording) (same, known bool) {
	few, many := ownFunctions(a), ownFunctions(b)
	if len(few) > len(many) {
		few, many = many, few
	}
	shared := 0
	for name := range few {
		if many[name] {
			shared++
		}
	}
	return float64(shared) >= sharedNames*float64(len(few)), len(few) >= fewFunctions
}

// ownFunctions returns the names of the functions of a program's
// main module. Every program has main.main.
func ownFunctions(r *sampledata.Recording) map[string]bool {
	names, modules := make(map[string]bool), views.NewModules(r)
	for i := range r.Functions {
		name := r.Functions[i].Name
		if modules.Of(sampledata.FunctionID(i)) == modules.Main() && !strings.HasPrefix(name, "main.main") {
			names[name] = true
		}
	}
	return names
}
