package tui

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/tui/session"
)

// restore opens the windows of a session, or the summary alone
// if s is nil. Without a session, samples is the list that
// counts.
func (a *app) restore(s *session.State, samples string) {
	if s == nil {
		a.restoreCounted(counted{list: samples})
		openSummary(a, session.Summary{All: !a.options.LeaveOutIdle})
		return
	}
	config := *a.config
	a.config = &config
	a.options = s.Configure(&config)
	a.restoreCounted(counted{list: s.Samples, calls: s.Calls})
	if a.against == "" {
		a.against = session.Other(a.path, s.Summary.Against)
	}
	openSummary(a, s.Summary)
	for _, w := range s.Windows {
		a.reopen(w)
	}
	a.show(s.Active)
}

// restoreCounted counts only the samples of a list, or the time
// inside calls, before there are windows.
func (a *app) restoreCounted(only counted) {
	if only.text() == "" {
		return
	}
	if a.live.growing() { // and may have no sample of the list yet
		only.none = true
		a.counts = only
		return
	}
	only.by = a.measured()
	if picked, err := only.pick(only.by); err != nil {
		a.fail(fmt.Errorf("samples %s: %w", only.text(), err))
	} else {
		a.recording, a.counts = picked, only
	}
}

// state returns the state that a session keeps of the app.
func (a *app) state() *session.State {
	s := &session.State{Options: a.options, Aspects: defined(a.given.Aspects, a.config.Aspects),
		Merges: without(a.config.Merges, a.given.Merges, config.Merge.Equal),
		Lists: without(a.config.Lists, a.given.Lists,
			func(d, e config.Definition) bool { return d == e }),
		Samples: a.counts.list, Calls: a.counts.calls}
	for i, w := range a.windows {
		if summary, ok := w.(*summaryWindow); ok {
			s.Summary = summary.kept()
		}
		kept := w.keep()
		if kept == nil {
			continue
		}
		s.Windows = append(s.Windows, kept)
		if i == a.active {
			s.Active = len(s.Windows)
		}
	}
	return s
}

// without returns the elements of a list that are not among others.
func without[T any](list, others []T, equal func(x, y T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		return slices.ContainsFunc(others, func(y T) bool { return equal(x, y) })
	})
}

// defined returns the aspects in now that differ from given. For
// an aspect of given that is missing in now, it returns an
// aspect without patterns, which removes it.
func defined(given, now *aspects.Set) []aspects.Aspect {
	list := without(now.All(), given.All(), func(a, b aspects.Aspect) bool {
		return a.Name() == b.Name() && slices.EqualFunc(a.Patterns(), b.Patterns(),
			func(p, q aspects.Pattern) bool { return p.String() == q.String() })
	})
	for _, a := range given.All() {
		if _, there := now.Lookup(a.Name()); !there {
			if none, err := aspects.New(a.Name()); err == nil {
				list = append(list, none)
			}
		}
	}
	return list
}
