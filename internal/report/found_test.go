package report

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views/calltree"
)

func TestFoundReport(t *testing.T) {
	r := NewFound(found(t, "samples", map[string]int64{"main it's :RUN": 60, "main f :RUN": 30, "main g :RUN": 10}), "cpprof find run.cpprof --interactive=", BasisOf())
	var text strings.Builder
	r.Write(&text)
	want := `Bottlenecks  Coverage Mean length
          2    90.00%         4.0

           Own      Adds  Coverage  95 % interval of Own
   1    60.00%    60.00%    60.00%  40.22% to 76.98%
       *
       main
       it's
       :RUN
   2    30.00%    30.00%    90.00%  15.78% to 49.50%
       *
       main
       f
       :RUN

To open one, by its number: cpprof find run.cpprof --interactive=1
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	got := fixture.Must(json.Marshal(r.row(1)))(t)
	wantJSON := `{"number":2,"path":["*","main","f",":RUN"],"own_percent":30.00,"additional_percent":30.00,` +
		`"coverage_percent":90.00,"interval_percent":[15.78,49.50],` +
		`"command":"cpprof find run.cpprof --interactive=2"}`
	if string(got) != wantJSON {
		t.Errorf("got  %s\nwant %s", got, wantJSON)
	}
}

func TestFoundReportWithoutSamples(t *testing.T) {
	r := NewFound(found(t, "bytes", map[string]int64{"it's": 7}), "open ", BasisOf())
	b := r.row(0)
	if len(r.found.Bottlenecks) != 1 || b.IntervalPercent != nil || b.Command != "open 1" {
		t.Errorf("%+v", b)
	}
	var text strings.Builder
	NewFound(found(t, "bytes", nil), "open", BasisOf()).Write(&text)
	if want := "Bottlenecks  Coverage Mean length\n          0     0.00%         0.0\n"; text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}

// A comparison in which nothing grew says so: a table without
// rows alone looks like a mistake.
func TestFoundReportWithoutIncrease(t *testing.T) {
	var text strings.Builder
	NewFound(&hotspots.Found{Comparison: true, Coverage: new(big.Rat), MeanLength: new(big.Rat)}, "open", BasisOf()).Write(&text)
	if !strings.HasSuffix(text.String(), "\n\nNothing costs more here than there.\n") {
		t.Errorf("got\n%s", text.String())
	}
}

// inTurns lets a tree say that each of its stacks has one hit in
// each of ten samples, then the next stack, and so on.
func inTurns(tree *calltree.Tree) {
	var hits []int32
	left := slices.Clone(tree.Main().Planes()[0].Own)
	for found := true; found; {
		found = false
		for n := range left {
			for range min(left[n], 10) {
				hits, found = append(hits, int32(n)), true
				left[n]--
			}
		}
	}
	tree.Main().SetSlices(calltree.NewSlices(1, slices.Repeat([]float64{1}, len(hits)), tree.Len(), func(add func(int32, calltree.Spell)) {
		for i, n := range hits {
			add(n, calltree.Spell{First: int32(i), Last: int32(i), Hits: 1})
		}
	}))
}

// found builds a tree from stacks and their hits, and searches it.
func found(t *testing.T, unit string, stacks map[string]int64) *hotspots.Found {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", unit)
	for _, stack := range slices.Sorted(maps.Keys(stacks)) {
		b.Add(0, b.Stack(strings.Fields(stack)...), stacks[stack], 1)
	}
	tree := fixture.Must(b.Tree())(t)
	if unit == "samples" {
		inTurns(tree)
	}
	return hotspots.Find(hotspots.NewSingle(tree), hotspots.FindOptions{})
}
