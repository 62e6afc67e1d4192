package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
)

// LabelMark comes before the name of a labelled entry.
const LabelMark = "◆ "

// LabelsHead is the head of the column of overlaps. Overlap formats the cells
// of this column.
const LabelsHead = "  label"

// Overlap formats an entry's overlap with the labels, right-justified. A nil
// cost is one that isn't known yet.
func Overlap(cost *big.Rat) string {
	text := "…"
	if cost != nil {
		text = Cost(cost)
	}
	return fmt.Sprintf("%*s", len(LabelsHead), text)
}

// A labelled has the labels of a profile, and the overlaps of its entries
// with them.
type labelled struct {
	overlaps map[string]*big.Rat // of the shown entries, by key; nil if there are no labels
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
	for i, total := range callpath.Totals(shared, s.Membership(), paths) {
		l.overlaps[keys[i]] = shared.Main().Cost(total.Weight)
	}
	return l
}

// legend explains the column, or returns "" if there are no labels.
func (l *labelled) legend() string {
	if len(l.keys) == 0 {
		return ""
	}
	return fmt.Sprintf("label is the cost that an entry shares with %s\n",
		termtext.Printable(strings.Join(l.keys, ", ")))
}

func (l *labelled) head() string {
	if len(l.keys) == 0 {
		return ""
	}
	return LabelsHead
}

// column returns an entry's cell in the column, and mark returns what comes
// before the entry's name.
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

// overlap returns an entry's overlap for JSON.
func (l *labelled) overlap(e *refine.Entry) *float64 {
	cost, there := l.overlaps[e.Key()]
	if !there {
		return nil
	}
	shared := float(cost)
	return &shared
}
