package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/why"
)

// A costWindow is a window with a selected cost.
type costWindow interface {
	// cost returns the selected call path, or the name of the selected lock; ""
	// if there is none.
	cost() string
}

func (w *profileWindow) cost() string {
	if e := w.entries.entry(); e != nil {
		return e.Key()
	}
	return ""
}

func (w *lockWindow) cost() string {
	if i := w.item(); i != nil && i.lock != nil {
		return i.lock.Name
	}
	return ""
}

// withoutCommand shows what it would bring if a cost went away, or half of it:
// the selected cost if there is no other.
func (a *app) withoutCommand(args string) error {
	name, half := strings.CutPrefix(args, "half of ")
	if name == "half" {
		name, half = "", true
	}
	w := a.window()
	if c, ok := w.(costWindow); ok && name == "" {
		name = c.cost()
	}
	if name == "" {
		return fmt.Errorf("want a call path or a lock's name, such as 'half of main.handle'")
	}
	src := &session.Source{Recording: a.recording, Config: a.config, Options: a.options}
	work := func() (*why.Removal, error) {
		return why.Without(src.Recording, why.OptionsOf(src.Config, src.Options), name, half)
	}
	start(a, w, "Computing what it would bring", work, func(r *why.Removal, err error) {
		if err != nil {
			a.fail(err)
			return
		}
		text := printable(report.RemovalOf(r, report.BasisOf(a.recording)).Text)
		a.overlay = newTextPage(a, func() string { return text })
	})
	return nil
}
