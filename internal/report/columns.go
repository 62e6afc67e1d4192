package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
)

// CostHead returns the head of the column of costs.
func CostHead(s *refine.Session) string {
	if s.Display().OfParent {
		return "parent"
	}
	return "cost"
}

// OwnHead returns the head of the column of own costs, "" if the
// display has none.
func OwnHead(s *refine.Session) string {
	if !s.Display().Own {
		return ""
	}
	return fmt.Sprintf("  %5s", "own")
}

// OwnColumn returns an entry's own cost in that column. It is a
// fraction of the whole, also if costs are not.
func OwnColumn(s *refine.Session, e *refine.Entry) string {
	if !s.Display().Own {
		return ""
	}
	text := "…"
	if own, known := s.Own(e); known {
		text = Cost(s.Tree().Main().Cost(own))
	}
	return fmt.Sprintf("  %5s", text)
}

// Zoomed returns a line that says which stacks are the whole, ""
// if it is the view.
func Zoomed(s *refine.Session) string {
	path := ZoomedTo(s)
	if path == "" {
		return ""
	}
	return termtext.Sprintf("zoomed: 1.000 are the stacks of %s\n", path)
}

// ZoomedTo returns the path whose stacks are the whole, "" if it
// is the view.
func ZoomedTo(s *refine.Session) (path string) {
	for _, step := range s.Steps() {
		if step.Kind == refine.KindZoom {
			path = step.Text
		}
	}
	return path
}

// HeatLevels is the number of levels of costs, each with a
// warmer or cooler colour (CPPROFJ, section 5).
const HeatLevels = 5

// heatFrom has the least cost of each level except the last,
// which has none.
var heatFrom = [HeatLevels - 1]*big.Rat{big.NewRat(1, 2), big.NewRat(1, 5), big.NewRat(1, 20),
	big.NewRat(1, 100)}

// HeatLevel returns the level of a cost: 0 is the warmest.
func HeatLevel(cost *big.Rat) int {
	for i, from := range heatFrom {
		if cost.Cmp(from) >= 0 {
			return i
		}
	}
	return HeatLevels - 1
}

// heat has the levels' colours, from the 16 that every terminal
// has: bold red, red, yellow, green, cyan.
var heat = [HeatLevels]string{"\x1b[1;31m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m"}

// paint returns a line in the colour of its cost.
func paint(color bool, cost *big.Rat, line string) string {
	if !color {
		return line
	}
	return heat[HeatLevel(cost)] + line + "\x1b[0m"
}

// SharedMark returns what is written before the label of an
// entry some of whose stacks also count for a sibling, or "".
func SharedMark(e *refine.Entry) string {
	if e.Shared {
		return "& "
	}
	return ""
}

// sharedLegend explains the mark below a profile that has it.
const sharedLegend = "\n& some stacks also count for another entry beside it: functions call one another again, and a path counts a stack\n" +
	"  wherever it is satisfied. --auto shows each stack in one place.\n"

// LabelMark comes before the name of a labelled entry.
const LabelMark = "◆ "

// LabelsHead is the head of the column of overlaps. Overlap
// formats the cells of this column.
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

// A labelled has the labels of a profile, and the overlaps of
// its entries with them.
type labelled struct {
	overlaps map[string]*big.Rat // of the shown entries, by key; nil if there are no labels
	keys     []string            // of the labels
}

func newLabelled(s *refine.Session, labels []callpath.Path) labelled {
	var l labelled
	if len(labels) == 0 {
		return l
	}
	l.keys = lists.Each(labels, callpath.Path.String)
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

// column returns an entry's cell in the column, and mark returns
// what comes before the entry's name.
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
	return new(float(cost))
}
