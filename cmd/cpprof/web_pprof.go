package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/views"
	"github.com/google/pprof/driver"
	pprofile "github.com/google/pprof/profile"
)

// pprofServed are the pages of pprof that web shows. Others run programs or
// read files that the profile names, or write to pprof's settings.
var pprofServed = []string{"/", "/graph", "/top", "/peek", "/flamegraph", "/download"}

// pprofPages returns the web pages of pprof for the Thread Views of all
// classes of a source.
func pprofPages(s *source) (http.Handler, error) {
	v, err := s.view(views.Threads)
	if err != nil {
		return nil, err
	}
	var all exportFlags
	session, err := all.refined(s, v)
	if err != nil {
		return nil, err
	}
	p, err := export.PprofOf(all.subject(s, session, v.View))
	if err != nil {
		return nil, fmt.Errorf("%s: making a profile for pprof: %w", s.path, err)
	}
	mux := http.NewServeMux()
	err = driver.PProf(&driver.Options{
		Flagset: &pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError)}, Fetch: fetched{p},
		UI: silent{},
		HTTPServer: func(a *driver.HTTPServerArgs) error {
			for _, path := range pprofServed {
				if h := a.Handlers[path]; h != nil {
					pattern := path
					if path == "/" {
						pattern = "/{$}"
					}
					mux.Handle(pattern, h)
				}
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: making the pages of pprof: %w", s.path, err)
	}
	return mux, nil
}

// pprofFlags are the command line of pprof. The port is never opened: it is
// the server's.
type pprofFlags struct{ *flag.FlagSet }

func (f *pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f *pprofFlags) ExtraUsage() string   { return "" }
func (f *pprofFlags) AddExtraUsage(string) {}
func (f *pprofFlags) Parse(func()) []string {
	f.SetOutput(io.Discard)
	if f.FlagSet.Parse([]string{"-http=127.0.0.1:1", "-no_browser", "-symbolize=none",
		"profile"}) != nil {
		return nil
	}
	return f.Args()
}

// fetched is a profile in place of one that pprof would fetch. It is fetched once.
type fetched struct{ p *pprofile.Profile }

func (f fetched) Fetch(string, time.Duration, time.Duration) (*pprofile.Profile, string, error) {
	return f.p, "cpprof", nil
}

// silent is a terminal for pprof that shows nothing.
type silent struct{}

func (silent) ReadLine(string) (string, error) {
	return "", errors.New("pprof asks for a command")
}
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}
