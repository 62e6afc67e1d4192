package report

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A TopColumn is something by which the classes of a Top can be ordered.
type TopColumn struct {
	Name  string // as --sort takes it
	Key   rune   // the key of cpprof top
	typed views.TypedTime
	value func(*views.ClassSummary) *big.Rat // nil: the name of the class
}

// TopColumns are all columns; the first is the usual order. BUSY
// is not shown: it is the time that is not WAIT.
var TopColumns = topColumns()

func topColumns() []TopColumn {
	list := []TopColumn{
		{Name: "busy", Key: 'B', typed: noTyped,
			value: func(c *views.ClassSummary) *big.Rat { return c.Busy() }},
		{Name: "alive", Key: 'A', typed: noTyped,
			value: func(c *views.ClassSummary) *big.Rat { return c.MeanAlive }},
	}
	for t := range views.NumTypedTimes {
		list = append(list, TopColumn{
			Name: strings.ToLower(t.Name()), Key: rune(t.Letter()[0]), typed: t,
			value: func(c *views.ClassSummary) *big.Rat { return c.Parts[t] },
		})
	}
	return append(list, TopColumn{Name: "class", Key: 'C', typed: noTyped})
}

// noTyped is the typed time of a column that has none.
const noTyped = views.NumTypedTimes

// A TopOrder says which classes a Top shows, and in which order.
type TopOrder struct {
	By       int // index in TopColumns
	Reversed bool
	HideIdle bool // leave out classes that hardly do anything but wait for work
}

// Press changes the order as a key of cpprof top does, and
// reports whether the key has a meaning: the letter of a column
// orders by it, or reverses that order; < and > order by the
// column before and after; r reverses; i hides idle classes or
// shows them again.
func (o *TopOrder) Press(key rune) bool {
	n := len(TopColumns)
	switch key {
	case '>', '.':
		o.By, o.Reversed = (o.By+1)%n, false
	case '<', ',':
		o.By, o.Reversed = (o.By+n-1)%n, false
	case 'r':
		o.Reversed = !o.Reversed
	case 'i':
		o.HideIdle = !o.HideIdle
	default:
		i := slices.IndexFunc(TopColumns, func(c TopColumn) bool { return c.Key == key })
		if i < 0 {
			return false
		}
		o.By, o.Reversed = i, i == o.By && !o.Reversed
	}
	return true
}

// column returns the column of the order.
func (o TopOrder) column() TopColumn { return TopColumns[o.By] }

// apply returns the classes in the order, numbers beginning with
// the highest, and the number of those left out. Of equal
// classes, the busier one comes first.
func (o TopOrder) apply(classes []views.ClassSummary) (shown []views.ClassSummary, hidden int) {
	shown = slices.Clone(classes)
	if o.HideIdle {
		shown = slices.DeleteFunc(shown, func(c views.ClassSummary) bool { return c.OnlyIdle() })
	}
	value := o.column().value
	slices.SortStableFunc(shown, func(a, b views.ClassSummary) int {
		order := 0
		if value != nil {
			order = value(&b).Cmp(value(&a))
		} else {
			order = cmp.Compare(a.Class, b.Class)
		}
		if o.Reversed {
			order = -order
		}
		return cmp.Or(order, b.Busy().Cmp(a.Busy()), b.Time.Cmp(a.Time),
			cmp.Compare(a.Class, b.Class))
	})
	return shown, len(classes) - len(shown)
}

// mark returns the sign behind the head of the column by which
// the classes are ordered, or a blank.
func (o TopOrder) mark(of bool) string {
	switch {
	case !of:
		return " "
	case o.Reversed:
		return "▲"
	}
	return "▼"
}

// FewSteps is the largest number of refinements of a view that
// should fit one or two screens.
const FewSteps = 12

// ErrNoSamples reports that none of the latest samples is in the
// list of those that count.
var ErrNoSamples = errors.New("none of the latest samples is in the list")

// Latest returns the Top of the window before the last sample of
// a recording, which must have samples. The samples that count
// are the recording's, or a part of them.
func Latest(r, counted *sampledata.Recording, c *config.Config, o views.Options,
	window time.Duration) (*Top, error) {
	last := r.Samples.Time(r.Samples.Len() - 1)
	from := max(0, last-window)
	o.Span = views.Span{From: from}
	top := &Top{Title: fmt.Sprintf("%s, process %d", Program(r), r.Header.PID), Span: last - from}
	for _, sample := range r.Samples.All() {
		if sample.Time >= from {
			top.Samples++
			top.Halted += sample.Halt
		}
	}
	if p := counted.Picked; p != nil {
		top.List, top.Counted = p.List, counted.Samples.Len()-counted.Samples.Search(from)
		if top.Counted == 0 {
			return nil, fmt.Errorf("%w %q: %s in %s", ErrNoSamples, top.List,
				Counted(top.Samples, "sample"), span(top.Span))
		}
	}
	var err error
	if top.Classes, err = views.Classes(counted, o); err != nil {
		return nil, err
	}
	server, err := views.Server(counted, o)
	if err != nil {
		return nil, err
	}
	top.Session = refine.NewSession(server.Tree, c.AllAspects().Membership(server.Tree.Symbols()))
	top.Session.SetThreshold(c.Threshold)
	top.Session.Auto(top.Session.Root().Path, FewSteps)
	top.Warnings = slices.Concat(r.Warnings, server.Warnings)
	return top, nil
}
