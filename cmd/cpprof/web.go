package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/page"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// webFlags are the flags of web.
type webFlags struct {
	reportFlags
	port      int
	noBrowser bool
	limit     time.Duration
}

func newWebCommand(t terminal) *cobra.Command {
	var f webFlags
	c := &cobra.Command{
		Use:   "web RECORDING [--against RECORDING]",
		Short: "Show a recording in a browser",
		Long: `web shows the page of a recording in a browser: flame graphs of all views, a timeline whose selected
span they follow, and tables. 'Calls' is a heat map of a function's calls: select the slow ones, and
all else shows only these. The table 'Source' has the lines of the selected function, if they are on
this machine. The link 'pprof' has the Thread Views of all classes as a file for 'go tool pprof'.
'cpprof export --to html' writes the page to a file, without these three.

Only browsers of this machine reach it, on 127.0.0.1, and only with the URL that web prints: it has
a token in it. Ctrl-C ends it. 'cpprof record --web' shows a recording while it grows.`,
		Example: `  cpprof web run.cpprof
  cpprof web new.cpprof --against old.cpprof --no-browser --port 8080`,
	}
	takeRecording(c, func(c *cobra.Command, path string) error {
		return f.run(c.Context(), t, path)
	})
	f.addView(c, t)
	flags := c.Flags()
	f.addAgainst(c)
	flags.IntVar(&f.port, "port", 0, "the `port` of 127.0.0.1 to use (default: a free one)")
	addNoBrowser(c, &f.noBrowser)
	addDuration(c, &f.limit, 0)
	return c
}

func (f *webFlags) run(ctx context.Context, t terminal, path string) error {
	if f.port < 0 || f.port > 65535 {
		return usagef("--port %d: want a number up to 65535, or 0 for a free port", f.port)
	}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	p := pageOf(s)
	if p.Open, err = f.opened(s); err != nil {
		return err
	}
	if f.against != "" {
		pair, err := f.openPair(path)
		if err != nil {
			return err
		}
		p.Against = pair.b.named()
	}
	server, err := page.Listen(f.port, page.Content{Name: path, Page: func() (*page.Page, error) { return p, nil },
		Source: s.options.Granularity == views.ByFunction, Pprof: func(w io.Writer) error { return writeThreads(w, s) }})
	if err != nil && f.port != 0 {
		return fmt.Errorf("%w; without --port, cpprof takes a free one", err)
	}
	if err != nil {
		return err
	}
	if err := server.Prepare(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends cpprof at once
	ctx, cancel := within(ctx, f.limit)
	defer cancel()
	termtext.Fprintf(t.out, "%s\nCtrl-C ends it.\n", server.URL)
	if !f.noBrowser {
		openBrowser(ctx, server.URL)
	}
	return server.Serve(ctx)
}

// opened returns the view that the page shows first; "" lets it choose.
func (f *webFlags) opened(s *source) (string, error) {
	switch {
	case f.server:
		return "*", nil
	case f.thread == "":
		return "", nil
	}
	return f.class(s)
}

// pageOf returns the page of a source.
func pageOf(s *source) *page.Page {
	return &page.Page{Name: s.path, Recording: s.recording, Options: s.options,
		Config: s.config, Whole: s.whole}
}

// openBrowser opens a URL in the user's browser, if there is a
// screen for one.
func openBrowser(ctx context.Context, url string) {
	var c *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		c = exec.CommandContext(ctx, "open", url)
	case "windows":
		c = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		c = exec.CommandContext(ctx, "xdg-open", url)
	}
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
}

// writeThreads writes the Thread Views of all classes for pprof.
func writeThreads(w io.Writer, s *source) error {
	subject, err := new(exportFlags).exportedOf(s)
	if err != nil {
		return err
	}
	return exportError(s.path, export.Pprof, export.Pprof.Write(w, subject))
}
