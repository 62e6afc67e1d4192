package views

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A CreationSite is a go statement, and how many goroutines of a class it made.
type CreationSite struct {
	sampledata.Site // the zero Site is not known
	Goroutines      int
}

// CreationSites returns the go statements that the goroutines of a thread class come from, that of most goroutines
// first; goroutines of the whole recording, whatever the options' span.
func CreationSites(r *sampledata.Recording, o Options, class string) []CreationSite {
	c := newClasses(r, o)
	of := c.intern(class)
	counted := make([]bool, len(r.Goroutines))
	count := make(map[sampledata.Site]int)
	for _, run := range r.Runs.All() {
		if g := run.Goroutine; !counted[g] && c.of(run) == of {
			counted[g] = true
			count[r.Goroutines[g].Site]++
		}
	}
	var sites []CreationSite
	for s, n := range count {
		sites = append(sites, CreationSite{s, n})
	}
	slices.SortFunc(sites, func(a, b CreationSite) int {
		return cmp.Or(b.Goroutines-a.Goroutines, cmp.Compare(a.File, b.File), int(a.Line-b.Line), cmp.Compare(a.Function, b.Function))
	})
	return sites
}
