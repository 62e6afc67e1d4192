package views

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A CreationSite is a go statement, with the number of
// goroutines of a class that it created.
type CreationSite struct {
	sampledata.Site // the zero Site if it is not known
	Goroutines      int
}

// CreationSites returns the go statements that created the
// goroutines of a thread class, the most productive first. It
// counts goroutines of the whole recording, also if the options
// have a span.
func CreationSites(r *sampledata.Recording, o Options, class string) []CreationSite {
	c := newClasses(r, o)
	of := c.names.Number(class)
	counted := make([]bool, r.Goroutines.Len())
	count := make(map[sampledata.Site]int)
	for _, run := range r.Runs.All() {
		if g := run.Goroutine; !counted[g] && c.of(run) == of {
			counted[g] = true
			count[r.Goroutines.At(g).Site]++
		}
	}
	var sites []CreationSite
	for s, n := range count {
		sites = append(sites, CreationSite{s, n})
	}
	slices.SortFunc(sites, func(a, b CreationSite) int {
		return cmp.Or(b.Goroutines-a.Goroutines, cmp.Compare(a.File, b.File), int(a.Line-b.Line),
			cmp.Compare(a.Function, b.Function))
	})
	return sites
}
