package session

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views/locks"
)

// HoldersKind is the kind of window that shows the locks that goroutines waited
// for, and what their holders did.
var HoldersKind = Kind{Name: "holders", New: func() Window { return new(Holders) }}

// HoldersTitle is the title of such a window.
const HoldersTitle = "Locks, their holders and what these do"

// A Holders is a window with the refined view of the holders of all locks. Its
// Class is "".
type Holders struct{ Profile }

func (*Holders) Kind() Kind { return HoldersKind }

// Report returns the profile with the window's refinements.
func (h *Holders) Report(src *Source) (report.Report, error) {
	found, err := locks.Analyse(src.Recording, src.Options, locks.ByInstance)
	if err != nil {
		return nil, err
	}
	return h.report(found.Held, HoldersTitle, src), nil
}
