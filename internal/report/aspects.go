package report

import (
	"io"
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/termtext"
)

// Aspects writes each aspect with its functions among the given ones, sorted
// by name. The last line lists the aspects that have none of these functions.
func Aspects(w io.Writer, set *aspects.Set, functions []string) error {
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
		if _, err := termtext.Fprintf(w, "%s  (%s)\n", a.Name(),
			Counted(len(members), "function")); err != nil {
			return err
		}
		for _, f := range members {
			if _, err := termtext.Fprintf(w, "  %s\n", termtext.Printable(f)); err != nil {
				return err
			}
		}
	}
	if empty == nil {
		return nil
	}
	_, err := termtext.Fprintf(w, "aspects without functions here:")
	for _, name := range empty {
		if err == nil {
			_, err = termtext.Fprintf(w, " %s", name)
		}
	}
	if err == nil {
		_, err = termtext.Fprintln(w)
	}
	return err
}
