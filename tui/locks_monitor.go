package tui

import (
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
)

// A monitorText says how much of a tree is waiting for locks, and of how much of that the holders are known: whole, and as
// brief as a title wants it; "" if there is none. It is that of the last tree.
type monitorText struct {
	of          *calltree.Tree
	text, brief string
}

// attribution is the monitorText of a window's view, if that is a Thread View.
func (w *profileWindow) attribution() monitorText {
	if !w.subject.single {
		return monitorText{}
	}
	if t := w.session.Tree(); w.monitor.of != t {
		w.monitor = monitorText{of: t, text: report.Monitor(t)}
		if waited, attributed := views.LockTime(t); waited.Sign() > 0 {
			w.monitor.brief = "MONITOR " + report.Attributed(waited, attributed) + " known"
		}
	}
	return w.monitor
}
