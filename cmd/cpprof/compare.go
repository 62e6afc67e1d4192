package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// comparedViews makes the same view of two recordings.
func (f *viewFlags) comparedViews(path, against string) (a, b *subject, err error) {
	if err := f.needView(path); err != nil {
		return nil, nil, err
	}
	first, err := f.open(path)
	if err != nil {
		return nil, nil, err
	}
	second, err := f.open(against)
	if err != nil {
		return nil, nil, err
	}
	if f.noInlines {
		inlined := views.Inlined(first.recording, second.recording)
		first.options.AlsoInlined, second.options.AlsoInlined = inlined, inlined
	}
	if a, err = f.subjectOf(first); err != nil {
		return nil, nil, err
	}
	if b, err = f.subjectOf(second); err != nil {
		return nil, nil, err
	}
	a.warnings = append(a.warnings, inliningChanged(first, second)...)
	return a, b, nil
}

// shownCalls is how many calls a warning names.
const shownCalls = 3

// inliningChanged warns of calls that were inlined in one of two recordings only: the builds differ there.
func inliningChanged(a, b *source) []sampledata.Warning {
	calls := views.InliningChanges(a.recording, b.recording)
	if len(calls) == 0 {
		return nil
	}
	var names []string
	for _, c := range calls[:min(len(calls), shownCalls)] {
		names = append(names, c.Callee+" into "+c.Caller)
	}
	if more := len(calls) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "they are shown as calls in both; --no-inlines merges them into their callers in both"
	if a.options.NoInlines {
		what = "they are merged into their callers in both"
	}
	return []sampledata.Warning{{
		Kind:    "inlining-changed",
		Message: fmt.Sprintf("inlined in one of the recordings only: %s; %s", strings.Join(names, ", "), what),
		Count:   1,
	}}
}

// compare reports on what a view of two recordings costs in each.
func (f *reportFlags) compare(t terminal, path string, color bool) error {
	if !f.server && f.thread == "" {
		if len(f.steps) > 0 || f.json {
			return f.needView(path)
		}
		return f.compareAll(t, path, color)
	}
	c, a, b, err := f.comparison(path)
	if err != nil {
		return err
	}
	c.Color = color
	if f.json {
		return c.WriteJSON(t.out)
	}
	if err := headlines(t, a.from, b.from); err != nil {
		return err
	}
	if err := c.Write(t.out); err != nil {
		return err
	}
	if len(f.steps) == 0 && !f.auto {
		fmt.Fprintln(t.out, "\nRefine it: --auto, --down '*', --extended '*', or --up '* | FUNCTION'.")
	}
	return nil
}

func headlines(t terminal, a, b *source) error {
	for _, s := range []*source{a, b} {
		if err := report.Headline(t.out, s.path, s.recording); err != nil {
			return err
		}
	}
	return nil
}

// comparison makes the view that the flags ask for, of both recordings, refined as they say.
func (f *reportFlags) comparison(path string) (c *report.Comparison, a, b *subject, err error) {
	a, b, err = f.comparedViews(path, f.against)
	if err != nil {
		return nil, nil, nil, err
	}
	limit, err := f.threshold(a.from.config)
	if err != nil {
		return nil, nil, nil, err
	}
	both, err := calltree.Merge(a.tree, b.tree)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("comparing %s with %s: %w", a.path, b.path, err)
	}
	session, err := f.session(both, a.from.config.AllAspects().Membership(both.Symbols()), limit)
	if err != nil {
		return nil, nil, nil, err
	}
	return &report.Comparison{
		Session: session, Title: a.title, A: a.path, B: b.path, Warnings: slices.Concat(a.warnings, b.warnings),
	}, a, b, nil
}

// compareAll shows what a person wants to see first of two recordings: the classes, the processors' time, and the class
// that changed most.
func (f *reportFlags) compareAll(t terminal, path string, color bool) error {
	var sources [2]*source
	var classes [2][]views.ClassSummary
	for i, p := range []string{path, f.against} {
		var err error
		if sources[i], err = f.open(p); err != nil {
			return err
		}
		if classes[i], err = views.Classes(sources[i].recording, sources[i].options); err != nil {
			return err
		}
	}
	if err := headlines(t, sources[0], sources[1]); err != nil {
		return err
	}
	if err := report.ClassesCompared(t.out, classes[0], classes[1]); err != nil {
		return err
	}
	each := []reportFlags{*f}
	each[0].server = true
	next := "--server"
	if class, common := views.MostChanged(classes[0], classes[1]); common {
		each = append(each, *f)
		each[1].thread = class
		next = "--thread " + shellWord(class)
	}
	for _, view := range each {
		view.auto = true
		c, _, _, err := view.comparison(path)
		if err != nil {
			return err
		}
		c.Color = color
		fmt.Fprintln(t.out)
		if err := c.Write(t.out); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, "\nGo on with\n  cpprof find %s --against %s %s\n", shellWord(path), shellWord(f.against), next)
	return err
}
