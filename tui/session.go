package tui

import (
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
)

// restore opens what a session kept, or the summary alone where s is nil.
func (a *app) restore(s *session.State) {
	if s == nil {
		a.open(newSummaryWindow(a))
		return
	}
	config := *a.config
	a.config = &config
	a.options = s.Configure(&config)
	a.open(newSummaryWindow(a))
	for _, w := range s.Windows {
		a.reopen(w)
	}
	a.show(s.Active)
}

// reopen opens a window that a session kept.
func (a *app) reopen(w session.Window) {
	switch {
	case w.Locks:
		a.openLocks()
	case w.Against != "":
		path := w.Other(a.path)
		a.openComparison(path, func() (*sampledata.Recording, error) { return sampledata.Open(path) }, w)
	default:
		a.openProfile(w)
	}
}

// state is what a session keeps of the app: all windows but those of holders, which the window of the locks opens.
func (a *app) state() *session.State {
	s := &session.State{Options: a.options, Aspects: defined(a.given, a.config.Aspects)}
	for i, w := range a.windows {
		switch w := w.(type) {
		case *lockWindow:
			s.Windows = append(s.Windows, session.Window{Locks: true})
		case *profileWindow:
			if w.subject != nil && !w.compares() {
				continue
			}
			s.Windows = append(s.Windows, w.keep())
		default:
			continue
		}
		if i == a.active {
			s.Active = len(s.Windows)
		}
	}
	return s
}

// defined gives what of a set of aspects was not given at first; what was given and is there no more comes as an aspect
// without patterns, which takes it away.
func defined(given, now *aspects.Set) []aspects.Aspect {
	var list []aspects.Aspect
	for _, a := range now.All() {
		if before, there := given.Lookup(a.Name()); !there || !samePatterns(before, a) {
			list = append(list, a)
		}
	}
	for _, a := range given.All() {
		if _, there := now.Lookup(a.Name()); !there {
			if none, err := aspects.New(a.Name()); err == nil {
				list = append(list, none)
			}
		}
	}
	return list
}

func samePatterns(a, b aspects.Aspect) bool {
	return slices.EqualFunc(a.Patterns(), b.Patterns(), func(p, q aspects.Pattern) bool { return p.String() == q.String() })
}
