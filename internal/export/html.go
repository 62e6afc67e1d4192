package export

import (
	"io"

	"github.com/cpprof/cpprof/internal/page"
)

// html is a page for a browser, in one file. It has all views of
// the recording, unless the subject is a part of one.
var html = Format{
	Name:  "html",
	Help:  "a page with all views, a timeline and tables, for any browser, without a network",
	File:  "run.html",
	write: writeHTML,

	OfRecording: true,
}

func writeHTML(w io.Writer, s *Subject) error {
	p, err := s.page()
	if err != nil {
		return err
	}
	return page.Write(w, p)
}

// page returns the page to show. A view that was refined or
// pruned has no timeline.
func (s *Subject) page() (*page.Page, error) {
	p := &page.Page{
		Name: s.Path, Recording: s.Recording, Options: s.Options, Config: s.Config,
		Open: s.Open, Against: s.Against,
	}
	if !s.Refined && !s.Part {
		return p, nil
	}
	var err error
	p.Tree, err = s.Tree()
	p.Title = s.Title
	return p, err
}
