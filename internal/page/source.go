package page

import (
	"fmt"
	"sync"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// Sources returns the function that returns the source of functions in the
// views of a page, by the names that the page has for them. It counts the hits
// of a view's lines on first use, and keeps those of one view.
func Sources(p *Page) func(view, function string) (report.Source, error) {
	var mu sync.Mutex
	var counted report.LineTotals
	var of string
	return func(view, function string) (report.Source, error) {
		mu.Lock()
		defer mu.Unlock()
		if counted == nil || of != view {
			v, err := p.byLine(view)
			if err != nil {
				return report.Source{}, fmt.Errorf("source of %s: %w", function, err)
			}
			counted, of = report.CountLines(v.Tree), view
		}
		return report.SourceOf(p.Recording, function, counted[function]), nil
	}
}

// byLine makes a view of the page by line.
func (p *Page) byLine(name string) (*views.View, error) {
	o := p.Options
	o.Granularity = views.ByLine
	switch {
	case name == calltree.RootName, p.Recording.Profile != nil:
		return views.Server(p.Recording, o)
	case name == "":
		return views.Threads(p.Recording, o)
	}
	return views.Thread(p.Recording, name, o)
}
