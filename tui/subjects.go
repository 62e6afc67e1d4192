package tui

import (
	"fmt"
	"sync"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
)

// A subject is what a profile window is of, where it is not the Server View or a Thread View of the recording. Of such
// windows, a session keeps comparisons.
type subject struct {
	title string // of the tab
	name  string // "Locks and what their holders do"
	view  func(*sampledata.Recording, views.Options) (viewed, error)

	// against is the recording that is compared with; "" for none. The tree is one of calltree.Merge then, and costs are
	// shown in both.
	against string
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

// showComparison shows the window that openComparison would open, where there is one already.
func (a *app) showComparison(path string, read func() (*sampledata.Recording, error), s session.Window) {
	for i, w := range a.windows {
		p, ok := w.(*profileWindow)
		if ok && p.compares() && p.replay.Class == s.Class && p.replay.Against == session.Relative(a.path, path) {
			a.show(i)
			return
		}
	}
	a.openComparison(path, read, s)
}

// openComparison opens a window that compares a view of the recording with that of another one, which is read when the view
// is first built, and is told of in the window where that fails.
func (a *app) openComparison(path string, read func() (*sampledata.Recording, error), s session.Window) {
	s.Against = session.Relative(a.path, path)
	read = sync.OnceValues(read)
	w := &profileWindow{replay: s}
	a.openSubject(&subject{
		title: "Δ " + w.title(), name: w.viewName(), against: path,
		view: func(r *sampledata.Recording, o views.Options) (viewed, error) {
			other, err := read()
			if err != nil {
				return viewed{}, fmt.Errorf("comparing with %s: %w", path, err)
			}
			v, err := s.Compared(r, other, o)
			return viewed{View: v}, err
		},
	}, s)
}
