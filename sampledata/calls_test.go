package sampledata

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

func goodCalls() CallTable {
	return CallTable{
		Function: "main.handle", Arguments: []string{"n"}, Windows: []CallWindow{{1, 90}, {100, time.Second}},
		Calls: []TimedCall{
			{Goroutine: 7, Begin: 5, End: 40, Values: []int64{-3}, Site: Call{Function: "main.serve", File: "main.go", Line: 12}},
			{Goroutine: 7, Begin: 41, End: 90, CutEnd: true, Values: []int64{12}, Label: "route=/"},
		},
	}
}

func TestCheckOfCalls(t *testing.T) {
	for want, damage := range map[string]func(*CallTable){
		"without a function": func(c *CallTable) { c.Function = "" },
		"unknown source":     func(c *CallTable) { c.Source = CallsByTrace + 1 },
		"more than 16":       func(c *CallTable) { c.Arguments = make([]string, 17) },
		"argument named":     func(c *CallTable) { c.Arguments = []string{"a,b"} },
		"a window from":      func(c *CallTable) { c.Windows[0].To = 0 },
		"it is from":         func(c *CallTable) { c.Calls[1].End = 40 },
		"2 values of 1":      func(c *CallTable) { c.Calls[1].Values = make([]int64, 2) },
		"negative line":      func(c *CallTable) { c.Calls[0].Site.Line = -1 },
		"a recording has":    func(c *CallTable) { c.Calls = slices.Repeat(c.Calls, MaxTimedCalls/2+1) },
	} {
		b := NewBuilder(Header{})
		c := goodCalls()
		damage(&c)
		b.Calls(c)
		if err := b.Sample(Sample{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
		r := b.Recording()
		if len(r.Calls) > 0 || r.Check() != nil {
			t.Errorf("%s: refused calls are in the recording, or %v", want, r.Check())
		}
		r.Calls = []CallTable{c}
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check: %v, want an error with %q", err, want)
		}
	}
}

// Calls become known little by little, more than a record has room for.
func TestCallsGrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r.cpprof")
	w := fixture.Must(Create(dir, Header{}))(t)
	b := NewBuilder(Header{})
	w.Also(b)
	for i := range 3 {
		c := goodCalls()
		c.Calls = slices.Repeat(c.Calls, maxRows)
		w.Calls(c)
		fixture.Check(t, w.Sample(Sample{Time: time.Duration(i)}, nil))
	}
	last := goodCalls()
	last.Note = "the end"
	w.Calls(last)
	fixture.Check(t, w.Finish(End{Time: time.Second}))
	r := fixture.Must(Open(dir))(t)
	good(t, r)
	equal(t, r, b.Recording())
	if c := r.TimedCalls("main.handle"); c == nil || len(c.Calls) != 3*2*maxRows+2 || len(c.Windows) != 8 || c.Note != "the end" {
		t.Errorf("the calls are %+v", c)
	}
}

// What is after the end of a recording is cut.
func TestCallsUntil(t *testing.T) {
	table := CallTable{Windows: []CallWindow{{0, 5}, {7, 12}, {13, 14}}, Calls: []TimedCall{{Begin: 1, End: 4}, {Begin: 8, End: 10},
		{Begin: 9, End: 11}, {Begin: 10, End: 12}}}
	table.Until(10)
	want := CallTable{Windows: []CallWindow{{0, 5}, {7, 10}}, Calls: []TimedCall{{Begin: 1, End: 4}, {Begin: 8, End: 10},
		{Begin: 9, End: 10, CutEnd: true}}}
	if !reflect.DeepEqual(table, want) {
		t.Errorf("got %+v", table)
	}
}
