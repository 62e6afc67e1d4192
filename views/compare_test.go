package views

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// worker is a recording of one goroutine, with a sample every
// millisecond that finds it in the functions of one stack.
func worker(t *testing.T, stacks ...string) *sampledata.Recording {
	s := newSketch(t)
	s.interval = time.Millisecond
	g := s.goroutine("a")
	for _, stack := range stacks {
		s.sample(map[sampledata.GoroutineID]sampledata.State{
			g: {Run: sampledata.Running, Stack: inlinedStack(s.Builder, strings.Fields(stack)...)},
		})
	}
	return s.Recording()
}

func compared(t *testing.T, a, b *sampledata.Recording, o Options) *Compared {
	return fixture.Must(Compare(Named{"a", a}, Named{"b", b}, o, Server))(t)
}

// A span counts from the start of each recording, and selects from both.
func TestCompareSpan(t *testing.T) {
	a, b := worker(t, "x:old", "x:f", "x:f", "x:g"), worker(t, "x:old", "x:g", "x:f", "x:old", "x:old")
	c := compared(t, a, b, Options{Span: Span{From: time.Millisecond, To: 3 * time.Millisecond}})
	compareHits(t, "a", hitsOf(c.New.Tree), map[string]string{"*\nf\n:RUN": "2"})
	compareHits(t, "b", hitsOf(c.Old.Tree), map[string]string{"*\nf\n:RUN": "1", "*\ng\n:RUN": "1"})
	_, err := Compare(Named{"a", b}, Named{"b", a}, Options{Span: Span{From: 4 * time.Millisecond}}, Server)
	if err == nil || !strings.HasPrefix(err.Error(), "b has no samples from 4ms: it lasts 3ms") {
		t.Errorf("for a span after the end of b, the error is %v", err)
	}
}

// With every option, a recording does not differ from itself,
// and the merged tree has the views of both.
func TestCompareWithItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		c, err := Compare(Named{"a", r}, Named{"b", r}, o, Server)
		if err != nil {
			if o.Span.Has(r) {
				t.Fatal(err)
			}
			return
		}
		both := fixture.Must(c.Merge())(t)
		a, b := both.Tree.Sides()
		if !maps.Equal(hitsOf(a), hitsOf(b)) || a.Main().Denominator.Cmp(b.Main().Denominator) != 0 || len(c.Inlining) > 0 {
			t.Errorf("%v differs from %v, %v", hitsOf(a), hitsOf(b), c.Inlining)
		}
		compareHits(t, "a", hitsOf(a), hitsOf(c.New.Tree))
	})
}

// Calls that either build inlined are merged in both, and a
// warning names those that only one of them inlined.
func TestCompareInlining(t *testing.T) {
	a, b := worker(t, "x:f x:g"), worker(t, "x:f ~x:g")
	for merged, want := range map[bool]struct{ stack, warning string }{
		false: {"*\nf\ng\n:RUN", "inlined in only one of the recordings: g into f; they are shown as calls in both"},
		true:  {"*\nf\n:RUN", "inlined in only one of the recordings: g into f; they are merged into their callers in both"},
	} {
		c := compared(t, a, b, Options{NoInlines: merged})
		for _, v := range []*View{c.New, c.Old} {
			compareHits(t, "side", hitsOf(v.Tree), map[string]string{want.stack: "1"})
		}
		both := fixture.Must(c.Merge())(t)
		if len(both.Warnings) != 1 || !strings.HasPrefix(both.Warnings[0].Message, want.warning) {
			t.Errorf("the warnings are %+v", both.Warnings)
		}
	}
	many := compared(t, worker(t, "x:f ~x:g ~x:h ~x:i ~x:j ~x:k"), worker(t, "x:f x:g x:h x:i x:j x:k"), Options{})
	if len(many.Inlining) != 1 || !strings.Contains(many.Inlining[0].Message, ": g into f, h into g, i into h, 2 more;") {
		t.Errorf("for many, the warning is %+v", many.Inlining)
	}
}

// An error names the recording that causes it.
func TestCompareUnknownClass(t *testing.T) {
	r := worker(t, "x:f")
	_, err := Compare(Named{"new", r}, Named{"old", r}, Options{}, func(r *sampledata.Recording, o Options) (*View, error) {
		return Thread(r, "go:b", o)
	})
	if err == nil || !strings.HasPrefix(err.Error(), `new: no thread class "go:b"`) {
		t.Error(err)
	}
}
