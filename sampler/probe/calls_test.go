package probe

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// twoFunctions are outer, which is entered at 10 and returns at
// 11 or 12, and inner, entered at 20 and returning at 21.
func twoFunctions() []Function {
	return []Function{
		{Name: "outer", Entry: 10, Returns: []uint64{11, 12}, Arguments: []Argument{
			{Name: "n", Register: 0, Size: 4, Signed: true}, {Name: "p", Kind: sampledata.PointerArgument, Register: 1, Size: 8},
		}},
		{Name: "inner", Entry: 20, Returns: []uint64{21}},
	}
}

func TestCallsOfHits(t *testing.T) {
	c, tallies := newCalls(twoFunctions())
	c.costs = costs{entry: 1, ret: 2, between: 5}
	outer, inner := tallies[0], tallies[1]
	outer.timed, inner.timed = true, true
	feed := func(hits ...hit) {
		for i := range hits {
			hits[i].registers = []uint64{0xfffffffe, 0}
			c.add(&hits[i])
		}
	}
	// Goroutine 1 calls outer, which calls inner; meanwhile
	// goroutine 2 does as well.
	feed(hit{time: 100, pc: 10, goroutine: 1, depth: 50, caller: 7}, hit{time: 110, pc: 10, goroutine: 2, depth: 50, caller: 8},
		hit{time: 200, pc: 20, goroutine: 1, depth: 90}, hit{time: 300, pc: 21, goroutine: 1, depth: 90},
		hit{time: 400, pc: 12, goroutine: 1, depth: 50}, hit{time: 610, pc: 11, goroutine: 2, depth: 50})
	if outer.returned != 2 || outer.elapsed.Sum != (300-3-5)+(500-5) || inner.elapsed.Sum != 100-5 {
		t.Errorf("outer %+v, inner %+v", outer, inner)
	}
	if s := outer.sites[7]; s == nil || s.calls != 1 || s.elapsed.Sum != 292 || outer.arguments[0].Min != -2 || outer.arguments[1].Max != 0 {
		t.Errorf("site %+v, arguments %+v", s, outer.arguments)
	}
	// A call that ends by a panic is found out by the next one
	// from the same place; one that was under way before is
	// ignored.
	feed(hit{time: 1000, pc: 10, goroutine: 3, depth: 50}, hit{time: 1100, pc: 20, goroutine: 3, depth: 60},
		hit{time: 1200, pc: 10, goroutine: 3, depth: 50}, hit{time: 1300, pc: 11, goroutine: 3, depth: 50}, hit{time: 1400, pc: 11, goroutine: 3, depth: 40})
	if outer.unfinished != 1 || inner.unfinished != 1 || outer.returned != 3 {
		t.Errorf("outer %+v, inner %+v", outer, inner)
	}
	// Returns may be among hits that were lost: no call goes on over that.
	feed(hit{time: 2000, pc: 20, goroutine: 4, depth: 50}, hit{time: 9000, pc: 21, goroutine: 4, depth: 50, lost: 3})
	if inner.returned != 1 || len(c.open) != 0 {
		t.Errorf("inner %+v; %d open", inner, len(c.open))
	}
}

// Whatever comes, no call returns twice, and no more return than
// were entered.
func TestHitsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, tallies := newCalls(twoFunctions())
		tallies[0].timed, tallies[1].timed = true, true
		entered := map[uint64]uint64{}
		for i := range rapid.IntRange(0, 60).Draw(t, "hits") {
			h := hit{
				time: uint64(i), pc: rapid.SampledFrom([]uint64{10, 11, 12, 20, 21}).Draw(t, "pc"), goroutine: rapid.Uint64Range(1, 2).Draw(t, "goroutine"),
				depth: rapid.Uint64Range(0, 4).Draw(t, "depth"),
			}
			entered[h.pc]++
			c.add(&h)
		}
		open := uint64(0)
		for _, stack := range c.open {
			open += uint64(len(stack))
			for i := 1; i < len(stack); i++ {
				if stack[i-1].depth >= stack[i].depth {
					t.Fatalf("open calls are not nested: %+v", stack)
				}
			}
		}
		ended := uint64(0)
		for _, one := range tallies {
			ended += one.returned + one.unfinished
		}
		if ended+open != entered[10]+entered[20] {
			t.Fatalf("%d ended, %d are open, %d were entered", ended, open, entered[10]+entered[20])
		}
	})
}

func TestThrottle(t *testing.T) {
	l := newThrottle(0.01, 0)
	if l.spend(burst, 0) {
		t.Error("a burst is too much")
	}
	if l.spend(10*time.Millisecond, time.Second) {
		t.Error("one percent of a second is too much")
	}
	if !l.spend(11*time.Millisecond, 2*time.Second) {
		t.Error("more than the share and no burst left, but it is not too much")
	}
	l.forgive()
	if l.spend(burst, 2*time.Second) {
		t.Error("it has not been forgiven")
	}
	if none := newThrottle(0, 0); none.spend(time.Hour, 1) {
		t.Error("without a bound, something is too much")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"main.f", "main.f", true}, {"main.f", "main.ff", false}, {"main.*", "main.(*t).f", true}, {"main.(*t).f", "main.(*t).f", true},
		{"main.(*t).f", "main.(*xt).f", false}, {"main.(*t).*", "main.(*t).g", true}, {"*.f", "main.f", true}, {"a*b*c", "abc", true}, {"a*b*c", "acb", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.name, got)
		}
	}
}

func TestKeptCallsOfHits(t *testing.T) {
	c, tallies := newCalls(twoFunctions())
	outer := tallies[0]
	outer.timed = true
	outer.log = &callLog{site: func(uint64) (string, string, int32) { return "main.f", "f.go", 3 },
		sites: map[uint64]sampledata.Call{}}
	outer.log.open(1000)
	add := func(time, pc, goroutine, depth uint64) {
		c.add(&hit{time: time, pc: pc, goroutine: goroutine, depth: depth, caller: 7, registers: []uint64{5, 0}})
	}
	add(990, 10, 3, 50)  // before the window, in which it returns
	add(1100, 10, 1, 60) // within a call that began before the window
	add(1200, 11, 1, 60)
	add(1300, 11, 1, 50)
	add(1350, 11, 3, 50)
	add(1400, 10, 1, 50)
	add(1500, 11, 1, 50)
	add(1600, 10, 2, 50) // ends by a panic
	add(1700, 10, 2, 50)
	c.endWindow(outer, 2000)
	add(2100, 11, 2, 50) // after the window
	var got []string
	for _, call := range outer.log.table.Calls {
		got = append(got, fmt.Sprint(call.Goroutine, int64(call.Begin), int64(call.End), call.CutBegin, call.CutEnd))
	}
	want := []string{"1 1000 1300 true false", "3 1000 1350 true false", "1 1400 1500 false false", "2 1600 1700 false true", "2 1700 2000 false true"}
	if !slices.Equal(got, want) {
		t.Errorf("the calls are %q, want %q", got, want)
	}
}

// A window ends when all hits in it are read, though its instruments
// have been out for longer.
func TestWindowEndsWithItsHits(t *testing.T) {
	c, tallies := newCalls(twoFunctions())
	inner := tallies[1]
	inner.timed = true
	inner.log = &callLog{site: func(uint64) (string, string, int32) { return "main.f", "f.go", 3 },
		sites: map[uint64]sampledata.Call{}}
	inner.log.open(1000)
	c.add(&hit{time: 1100, pc: 20, goroutine: 1, depth: 50})
	inner.untimed.Store(2000)
	c.closeWindows(1100)
	for _, h := range []hit{{time: 1150, pc: 21}, {time: 1200, pc: 20}, {time: 1300, pc: 21}} {
		h.goroutine, h.depth = 1, 50
		c.add(&h)
	}
	c.closeWindows(2500)
	if got := inner.log.table.Calls; len(got) != 2 || got[0].End != 1150 || got[1].CutEnd || inner.log.since != 0 {
		t.Errorf("%+v, since %d", got, inner.log.since)
	}
}
