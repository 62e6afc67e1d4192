package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// What reports say of recordings of execution traces and goroutine dumps, for
// which nothing was halted.

// traceInfo writes what was traced.
func traceInfo(w io.Writer, path string, r *sampledata.Recording) error {
	s := r.Stats()
	from := ""
	if !r.Header.Start.IsZero() {
		from = " from " + r.Header.Start.Format(time.DateTime)
	}
	return seenInfo(w, r, [][2]string{
		{"trace", termtext.Printable(path)},
		{"", fmt.Sprintf("GOMAXPROCS %d", r.Header.GOMAXPROCS)},
		{"traced", span(s.Duration) + from},
		{"moments", fmt.Sprintf("%d at which something changed; %s of goroutines", s.Samples,
			Counted(r.Runs.Len(), "state"))},
		{"goroutines", fmt.Sprintf("%d, %.1f on average, at most %d", r.Goroutines.Len(),
			s.Goroutines.Mean, s.Goroutines.Max)},
	})
}

// dumpInfo writes what goroutine dumps have.
func dumpInfo(w io.Writer, path string, r *sampledata.Recording) error {
	s := r.Stats()
	return seenInfo(w, r, [][2]string{
		{"dumps", fmt.Sprintf("%s: %d", termtext.Printable(path), s.Samples)},
		{"goroutines", fmt.Sprintf("%d, at most %d in a dump", r.Goroutines.Len(),
			s.Goroutines.Max)},
	})
}

// seenInfo writes some lines, what is known of locks, and the warnings.
func seenInfo(w io.Writer, r *sampledata.Recording, lines [][2]string) error {
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		return err
	}
	lines = append(lines, [2]string{"locks", LockWaits(a)})
	if len(r.Warnings) == 0 {
		lines = append(lines, [2]string{"warnings", "none"})
	}
	b := new(strings.Builder)
	for _, l := range lines {
		termtext.Fprintf(b, "%-11s %s\n", l[0], termtext.Text(l[1]))
	}
	b.WriteString(Warnings(r.Warnings))
	_, err = io.WriteString(w, b.String())
	return err
}

// seenJSON is what InfoJSON writes of traces and dumps, for which nothing was
// halted.
type seenJSON struct {
	Backend    string        `json:"backend"`
	GOMAXPROCS int32         `json:"gomaxprocs,omitempty"`
	Start      *time.Time    `json:"start,omitempty"`
	Duration   time.Duration `json:"duration_ns"`
	// moments at which something changed, or dumps
	Samples    int                       `json:"samples"`
	States     int                       `json:"states"` // of goroutines
	Instances  int                       `json:"instances"`
	Goroutines sampledata.GoroutineStats `json:"goroutines"`
	Locks      locksInfo                 `json:"locks"`
	Basis
}

func seenInfoJSON(w io.Writer, r *sampledata.Recording) error {
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		return err
	}
	s := r.Stats()
	seen := seenJSON{
		Backend: r.Header.Sampler.Backend, GOMAXPROCS: r.Header.GOMAXPROCS, Duration: s.Duration,
		Samples: s.Samples, States: r.Runs.Len(),
		Instances: r.Goroutines.Len(), Goroutines: s.Goroutines,
		Locks: locksInfo{len(a.Locks), evidenceOf(&a.Evidence), len(a.Deadlocks)},
		Basis: BasisOf(r),
	}
	if !r.Header.Start.IsZero() {
		seen.Start = &r.Header.Start
	}
	return writeJSON(w, seen)
}
