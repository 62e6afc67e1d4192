package calls

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
)

// The condition of any area chooses as many calls as the area's
// cells count.
func TestHeatMap(t *testing.T) {
	served := fixture.Must(Of(served(t, 100), "main.handle"))(t)
	random := rand.New(rand.NewPCG(1, 2))
	many := &Table{Function: "f", Duration: 47 * time.Second}
	for range 20_000 {
		begin := time.Duration(random.Int64N(int64(many.Duration)))
		length := time.Duration(1) << random.IntN(34)
		many.Calls = append(many.Calls, Call{Begin: begin, End: begin + length + time.Duration(random.Int64N(int64(length)))})
	}
	many.sortCalls()
	one := &Table{Function: "f", Duration: time.Second, Calls: []Call{{Begin: 0, End: 0}}}
	one.sortCalls()
	endless := &Table{Function: "f", Duration: math.MaxInt64 - 1, Calls: []Call{{Begin: 0, End: math.MaxInt64 - 1}, {Begin: math.MaxInt64 - 3, End: math.MaxInt64 - 2}}}
	endless.sortCalls()
	cut := &Table{Function: "f", Calls: []Call{{CutEnd: true, End: 5}}}
	cut.sortCalls()
	sampled, err := Of(read(t, stacks+"sample 10ms\n    g0 running n0\nsample 20ms\n    g0 running n2\nsample 30ms\n    g0 running n0\nsample 40ms\n    g0 running n2\nsample 90ms\n    g0 running n0\nsample 95ms\n"), "main.handle")
	fixture.Check(t, err)
	for name, table := range map[string]*Table{"served": served, "many": many, "one": one, "endless": endless, "cut": cut, "sampled": sampled} {
		for _, size := range [][2]int{{1, 1}, {7, 5}, {300, 40}} {
			h := table.HeatMap(size[0], size[1], Condition{}, views.Span{})
			if h.Columns > size[0] || len(h.Edges) < 2 || len(h.Edges)-1 > max(size[1], 22) {
				t.Errorf("%s: %d columns and %d rows, want at most %v", name, h.Columns, len(h.Edges)-1, size)
			}
			for range 50 {
				a := Area{Left: random.IntN(h.Columns), Bottom: random.IntN(len(h.Edges) - 1)}
				a.Right = a.Left + random.IntN(h.Columns-a.Left)
				a.Top = a.Bottom + random.IntN(len(h.Edges)-1-a.Bottom)
				want, marked := 0, 0
				for _, c := range h.Cells {
					if a.Has(c.Column, c.Row) {
						want += c.Calls
					}
				}
				_, condition, err := Parse("f " + h.Condition(a))
				fixture.Check(t, err)
				if chosen, _ := table.choose(condition); len(chosen) != want {
					t.Fatalf("%s, %v: %s chooses %d calls, its cells have %d", name, size, condition, len(chosen), want)
				}
				for _, c := range table.HeatMap(size[0], size[1], condition, views.Span{}).Cells {
					marked += c.Chosen
				}
				if marked != want {
					t.Fatalf("%s, %v: the map of %s marks %d calls, want %d", name, size, condition, marked, want)
				}
			}
		}
	}
	if h := endless.HeatMap(300, 40, Condition{}, views.Span{}); len(h.Cells) != 2 {
		t.Errorf("of two calls, the longest and the last that there can be, the map is %+v", h.Cells)
	}
	if h := sampled.HeatMap(100, 40, Condition{}, views.Span{}); !h.Untimed || h.Edges[0] != 0 || h.Cells[0].Row != 0 {
		t.Errorf("of a short call the map is %+v", h)
	}
	if text := fmt.Sprint(many.HeatMap(60, 40, Slowest, views.Span{}).Step, many.HeatMap(40, 40, Slowest, views.Span{}).Step); text != "1s 2s" {
		t.Errorf("the steps are %s", text)
	}
}
