package page

import (
	"fmt"
	"net/url"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// lineTotals are the hits of a view's lines, within some calls.
type lineTotals struct {
	counted     report.LineTotals
	view, calls string
}

// source returns the source of a function in a view, by the names that the page
// has for them. It counts the hits of a view's lines on first use, and keeps
// one view's counts.
func (s *shown) source(q url.Values) (any, error) {
	view, function, condition := q.Get("view"), q.Get("function"), q.Get("calls")
	p, err := s.within(condition)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := &s.lines; l.counted == nil || l.view != view || l.calls != condition {
		v, err := p.byLine(view)
		if err != nil {
			return nil, badRequest{fmt.Errorf("source of %s: %w", function, err)}
		}
		s.lines = lineTotals{report.CountLines(v.Tree), view, condition}
	}
	return report.SourceOf(p.Recording, function, s.lines.counted[function]), nil
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
