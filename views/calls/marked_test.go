package calls

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// labelled returns a recording at a hundred samples a second. A
// goroutine is in each sample the value of its label, "-" for
// none, " " if it does not live.
func labelled(t *testing.T, goroutines ...string) *sampledata.Recording {
	t.Helper()
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(1000, 0)})
	f := b.Function(sampledata.Function{Name: "main.serve"})
	stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f})
	ids := map[int]sampledata.GoroutineID{}
	for i := range goroutines[0] {
		var changes []sampledata.Change
		for g, text := range goroutines {
			id, lives := ids[g]
			if text[i] == ' ' {
				if lives {
					changes = append(changes, sampledata.Change{Goroutine: id, Gone: true})
				}
				continue
			}
			if !lives { // the first goroutine has made the others
				id = b.Goroutine(sampledata.Goroutine{ID: int64(g + 1), Start: f, Parent: int64(min(g, 1)), Site: sampledata.Site{Function: "main.accept", Line: 7}})
				ids[g] = id
			}
			s := sampledata.State{Stack: stack, Run: sampledata.Running}
			if text[i] != '-' {
				s.Labels = b.LabelSet([]sampledata.Label{{Key: "request", Value: text[i : i+1]}})
			}
			changes = append(changes, sampledata.Change{Goroutine: id, State: s})
		}
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond}, changes))
	}
	return b.Recording()
}

func callsIn(t *testing.T, r *sampledata.Recording, name string) (list []string) {
	t.Helper()
	table := fixture.Must(Of(r, name))(t)
	for _, c := range table.Calls {
		list = append(list, string(rune('0'+c.ID))+":"+c.Label+" "+describe(c))
	}
	slices.Sort(list)
	return list
}

// A value of a label is a call of the goroutine that had it
// first: those that it makes inherit it, and others may have the
// same one.
func TestLabelCalls(t *testing.T) {
	r := labelled(t,
		"-aa-bbcc--",
		"  aaa-    ", // inherited, and longer
		"    --bb--", // got later
		"  -a-    -")
	want := []string{"1:a 1-2", "1:b 4-5", "1:c 6-7", "3:b 6-7", "4:a 3-3short"}
	if got := callsIn(t, r, "label:request"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	table := fixture.Must(Of(r, "label:request"))(t)
	c := fixture.Must(ParseCondition("> 15ms"))(t)
	only, err := table.Restrict(c, false)
	if err != nil || only.Restricted.Stretches != 4 {
		t.Errorf("restricted: %+v, %v", only, err)
	}
	if !slices.Contains(Functions(r), "label:request") {
		t.Error("the label is not among the names")
	}
}

// A goroutine of a class is a call from its creation to its end.
func TestClassCalls(t *testing.T) {
	r := labelled(t, "----------", "  ----    ", "     --   ", "       ---")
	want := []string{"1: 0-9cut-begin,cut-end", "2: 2-5", "3: 5-6", "4: 7-9cut-end"}
	if got := callsIn(t, r, "go:main.serve"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	table, err := Of(r, "go:main.serve")
	if err != nil || table.Calls[0].Site.Function != "main.accept" {
		t.Errorf("%+v, %v", table, err)
	}
}

func TestUnknownMark(t *testing.T) {
	r := labelled(t, "-a")
	for name, want := range map[string]string{"label:rquest": `no goroutine has the label "rquest": did you mean label:request?`, "go:main.srve": `there is no thread class "go:main.srve"`} {
		_, err := Of(r, name)
		if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
