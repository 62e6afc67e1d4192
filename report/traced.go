package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// What reports say of the recording of an execution trace, for which nothing was halted.

// traceHeadline writes one line that says what was traced, then the warnings, and a blank line.
func traceHeadline(w io.Writer, path string, r *sampledata.Recording) error {
	s := r.Stats()
	_, err := termtext.Fprintf(w, "%s: an execution trace of %s, with %s of goroutines\n%s\n",
		termtext.Printable(filepath.Base(path)), span(s.Duration), Counted(r.Runs.Len(), "state"), termtext.Text(Warnings(r.Warnings)))
	return err
}

// traceInfo writes what was traced.
func traceInfo(w io.Writer, path string, r *sampledata.Recording) error {
	s := r.Stats()
	b := new(strings.Builder)
	line := func(name, format string, args ...any) {
		termtext.Fprintf(b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("trace", "%s", termtext.Printable(path))
	line("", "GOMAXPROCS %d", r.Header.GOMAXPROCS)
	from := ""
	if !r.Header.Start.IsZero() {
		from = " from " + r.Header.Start.Format(time.DateTime)
	}
	line("traced", "%s%s", span(s.Duration), from)
	line("moments", "%d at which something changed; %s of goroutines", s.Samples, Counted(r.Runs.Len(), "state"))
	line("goroutines", "%d, %.1f on average, at most %d", len(r.Goroutines), s.Goroutines.Mean, s.Goroutines.Max)
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		return err
	}
	line("locks", "%s", LockWaits(a))
	if len(r.Warnings) == 0 {
		line("warnings", "none")
	}
	b.WriteString(Warnings(r.Warnings))
	_, err = io.WriteString(w, b.String())
	return err
}
