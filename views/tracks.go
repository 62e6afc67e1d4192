package views

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// Tracks have what each goroutine did over time, for pictures.
type Tracks struct {
	Classes []TrackClass // those that do most come first
	r       *sampledata.Recording
	runs    lists.Groups[sampledata.GoroutineID] // by goroutine, in order
	class   []int32                              // by goroutine
}

// A TrackClass is the goroutines of a thread class. A goroutine
// whose class changes is in its first one.
type TrackClass struct {
	Name       string
	Goroutines []sampledata.GoroutineID // in the order in which they began
	busy       int64
}

// A Segment is some time of a goroutine. Run is the number of
// the run that has most of it.
type Segment struct {
	From, To time.Duration
	Typed    TypedTime // of a runnable goroutine, it is :LOAD
	Run      int32
}

// NewTracks makes the tracks of a recording.
func NewTracks(r *sampledata.Recording, o Options) *Tracks {
	t := &Tracks{r: r, runs: r.RunsByGoroutine(), class: make([]int32, r.Goroutines.Len())}
	classOf, weights, names := ClassOf(r, o), r.Weights(), intern.List[string, int32]{}
	for i, run := range r.Runs.All() {
		g := run.Goroutine
		if t.runs.Of(g)[0] == int32(i) {
			name := classOf(run)
			t.class[g] = names.Number(name)
			if int(t.class[g]) == len(t.Classes) {
				t.Classes = append(t.Classes, TrackClass{Name: name})
			}
			c := &t.Classes[t.class[g]]
			c.Goroutines = append(c.Goroutines, g)
		}
		if DoingOf(run).Time() != Wait {
			t.Classes[t.class[g]].busy += weights.Of(int(run.First), int(run.Last)+1)
		}
	}
	t.sortClasses()
	return t
}

func (t *Tracks) sortClasses() {
	slices.SortFunc(t.Classes, func(a, b TrackClass) int {
		return cmp.Or(cmp.Compare(b.busy, a.busy), cmp.Compare(a.Name, b.Name))
	})
	for i := range t.Classes {
		for _, g := range t.Classes[i].Goroutines {
			t.class[g] = int32(i)
		}
	}
}

// ClassOf returns the class of a goroutine; "" if it has no run.
func (t *Tracks) ClassOf(g sampledata.GoroutineID) string {
	if len(t.runs.Of(g)) == 0 {
		return ""
	}
	return t.Classes[t.class[g]].Name
}

// Class returns the class of a name; nil if there is none.
func (t *Tracks) Class(name string) *TrackClass {
	i := slices.IndexFunc(t.Classes, func(c TrackClass) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Classes[i]
}

// All yields the runs of a goroutine that overlap a span, with
// the part of their time that is in it.
func (t *Tracks) All(g sampledata.GoroutineID, from, to time.Duration) func(func(int32, Segment) bool) {
	return func(yield func(int32, Segment) bool) {
		runs := t.runs.Of(g)
		at, _ := slices.BinarySearchFunc(runs, from, func(i int32, from time.Duration) int {
			if t.r.Begins(int(t.r.Runs.At(int(i)).Last)+1) <= from {
				return -1
			}
			return 1
		})
		for _, i := range runs[at:] {
			run := t.r.Runs.At(int(i))
			s := Segment{From: max(from, t.r.Begins(int(run.First))), To: min(to, t.r.Begins(int(run.Last)+1)),
				Typed: DoingOf(run).Time(), Run: i}
			if s.From >= to || s.From < s.To && !yield(i, s) {
				return
			}
		}
	}
}

// Segments returns what a goroutine did in a span that is
// divided into columns. Shorter runs are merged: a column has
// one segment of them, whose typed time has most of it.
func (t *Tracks) Segments(g sampledata.GoroutineID, from, to time.Duration, columns int) (list []Segment) {
	width := max((to-from)/time.Duration(columns), 1)
	var m mergedRuns
	flush := func() {
		if m.times != ([NumTypedTimes]time.Duration{}) {
			list = t.join(list, m.segment())
		}
		m = mergedRuns{}
	}
	for _, s := range t.All(g, from, to) {
		column := (s.From - from) / width
		if s.To-s.From >= width || column != m.column {
			flush()
		}
		if s.To-s.From >= width {
			list = t.join(list, s)
			continue
		}
		m.column = column
		m.add(s)
	}
	flush()
	return list
}

// join adds a segment to a list. It makes the last one longer if
// nothing changes.
func (t *Tracks) join(list []Segment, s Segment) []Segment {
	if n := len(list); n > 0 && list[n-1].To == s.From && list[n-1].Typed == s.Typed {
		a, b := t.r.Runs.At(int(list[n-1].Run)), t.r.Runs.At(int(s.Run))
		if a.Stack == b.Stack && a.Holders == b.Holders {
			list[n-1].To = s.To
			return list
		}
	}
	return append(list, s)
}

// mergedRuns are runs in one column.
type mergedRuns struct {
	column  time.Duration
	from    time.Duration
	to      time.Duration
	times   [NumTypedTimes]time.Duration
	longest [NumTypedTimes]Segment
}

func (m *mergedRuns) add(s Segment) {
	if m.to == 0 {
		m.from = s.From
	}
	m.to = s.To
	m.times[s.Typed] += s.To - s.From
	if l := m.longest[s.Typed]; s.To-s.From > l.To-l.From {
		m.longest[s.Typed] = s
	}
}

func (m *mergedRuns) segment() Segment {
	most := Run
	for typed := range NumTypedTimes {
		if m.times[typed] > m.times[most] {
			most = typed
		}
	}
	return Segment{m.from, m.to, most, m.longest[most].Run}
}

// Shares returns, for each column of a span, which part of the
// time of all goroutines of the class is in each typed time.
func (t *Tracks) Shares(c *TrackClass, from, to time.Duration, columns int) [][NumTypedTimes]float64 {
	width := max((to-from)/time.Duration(columns), 1)
	sums, changes := make([][NumTypedTimes]float64, columns+1), make([][NumTypedTimes]float64, columns+1)
	for _, g := range c.Goroutines {
		for _, s := range t.All(g, from, to) {
			a, z := min(int((s.From-from)/width), columns), min(int((s.To-from)/width), columns)
			if a == z {
				sums[a][s.Typed] += float64(s.To - s.From)
				continue
			}
			sums[a][s.Typed] += float64(from + time.Duration(a+1)*width - s.From)
			sums[z][s.Typed] += float64(s.To - from - time.Duration(z)*width)
			changes[a+1][s.Typed]++
			changes[z][s.Typed]--
		}
	}
	all := float64(width) * float64(len(c.Goroutines))
	var now [NumTypedTimes]float64
	for i := range columns {
		for typed := range NumTypedTimes {
			now[typed] += changes[i][typed]
			sums[i][typed] = (sums[i][typed] + now[typed]*float64(width)) / all
		}
	}
	return sums[:columns]
}

// At returns the run of a goroutine at a moment.
func (t *Tracks) At(g sampledata.GoroutineID, at time.Duration) (s Segment, ok bool) {
	for _, s := range t.All(g, at, at+1) {
		run := t.r.Runs.At(int(s.Run))
		s.From, s.To = t.r.Begins(int(run.First)), t.r.Begins(int(run.Last)+1)
		return s, true
	}
	return s, false
}

// StackFrames returns the frames of a stack as views have them,
// the outermost one first.
func StackFrames(r *sampledata.Recording, o Options, stack sampledata.NodeID) []string {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "", "")
	n := newStacks(r, o, b).node(0, stack)
	t, at, err := b.Numbered()
	if err != nil {
		return nil
	}
	return t.Frames(at[n])[1:]
}
