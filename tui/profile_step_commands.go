package tui

import (
	"fmt"
	"strconv"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
)

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

func (r *refiner) stepCommand(kind refine.Kind) func(string) error {
	return func(text string) error {
		p, err := callpath.Parse(text)
		if err == nil {
			r.w.a.act(r.w, func() { r.step(kind, text, func() { r.chooseStep(p) }) })
		}
		return err
	}
}

func (r *refiner) upCommand(text string) error {
	p1, p2, err := callpath.ParseSplit(text)
	if err == nil {
		r.w.a.act(r.w, func() { r.up(p1, p2) })
	}
	return err
}

func (r *refiner) pruneCommand(text string) error {
	e, err := callpath.ParseExpr(text)
	if err == nil {
		r.w.a.act(r.w, func() { r.prune(e) })
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
	r.w.a.act(r.w, func() { r.auto(steps) })
	return nil
}
