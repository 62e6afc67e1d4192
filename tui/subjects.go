package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
)

// A subject is what a profile window is of, where it is not the Server View or a Thread View of the recording. Such windows
// are not kept in a session.
type subject struct {
	title string // of the tab
	name  string // "Locks and what their holders do"
	view  func(*sampledata.Recording, views.Options) (viewed, error)

	against string // the recording that it is compared with, where the tree is one of calltree.Merge and costs are shown in both
}

// A viewed is a view with what there is to say of its entries beside, in the detail pane, by the last element of their path.
type viewed struct {
	*views.View
	notes map[string][]string
}

// openHolders opens a window of the locks that were waited for: below each who held it, and what the holder was doing.
func (a *app) openHolders(s session.Window) {
	a.openSubject(&subject{title: "Holders", name: "Locks, their holders and what these do", view: viewLocks}, s)
}

func viewLocks(r *sampledata.Recording, o views.Options) (viewed, error) {
	found, err := locks.Analyse(r, o)
	if err != nil {
		return viewed{}, err
	}
	if len(found.Locks) == 0 {
		return viewed{}, fmt.Errorf("no goroutine was seen waiting for a lock")
	}
	notes := make(map[string][]string)
	for _, l := range found.Locks {
		lines := []string{fmt.Sprintf("%s goroutines waited for it on average; the holder is known of %s of the hits",
			report.Decimal(found.Mean(l.Hits), 1), report.Cost(l.Share(l.Attributed()))), "Waited for by"}
		for _, w := range l.Waiters {
			lines = append(lines, fmt.Sprintf("%6d  %s in %s (%s)", w.Hits, w.Class, w.In, w.Reason))
		}
		notes[l.String()] = lines
	}
	return viewed{found.Held, notes}, nil
}

// openComparison opens a window that compares a view of the recording with that of another one.
func (a *app) openComparison(class, path string, other *sampledata.Recording) {
	replay := session.Window{Class: class}
	w := &profileWindow{replay: replay}
	a.openSubject(&subject{
		title: "Δ " + w.title(), name: w.viewName(), against: path,
		view: func(r *sampledata.Recording, o views.Options) (viewed, error) { return viewBoth(replay, r, other, o) },
	}, session.Window{Class: class, Threshold: a.threshold})
}

// viewBoth merges a view of two recordings. The span is the first one's alone.
func viewBoth(of session.Window, a, b *sampledata.Recording, o views.Options) (viewed, error) {
	first, err := of.View(a, o)
	if err != nil {
		return viewed{}, fmt.Errorf("first recording: %w", err)
	}
	o.Span = views.Span{}
	second, err := of.View(b, o)
	if err != nil {
		return viewed{}, fmt.Errorf("second recording: %w", err)
	}
	both, err := calltree.Merge(first.Tree, second.Tree)
	if err != nil {
		return viewed{}, err
	}
	return viewed{View: &views.View{Tree: both, Warnings: append(first.Warnings, second.Warnings...)}}, nil
}
