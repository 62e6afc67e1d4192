package report

import (
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/termtext"
)

// Aspects writes each aspect with its functions among the given ones, sorted
// by name. The last line lists the aspects that have none of these functions.
func Aspects(w io.Writer, set *aspects.Set, functions []string) {
	functions = slices.Compact(slices.Sorted(slices.Values(functions)))
	var empty []string
	for _, a := range set.All() {
		var members []string
		for _, f := range functions {
			if a.Has(f) {
				members = append(members, f)
			}
		}
		if members == nil {
			empty = append(empty, a.Name())
			continue
		}
		termtext.Fprintf(w, "%s  (%s)\n", a.Name(), Counted(len(members), "function"))
		for _, f := range members {
			termtext.Fprintf(w, "  %s\n", termtext.Printable(f))
		}
	}
	if empty == nil {
		return
	}
	termtext.Fprintf(w, "aspects without functions here: %s\n", strings.Join(empty, " "))
}
