package tui

import (
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
)

// A monitorText says how much of a tree is waiting for locks, and of how much of that the holders are known; "" where there
// is none. It remembers the last tree's.
type monitorText struct {
	of   *calltree.Tree
	text string
}

// attribution is the monitorText of a window's view, where that is a Thread View.
func (w *profileWindow) attribution() string {
	if w.subject != nil {
		return ""
	}
	return w.monitor.in(w.session.Tree())
}

func (m *monitorText) in(t *calltree.Tree) string {
	if m.of != t {
		m.of, m.text = t, report.Monitor(t)
	}
	return m.text
}
