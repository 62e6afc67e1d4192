package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// toggleMark marks the selected class for a merge, or removes
// its mark, and goes to the next one.
func (w *summaryWindow) toggleMark() {
	if w.list.current() < 0 {
		return
	}
	class := w.list.selected
	if w.marked[class] {
		delete(w.marked, class)
	} else {
		w.marked[class] = true
	}
	w.list.move(1)
}

// askMerge asks for the name of the class that has the
// goroutines of all marked classes. If none is marked, it splits
// the selected class, if that is a merged one.
func (w *summaryWindow) askMerge() {
	var classes []string
	for _, c := range w.all {
		if w.marked[c.Class] {
			classes = append(classes, patternOf(c.Class))
		}
	}
	switch {
	case len(classes) > 0:
		w.a.ask(fmt.Sprintf("merge %d into class:", len(classes)), "", nil,
			func(name string) error {
				if name == "" {
					return nil
				}
				if err := w.a.merge(name, classes...); err != nil {
					return err
				}
				clear(w.marked)
				w.list.selected = calltree.MergedClass +
					strings.TrimPrefix(name, calltree.MergedClass)
				w.a.say("M splits it again; ':merges save' keeps it in %s.", config.Name)
				return nil
			})
	case w.list.current() >= 0 && w.a.split(w.list.selected):
		w.a.say("%s is split into its classes again.", w.list.selected)
	default:
		w.a.say("Space marks the classes to merge; M on a merged class splits it.")
	}
}

// longestPattern is the greatest number of bytes of a class's
// name in a pattern.
const longestPattern = 900

// patternOf returns the pattern of a class. A "*" in it stands
// for characters that no pattern can have, and for the end of a
// very long name.
func patternOf(class string) string {
	end := ""
	if len(class) > longestPattern {
		class, end = class[:longestPattern], "*"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '*'
		}
		return r
	}, class) + end
}

// merge merges the classes that match patterns, in all windows.
func (a *app) merge(name string, patterns ...string) error {
	m, err := config.NewMerge(name, patterns...)
	if err != nil {
		return err
	}
	a.setConfig(func(c *config.Config) { c.Merges = append(slices.Clone(c.Merges), m) })
	return nil
}

// split reverts the merges into a class, and reports whether
// there was one.
func (a *app) split(class string) bool {
	rest := slices.DeleteFunc(slices.Clone(a.config.Merges),
		func(m config.Merge) bool { return m.Class() == class })
	if len(rest) == len(a.config.Merges) {
		return false
	}
	a.setConfig(func(c *config.Config) { c.Merges = rest })
	return true
}

// askFilter asks for the text that the names of classes must have.
func (w *summaryWindow) askFilter() {
	w.a.ask("filter: ", w.filter, nil, func(text string) error {
		w.filter = text
		w.choose()
		return nil
	})
}

// clear shows all classes again or, without a filter, counts the
// whole recording.
func (w *summaryWindow) clear() {
	if w.filter == "" {
		w.timeline.countAll()
		return
	}
	w.filter = ""
	w.choose()
}

// toggleIdle hides or shows the classes that do hardly anything
// but wait for work.
func (w *summaryWindow) toggleIdle() {
	w.hideIdle = !w.hideIdle
	w.choose()
	if w.hideIdle {
		w.a.say("Classes that do hardly anything but wait for work are hidden: H shows them.")
		return
	}
	w.a.say("All classes are shown: H hides those that do hardly anything but wait for work.")
}

// choose takes the classes that are shown from all classes. A
// filter also finds those that do hardly anything but wait for
// work.
func (w *summaryWindow) choose() {
	w.classes = slices.DeleteFunc(slices.Clone(w.all), func(c views.ClassPair) bool {
		if w.filter != "" {
			return !strings.Contains(strings.ToLower(c.Class), strings.ToLower(w.filter))
		}
		return w.hideIdle && w.a.recording.Profile == nil && c.OnlyIdle()
	})
	if len(w.classes) == 0 && w.filter == "" {
		w.classes = slices.Clone(w.all)
	}
	w.order.sort(w.classes, w.columns)
	w.list.reselect()
	if w.list.at < 0 {
		w.list.choose(0)
	}
}

// hidden says how many classes are not shown, and why; "" if all are.
func (w *summaryWindow) hidden() string {
	n := len(w.all) - len(w.classes)
	switch {
	case len(w.classes) == 0 && n > 0:
		return fmt.Sprintf("\nno class has %q in its name: f changes the filter, Esc clears it",
			w.filter)
	case n == 0:
		return ""
	case w.filter != "":
		return fmt.Sprintf("\n%d of %d classes are hidden by the filter %q: f changes it, Esc clears it", n, len(w.all), w.filter)
	}
	return fmt.Sprintf("\n%d of %d classes are hidden, which did hardly anything but wait for work: H shows them", n, len(w.all))
}
