package tui

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// commands are the commands of a profile window.
func (w *profileWindow) commands() []command {
	return []command{
		newCommand("down PATH", "refine a path by the functions that it calls immediately",
			w.refiner.stepCommand(refine.KindDown), nil),
		newCommand("extended PATH", "refine a path by all functions below it",
			w.refiner.stepCommand(refine.KindExtended), nil),
		newCommand("up P1 | P2", "split P1 ..P2 by the callers of P2 below P1", w.refiner.upCommand,
			nil),
		newCommand("follow PATH", "refine a path down to its first branch",
			w.refiner.stepCommand(refine.KindFollow), nil),
		newCommand("prune EXPR", "keep the stacks that satisfy paths joined by and, or, not, ( )",
			parsed(w, callpath.ParseExpr, w.refiner.prune), nil),
		newCommand("zoom PATH", "make the stacks of a path the whole",
			w.refiner.stepCommand(refine.KindZoom), nil),
		newCommand("auto [STEPS]", "refine the heaviest entries automatically",
			w.refiner.autoCommand, oneOf()),
		newCommand("threshold HITS|COST", "show entries of at least 20 (hits), 0.05 or 5%",
			parsed(w, refine.ParseThreshold, w.slider.set), oneOf()),
		newCommand("against RECORDING", "compare this view with that of another recording",
			w.againstCommand, oneOf()),
		newCommand("write FILE", "write the window as text, or as JSON to FILE.json",
			func(f string) error { return w.write(f, os.O_EXCL) }, oneOf()),
		newCommand("write! FILE", "the same, and replace an existing file",
			func(f string) error { return w.write(f, os.O_TRUNC) }, oneOf()),
	}
}

// names returns all names that an element of a path in the view can have.
func (w *profileWindow) names() []string {
	if w.session == nil {
		return nil
	}
	list := append([]string{calltree.RootName}, w.session.Membership().Names()...)
	syms := w.session.Tree().Symbols()
	for i := range syms.Len() {
		list = append(list, callpath.Frame(syms.Name(calltree.Func(i))).String())
	}
	return list
}

// takePath adds the entry of a path to the profile, and selects
// it. A text that begins with ".." continues the path of the
// selected entry.
func (w *profileWindow) takePath(text string) error {
	if e := w.entries.entry(); e != nil && strings.HasPrefix(text, "..") {
		text = e.Key() + " " + text
	}
	return w.refiner.stepCommand(refine.KindPath)(text)
}

// againstCommand opens a window that compares the view with another
// recording's. It always reads the other recording again.
func (w *profileWindow) againstCommand(path string) error {
	if path == "" || !w.subject.single {
		return fmt.Errorf("want the recording to compare with, in the window of a view")
	}
	w.a.readOther(w, path, func() {
		openComparison(w.a, path, session.Profile{Class: w.replay.Class, Threshold: w.a.threshold})
	})
	return nil
}

// write writes the window into a file, in the format of 'cpprof report'.
func (w *profileWindow) write(name string, mode int) error {
	if name == "" {
		return fmt.Errorf("want a file's name, such as profile.txt or profile.json")
	}
	if w.session == nil {
		return fmt.Errorf("there is nothing to write yet")
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: write! replaces it", name)
	} else if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	if as := w.report(); strings.HasSuffix(name, ".json") {
		err = as.WriteJSON(out)
	} else {
		as.Write(out)
	}
	if err := errors.Join(err, out.Flush(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	w.a.say("Written: %s", name)
	return nil
}

// report returns the window as a report of 'cpprof report'.
func (w *profileWindow) report() report.Report {
	if w.compares() {
		c := report.Compare(w.session, w.a.options,
			views.Named{Name: w.a.path, Recording: w.a.recording},
			views.Named{Name: w.subject.against, Recording: w.other})
		c.Labels, c.Warnings = w.labels.paths, w.Warnings
		return c
	}
	title := report.Title(w.a.recording, w.session.Tree().Root(), w.a.options, w.IdleShare())
	if !w.subject.single {
		title = w.subject.name
	}
	return &report.Profile{Session: w.session, Labels: w.labels.paths, Title: title,
		Warnings: w.Warnings, Basis: report.BasisOf(w.a.recording)}
}

// chooseStep selects the entry of a step's path.
func (r *refiner) chooseStep(p callpath.Path) {
	if e := r.w.session.Find(p); e != nil {
		r.w.entries.chooseKey(e.Path.String())
		r.w.entries.revealBelow(e.Path)
		if !r.w.session.Visible(e) {
			r.w.a.say("%s has %s: it is hidden by the threshold ([ lowers it).",
				e.Key(), report.CountedHits(e.Hits))
		}
	}
}

// parsed returns a command that does something with its
// argument, once the window has no job.
func parsed[T any](w *profileWindow, parse func(string) (T, error), do func(T)) func(string) error {
	return func(text string) error {
		of, err := parse(text)
		if err == nil {
			w.a.act(w, func() { do(of) })
		}
		return err
	}
}

func (r *refiner) stepCommand(kind refine.Kind) func(string) error {
	return func(text string) error {
		return parsed(r.w, callpath.Parse, func(p callpath.Path) {
			r.step(kind, text, func() { r.chooseStep(p) })
		})(text)
	}
}

func (r *refiner) upCommand(text string) error {
	p1, p2, err := callpath.ParseSplit(text)
	if err == nil {
		r.w.a.act(r.w, func() { r.up(p1, p2) })
	}
	return err
}

func (r *refiner) autoCommand(text string) error {
	steps := autoSteps
	if text != "" {
		var err error
		if steps, err = strconv.Atoi(text); err != nil || steps < 1 {
			return fmt.Errorf("want a number of steps, such as 12")
		}
	}
	r.w.a.act(r.w, r.w.selected(func(e *refine.Entry) { r.auto(e, steps) }))
	return nil
}
