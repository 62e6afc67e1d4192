package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A subject is the content of a profile window.
type subject struct {
	title string // of the tab
	name  string // "Locks and what their holders do"
	view  func(*sampledata.Recording, views.Options) (viewed, error)

	// keep returns the window as a session keeps it, with the
	// user's actions in it; it returns nil if a session does not
	// keep such windows.
	keep func(session.Profile) session.Window

	// single reports that the subject is one view of the
	// recording: the Server View or a Thread View of package
	// views.
	single bool

	// against is the path of the other recording in a
	// comparison, else "". The tree of a comparison is made by
	// calltree.Merge, and costs of both are shown.
	against string
}

// A viewed is a view with notes on its entries for the detail
// pane. The notes are by the last element of the entries' paths.
type viewed struct {
	*views.View
	notes map[string][]string
	other *sampledata.Recording // the other recording of a comparison, else nil
}

// profileKind is the kind of a view's window.
func (a *app) profileKind() kind {
	return kind{
		Kind:   session.ProfileKind,
		reopen: func(w session.Window) { openProfile(a, *w.(*session.Profile)) },
	}
}

// openProfile opens the window of a view, and does its steps.
func openProfile(a *app, p session.Profile) { openSubject(a, viewOf(p.Class), p) }

// profileAt returns a view, refined to what a call path calls.
func (a *app) profileAt(class string, path callpath.Path) session.Profile {
	at := path.String()
	return session.Profile{Class: class, Threshold: a.threshold, Selected: at,
		Steps: []refine.Step{{Kind: refine.KindPath, Text: at}, {Kind: refine.KindDown, Text: at}}}
}

// openServer opens the Server View, compared if the Summary is.
func openServer(a *app) { openView(a, session.Profile{Threshold: a.threshold}) }

func openView(a *app, p session.Profile) {
	switch {
	case a.against == "":
		openProfile(a, p)
	case len(p.Steps) > 0:
		openComparison(a, a.against, p)
	default:
		showComparison(a, a.against, p)
	}
}

// viewOf returns the Thread View of a class, or the Server View
// if class is "".
func viewOf(class string) *subject {
	s := &subject{
		title: class, name: "Thread View of " + class, single: true,
		view: func(r *sampledata.Recording, o views.Options) (viewed, error) {
			v, err := (&session.Profile{Class: class}).View(r, o)
			return viewed{View: v}, err
		},
		keep: func(p session.Profile) session.Window { return &p },
	}
	if class == "" {
		s.title, s.name = "Server", "Server View"
	}
	return s
}

// holdersKind is the kind of windows that show the locks that
// goroutines waited for: below each lock its holders, and what
// they were doing.
func (a *app) holdersKind() kind {
	return kind{
		Kind:   session.HoldersKind,
		reopen: func(w session.Window) { openHolders(a, w.(*session.Holders).Profile) },
	}
}

// compared returns a view of this recording and another one,
// which a function compares. A session does not keep it unless
// keep is changed.
func (a *app) compared(title, name, path string,
	compare func(one, other views.Named, o views.Options) (*views.Compared, error)) *subject {
	view := func(one, other views.Named, o views.Options) (viewed, error) {
		both, err := compare(one, other, o)
		if err != nil {
			return viewed{}, err
		}
		v, err := both.Merge()
		return viewed{View: v, other: other.Recording}, err
	}
	return &subject{title: "Δ " + title, name: name, against: path,
		keep: func(session.Profile) session.Window { return nil },
		view: func(r *sampledata.Recording, o views.Options) (viewed, error) {
			return comparing(a, r, o, path, view)
		}}
}

// openComparedHolders opens a window of the holders of all locks
// in two recordings. The locks are matched by name.
func openComparedHolders(a *app, p session.Profile) {
	compare := func(one, other views.Named, o views.Options) (*views.Compared, error) {
		both, err := locks.Compare(one, other, o)
		if err != nil {
			return nil, err
		}
		return &views.Compared{New: both.New.Held, Old: both.Old.Held}, nil
	}
	openSubject(a, a.compared("Holders", session.HoldersTitle, a.against, compare), p)
}

// openHolders opens a window of the holders.
func openHolders(a *app, p session.Profile) {
	openSubject(a, &subject{
		title: "Holders", name: session.HoldersTitle, view: viewLocks,
		keep: func(p session.Profile) session.Window { return &session.Holders{Profile: p} },
	}, p)
}

func viewLocks(r *sampledata.Recording, o views.Options) (viewed, error) {
	found, err := locks.Analyse(r, o, locks.ByInstance)
	if err != nil {
		return viewed{}, err
	}
	if len(found.Locks) == 0 {
		return viewed{}, fmt.Errorf("no goroutine was seen waiting for a lock of package sync")
	}
	notes := make(map[string][]string)
	for _, l := range found.Locks {
		lines := []string{fmt.Sprintf(
			"%s goroutines waited for it on average; the holder is known of %s of the hits",
			report.Decimal(found.Mean(&l.Evidence), 1), report.Cost(l.Share(l.Known()))),
			"Waited for by"}
		for _, w := range l.Waiters {
			lines = append(lines, fmt.Sprintf("%6s  %s in %s (%s)", report.Hits(w.Hits),
				w.Class, w.In, w.Reason))
		}
		notes[l.String()] = lines
	}
	return viewed{View: found.Held, notes: notes}, nil
}

// comparisonKind is the kind of windows that compare a view of
// two recordings.
func (a *app) comparisonKind() kind {
	return kind{
		Kind: session.ComparisonKind,
		reopen: func(w session.Window) {
			c := w.(*session.Comparison)
			openComparison(a, c.Other(a.path), c.Profile)
		},
	}
}

// showComparison selects the window that openComparison would open, if it is
// already open.
func showComparison(a *app, path string, p session.Profile) {
	against := session.Relative(a.path, path)
	if _, open := showOpen(a, func(w *profileWindow) bool {
		c, ok := w.keep().(*session.Comparison)
		return ok && c.Class == p.Class && c.Against == against
	}); !open {
		openComparison(a, path, p)
	}
}

// openComparison opens a window that compares a view with
// another recording's. It reads the other recording when the
// view is first built; the window shows an error if that fails.
func openComparison(a *app, path string, p session.Profile) {
	one, against := viewOf(p.Class), session.Relative(a.path, path)
	s := a.compared(one.title, one.name, path,
		func(one, other views.Named, o views.Options) (*views.Compared, error) {
			both, err := views.Compare(one, other, o, p.View)
			if err != nil {
				return nil, err
			}
			if missing := report.Missing(other.Recording); missing != "" {
				both.Old.Warnings = append(both.Old.Warnings, sampledata.Warning{
					Kind: "incomplete", Message: path + ": " + missing, Count: 1})
			}
			return both, nil
		})
	s.keep = func(p session.Profile) session.Window {
		return &session.Comparison{Profile: p, Against: against}
	}
	openSubject(a, s, p)
}
