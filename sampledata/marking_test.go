package sampledata

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// drawMarking draws a marking that breaks no rule.
func drawMarking(t *rapid.T) *Marking {
	number := rapid.IntRange(0, 1<<40)
	text := rapid.StringMatching(`[a-z .*()]{0,9}`)
	m := &Marking{
		Time: time.Duration(number.Draw(t, "time")), Goroutines: number.Draw(t, "goroutines"),
		Proved: rapid.Bool().Draw(t, "proved"), Passes: rapid.IntRange(0, 9).Draw(t, "passes"),
		Took: time.Duration(number.Draw(t, "took")), Apart: time.Duration(number.Draw(t, "apart")),
		Halted: time.Duration(number.Draw(t, "halted")), MaxHalt: time.Duration(number.Draw(t, "max halt")),
		Heap: int64(number.Draw(t, "heap")), NeedsHalt: time.Duration(number.Draw(t, "needs halt")),
		NeedsMemory: int64(number.Draw(t, "needs memory")), Doubt: text.Draw(t, "doubt"),
	}
	call := rapid.Custom(func(t *rapid.T) Call {
		return Call{"f" + text.Draw(t, "function"), text.Draw(t, "file"), int32(rapid.IntRange(0, 99).Draw(t, "line"))}
	})
	groups := rapid.IntRange(0, 3).Draw(t, "groups")
	for range groups {
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 99), 0, 4, rapid.ID[int64]).Draw(t, "ids")
		slices.Sort(ids)
		g := MarkedGroup{
			Verdict: Verdict(rapid.IntRange(0, 3).Draw(t, "verdict")), Wait: Wait(rapid.IntRange(0, 8).Draw(t, "wait")),
			Reason: text.Draw(t, "reason"), Name: text.Draw(t, "name"), Doubt: text.Draw(t, "group's doubt"), Count: len(ids) + rapid.IntRange(1, 9).Draw(t, "more"),
			Waited: time.Duration(number.Draw(t, "waited")), Kept: int64(number.Draw(t, "kept")) - 1,
			Calls: rapid.SliceOfN(call, 0, 3).Draw(t, "calls"), Creator: call.Draw(t, "creator"),
		}
		if len(ids) > 0 {
			g.IDs = ids
		}
		if len(g.Calls) == 0 {
			g.Calls = nil
		}
		m.Groups = append(m.Groups, g)
	}
	for range rapid.IntRange(0, 3).Draw(t, "edges") {
		m.Edges = append(m.Edges, MarkedEdge{
			From: rapid.Int64Range(1, 99).Draw(t, "from"), To: rapid.Int64Range(0, 99).Draw(t, "to"), At: rapid.Uint64().Draw(t, "at"),
			Sure: rapid.Bool().Draw(t, "sure"), Taken: text.Draw(t, "taken"),
		})
	}
	m.Whole = rapid.Bool().Draw(t, "whole")
	return m
}

// Each broken rule has its message, from the sink and from the
// check of a recording.
func TestCheckOfMarkings(t *testing.T) {
	good := func() *Marking {
		return &Marking{Groups: []MarkedGroup{{
			Verdict: Stuck, Count: 2, IDs: []int64{1, 2}, Calls: []Call{{Function: "f"}},
		}}}
	}
	fixture.Check(t, good().check())
	for want, damage := range map[string]func(*Marking, *MarkedGroup){
		"negative number":         func(m *Marking, _ *MarkedGroup) { m.Heap = -1 },
		"more than 4096":          func(m *Marking, _ *MarkedGroup) { m.Groups = make([]MarkedGroup, 4097) },
		"unknown verdict 4":       func(_ *Marking, g *MarkedGroup) { g.Verdict = Stuck + 1 },
		"unknown wait 9":          func(_ *Marking, g *MarkedGroup) { g.Wait = 9 },
		"2 of them listed":        func(_ *Marking, g *MarkedGroup) { g.Count = 1 },
		"negative wait":           func(_ *Marking, g *MarkedGroup) { g.Waited = -1 },
		"bytes kept":              func(_ *Marking, g *MarkedGroup) { g.Kept = -2 },
		"more than 128":           func(_ *Marking, g *MarkedGroup) { g.Calls = make([]Call, 129) },
		"edge from goroutine 0":   func(m *Marking, _ *MarkedGroup) { m.Edges = []MarkedEdge{{}} },
		"goroutine 1 is none":     func(_ *Marking, g *MarkedGroup) { g.IDs[1] = 1 },
		"function without a name": func(_ *Marking, g *MarkedGroup) { g.Calls[0].Function = "" },
		"negative line":           func(_ *Marking, g *MarkedGroup) { g.Creator.Line = -1 },
	} {
		m := good()
		damage(m, &m.Groups[0])
		b := NewBuilder(Header{})
		b.Mark(m)
		if err := b.Sample(Sample{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a sink: got %v, want %q", err, want)
		}
		r := NewBuilder(Header{}).Recording()
		r.Marking = m
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a recording: got %v, want %q", err, want)
		}
	}
}
