package tui

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A monitorText says how much of a tree is time waiting for locks, and for
// which part of that time the holders are known. It has the text in full, and a
// short one for a title; "" if there is no such time. It is kept for the last
// tree.
type monitorText struct {
	of          *calltree.Tree
	text, brief string
}

// attribution returns the monitorText of a window's view, if that is a Thread
// View.
func (w *profileWindow) attribution() monitorText {
	if !w.subject.single {
		return monitorText{}
	}
	if t := w.session.Tree(); w.monitor.of != t {
		w.monitor = monitorText{of: t, text: report.Monitor(t)}
		if waited, attributed := views.LockTime(t); waited.Hits.Sign() > 0 {
			w.monitor.brief = "MONITOR " + report.Attributed(waited.Weight,
				attributed.Weight) + " known"
		}
	}
	return w.monitor
}
