package main

import (
	"cmp"
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/views"
)

// A pair is the two recordings of a comparison.
type pair struct{ a, b *source }

// openPair opens both recordings, each once.
func (f *viewFlags) openPair(path string) (p pair, err error) {
	if p.a, err = f.open(path); err != nil {
		return p, err
	}
	of := *f
	of.calls = cmp.Or(f.againstCalls, f.calls)
	if p.b, err = of.open(f.against); err != nil {
		return p, err
	}
	if (p.a.recording.Profile == nil) != (p.b.recording.Profile == nil) {
		return p, usagef("%s and %s: a recording and a profile can't be compared", path, f.against)
	}
	return p, nil
}

// openRecordings opens both recordings, and fails if they are profiles.
func (f *viewFlags) openRecordings(path string) (pair, error) {
	p, err := f.openPair(path)
	if err == nil && p.a.recording.Profile != nil {
		return p, usagef("%s and %s are profiles, which have no states of goroutines: 'cpprof report %s --against %s' compares them",
			path, f.against, words.Shell(path), words.Shell(f.against))
	}
	return p, err
}

// compare makes a view of both.
func (p pair) compare(view views.Maker) (*views.Compared, error) {
	return views.Compare(p.a.named(), p.b.named(), p.a.options, view)
}

// merge makes one view of the two of a comparison.
func (p pair) merge(compared *views.Compared) (*view, error) {
	both, err := compared.Merge()
	if err != nil {
		return nil, fmt.Errorf("comparing %s with %s: %w", p.a.path, p.b.path, err)
	}
	return &view{both, p.a}, nil
}

func (p pair) headlines(t terminal) {
	for _, s := range []*source{p.b, p.a} {
		report.Headline(t.out, s.path, s.recording)
	}
}

// comparedViews returns the view that the flags ask for, of two recordings.
func (f *viewFlags) comparedViews(path string) (a, b *view, err error) {
	p, err := f.openPair(path)
	if err != nil {
		return nil, nil, err
	}
	if err := f.needView(path); err != nil {
		return nil, nil, err
	}
	c, err := p.compare(f.maker())
	if err != nil {
		return nil, nil, err
	}
	c.New.Warnings = append(c.New.Warnings, c.Inlining...)
	return &view{c.New, p.a}, &view{c.Old, p.b}, nil
}

// compare reports the costs of a view in two recordings, side by side.
func (f *reportFlags) compare(t terminal, path string) error {
	p, err := f.openPair(path)
	if err != nil {
		return err
	}
	all := !f.server && f.thread == ""
	if all && (len(f.steps) > 0 || f.order == byOwn) {
		return f.needView(path)
	}
	if all {
		return f.compareAll(t, p)
	}
	compared, err := p.compare(f.maker())
	if err != nil {
		return err
	}
	c, err := f.comparison(p, compared)
	if err != nil {
		return err
	}
	c.Color, c.Width = t.color, t.width()
	if f.json {
		return c.WriteJSON(t.out)
	}
	p.headlines(t)
	c.Write(t.out)
	if len(f.steps) == 0 && !f.auto {
		termtext.Fprintf(t.out,
			"\nRefine it: --auto, --down '*', --extended '*', or --up '* | FUNCTION'.\n")
	}
	return nil
}

// comparison refines the compared views as the flags say.
func (f *reportFlags) comparison(p pair, compared *views.Compared) (*report.Comparison, error) {
	both, err := p.merge(compared)
	if err != nil {
		return nil, err
	}
	session, err := f.session(both)
	if err != nil {
		return nil, err
	}
	c := report.Compare(session, p.a.options, p.a.named(), p.b.named())
	c.Warnings = both.Warnings
	return c, nil
}

// compareAll prints the overview of two recordings: the classes, the
// processors' time, and the class that changed most.
func (f *reportFlags) compareAll(t terminal, p pair) error {
	classes, err := p.classes()
	if err != nil {
		return err
	}
	shown, next, err := f.changedViews(p, classes)
	if err != nil {
		return err
	}
	all := &report.ClassesCompared{Pairs: classes, New: p.a.named(), Old: p.b.named(),
		Width: t.width()}
	if f.json {
		return report.OverviewComparedJSON(t.out, all, shown)
	}
	p.headlines(t)
	all.Pairs = working(p.a, classes, (*views.ClassPair).OnlyIdle)
	all.Write(t.out)
	for _, c := range shown {
		c.Color, c.Width = t.color, t.width()
		termtext.Fprintln(t.out)
		c.Write(t.out)
	}
	_, err = termtext.Fprintf(t.out, "\nGo on with\n  cpprof find %s --against %s %s\n",
		words.Shell(p.a.path), words.Shell(p.b.path), next)
	return err
}

// changedViews compares the Server View, and the Thread View of
// the class that changed most. It also returns the flag of the
// last of them.
func (f *reportFlags) changedViews(p pair,
	classes []views.ClassPair) (shown []*report.Comparison, next string, err error) {
	makers := []views.Maker{views.Server}
	next = "--server"
	if class, common := views.MostChanged(classes); common {
		makers = append(makers, views.ThreadMaker(class))
		next = "--thread " + words.Shell(class)
	}
	auto := *f
	auto.auto = true
	for i, maker := range makers {
		compared, err := p.compare(maker)
		if err != nil {
			return nil, "", err
		}
		if i > 0 {
			compared.Inlining = nil // the first view has the same warning
		}
		c, err := auto.comparison(p, compared)
		if err != nil {
			return nil, "", err
		}
		shown = append(shown, c)
	}
	return shown, next, nil
}

// classes sums up the classes of both.
func (p pair) classes() ([]views.ClassPair, error) {
	return views.ComparedClasses(p.a.named(), p.b.named(), p.a.options)
}
