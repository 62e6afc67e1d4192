package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
)

// LabelMark stands before the entries that are labelled.
const LabelMark = "◆ "

// LabelsHead is the head of the column of overlaps, which stand below it as Overlap gives them.
const LabelsHead = "  label"

// Overlap shows an entry's overlap with the labels, right-justified; nil is one that isn't known yet.
func Overlap(cost *big.Rat) string {
	text := "…"
	if cost != nil {
		text = Cost(cost)
	}
	return fmt.Sprintf("%*s", len(LabelsHead), text)
}

// A labelled profile is one with labels, and what it shares with them.
type labelled struct {
	overlaps map[string]*big.Rat // of the entries that are shown, by key; nil where there are no labels
	keys     []string            // of the labels
}

func newLabelled(s *refine.Session, labels []callpath.Path) labelled {
	var l labelled
	if len(labels) == 0 {
		return l
	}
	for _, path := range labels {
		l.keys = append(l.keys, path.String())
	}
	var keys []string
	var paths []callpath.Path
	s.Walk(func(e *refine.Entry, _ int) {
		keys = append(keys, e.Key())
		paths = append(paths, e.Path)
	})
	shared := refine.Labelled(s.Tree(), s.Membership(), labels)
	l.overlaps = make(map[string]*big.Rat)
	for i, hits := range callpath.Costs(shared, s.Membership(), paths) {
		l.overlaps[keys[i]] = shared.Main().Cost(hits)
	}
	return l
}

// legend says what the column is of; "" where there is none.
func (l *labelled) legend() string {
	if len(l.keys) == 0 {
		return ""
	}
	return fmt.Sprintf("label is the cost that an entry shares with %s\n", Printable(strings.Join(l.keys, ", ")))
}

func (l *labelled) head() string {
	if len(l.keys) == 0 {
		return ""
	}
	return LabelsHead
}

// column is an entry's part of the column, and mark what stands before its name.
func (l *labelled) column(e *refine.Entry) string {
	if len(l.keys) == 0 {
		return ""
	}
	return Overlap(l.overlaps[e.Key()])
}

func (l *labelled) mark(e *refine.Entry) string {
	if slices.Contains(l.keys, e.Key()) {
		return LabelMark
	}
	return ""
}

// overlap is an entry's as data.
func (l *labelled) overlap(e *refine.Entry) *float64 {
	cost, there := l.overlaps[e.Key()]
	if !there {
		return nil
	}
	shared := float(cost)
	return &shared
}
