package tui

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
)

// A profileWindow is the profile of one view while the user refines it.
type profileWindow struct {
	// replay has the steps that were done or tried when the view
	// was last built, including steps that found nothing;
	// replayed is the number of steps that were done. In another
	// span, the other steps may find something.
	replay   session.Profile
	replayed []refine.Step
	subject  *subject
	// opening has the steps that opened the first levels. While
	// there are no others, levels open that had too few hits
	// before.
	opening []refine.Step

	built
	content

	entries  entries
	switched map[string]bool // whether columns are shown, by their keys
	splits   entryCosts[views.Parts]

	intervals entryCosts[intervals]
	labels    *labels
	both      comparison // of a comparison
	detail    detail
	monitor   monitorText
	refiner   refiner
	slider    slider
}

// openSubject opens a profile window, and does its steps.
func openSubject(a *app, of *subject, s session.Profile) {
	w := &profileWindow{replay: s, subject: of, switched: make(map[string]bool)}
	w.entries.list = list{a: a, w: w, of: &w.entries, noun: "an entry", clicked: w.clickRow,
		scrolls: true, mark: 1, selected: s.Selected}
	// their columns of a large tree appear step by step
	w.splits = entryCosts[views.Parts]{w: w, compute: w.splitsOf, atOnce: 8}
	w.intervals = entryCosts[intervals]{w: w, compute: w.intervalsOf, atOnce: 8}
	w.both = comparison{
		costs: entryCosts[report.Both]{w: w, then: w.update, compute: report.CostsOfBoth},
		owns:  entryCosts[report.Both]{w: w, then: w.update, compute: report.OwnsOfBoth},
	}
	w.detail.w, w.refiner.w, w.slider.w = w, w, w
	w.labels = &labels{paths: s.Labels}
	w.labels.costs = entryCosts[*big.Rat]{w: w, compute: overlaps(s.Labels)}
	w.open(a, w, w.build)
}

func (w *profileWindow) title() string { return w.subject.title }

func (w *profileWindow) keep() session.Window { return w.subject.keep(w.done()) }

// done returns what the user has done in the window.
func (w *profileWindow) done() session.Profile {
	if w.session == nil {
		return w.replay
	}
	kept := session.Profile{Class: w.replay.Class, Selected: w.entries.selected,
		Labels: w.labels.paths}
	kept.KeepSteps(w.session)
	if n := len(w.replayed); len(kept.Steps) >= n && slices.Equal(kept.Steps[:n], w.replayed) {
		kept.Steps = slices.Concat(w.replay.Steps, kept.Steps[n:])
	}
	return kept
}

// A built is the result of building a view.
type built struct {
	viewed
	session *refine.Session // nil until the view is built
	opened  bool            // its first levels are open
}

// build makes the view with the app's options, and does the
// steps that were done in the window.
func (w *profileWindow) build() {
	w.replay = w.done()
	recording, options, config, replay, view := w.a.recording, w.a.options, w.a.config,
		w.replay, w.subject.view
	options.Slices = true
	levels, opens := w.a.levels, slices.Equal(replay.Steps, w.opening)
	work := func() (built, error) {
		v, err := view(recording, options)
		if err != nil {
			return built{}, err
		}
		s, _ := replay.Replay(v.Tree, config.AllAspects().Membership(v.Tree.Symbols()))
		if opens {
			s.Open(levels)
		}
		return built{v, s, opens}, nil
	}
	compute(&w.content, "Building the "+w.subject.name, work, func(b built) {
		w.built = b
		w.replayed = nil
		if w.session != nil {
			w.replayed = w.session.Steps()
			w.refiner.markReplayed()
			if w.opened { // one undo closes all that was opened
				w.replay.Steps, w.opening = w.replayed, w.replayed
				w.refiner.marks = []int{len(w.replayed)}
			}
		}
		w.splits.forget()
		w.intervals.forget()
		w.detail.forget()
		w.update()
	})
}
