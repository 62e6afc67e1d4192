package export

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/google/pprof/profile"
	"pgregory.net/rapid"
)

// stackWeights returns the exact cost of each stack of a tree,
// and its hits, by its frames below the root.
func stackWeights(t *calltree.Tree) map[string]string {
	weights := map[string]string{}
	for n := range int32(t.Len()) {
		if own := t.Main().Ending(n); own.Weight.Sign() != 0 {
			weights[strings.Join(t.Frames(n)[1:], "\n")] = fmt.Sprint(own.Weight, t.Main().Cost(own.Weight), own.Hits)
		}
	}
	return weights
}

// A view is the same after it was written as a pprof profile and
// read again: every cost of every stack, exactly.
func TestPprofRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := synthetic.Recording(rapid.IntRange(1, 20).Draw(rt, "samples"), rapid.IntRange(1, 20).Draw(rt, "goroutines"), rapid.Float64Range(0, 1).Draw(rt, "share"))
		o := views.Options{Accounting: rapid.SampledFrom([]views.Accounting{views.Observed, views.Single, views.Processors}).Draw(rt, "accounting")}
		classes := fixture.Must(views.Classes(r, o))(rt)
		thread := views.ThreadMaker(classes[0].Class)
		maker := rapid.SampledFrom([]views.Maker{views.Threads, views.Server, thread, thread}).Draw(rt, "view")
		s := subject(t, r, o, maker)
		s.View = maker
		if rapid.Bool().Draw(rt, "pruned") {
			_ = s.Session.Apply(refine.Step{Kind: refine.KindPrune, Text: "* ..:LOAD or * ..:RUN"}) // which may find nothing
		}
		read := readAgain(t, write(t, "pprof", s))
		v := fixture.Must(views.Server(read, views.Options{}))(rt)
		want, got := stackWeights(s.Session.Tree()), stackWeights(v.Tree)
		if !maps.Equal(want, got) {
			rt.Fatalf("written and read: %d stacks, want %d:\n%v\n%v", len(got), len(want), got, want)
		}
	})
}

func readAgain(t testing.TB, file string) *sampledata.Recording {
	t.Helper()
	in := fixture.Must(interchange.Stream(strings.NewReader(file), "x.pb.gz", interchange.Auto))(t)
	r := fixture.Must(in.Recording(interchange.Options{}))(t)
	fixture.Check(t, r.Check())
	return r
}

// go tool pprof finds typed time by its label, the lines of
// functions, and when the recording was made.
func TestGoToolPprof(t *testing.T) {
	r := synthetic.Recording(200, 100, 0.3)
	s := subject(t, r, views.Options{}, views.Threads)
	s.View = views.Threads
	path := filepath.Join(t.TempDir(), "run.pb.gz")
	fixture.Check(t, os.WriteFile(path, []byte(write(t, "pprof", s)), 0o666))
	waited, _ := views.LockTime(s.Session.Tree())
	if waited.Weight.Sign() == 0 {
		t.Fatal("nobody waits for a lock")
	}
	out, err := exec.Command("go", "tool", "pprof", "-unit", "ns", "-top", "-tagfocus", "state=MONITOR", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	share, _ := s.Session.Tree().Main().Cost(waited.Weight).Float64()
	if want := fmt.Sprintf("%.2f%% of", 100*share); !regexp.MustCompile(regexp.QuoteMeta(want)).Match(out) || !bytes.Contains(out, []byte("Duration: ")) {
		t.Errorf("want %s and a duration in\n%s", want, out)
	}
	out, err = exec.Command("go", "tool", "pprof", "-lines", "-raw", path).CombinedOutput()
	if err != nil || !regexp.MustCompile(`\.go:\d+`).Match(out) {
		t.Errorf("%v: no line of a file in\n%.2000s", err, out)
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func TestLabels(t *testing.T) {
	s := subject(t, hostileRecording(t), views.Options{}, views.Threads)
	s.View = views.Threads
	p := fixture.Must(profile.ParseData([]byte(write(t, "pprof", s))))(t)
	states := map[string]map[string][]string{}
	for _, sample := range p.Sample {
		states[sample.Label["state"][0]] = sample.Label
		for name := range sample.Label {
			if !labelName.MatchString(name) {
				t.Errorf("label %q", name)
			}
		}
	}
	if l := states["MONITOR"]; l["lock"] == nil || !strings.HasPrefix(l["lock"][0], "main.evil") || !strings.HasPrefix(l["class"][0], "go:main.evil") || l["reason"] != nil {
		t.Errorf("labels of the goroutine that waits for a lock: %q", l)
	}
	if l := states["WAIT"]; l["reason"] == nil || l["lock"] != nil {
		t.Errorf("labels of the goroutine that waits: %q", l)
	}
	line := p.Sample[0].Location[len(p.Sample[0].Location)-2].Line
	if len(line) != 2 || line[1].Line != 4 || line[0].Line != 5 || line[0].Function.StartLine != 3 {
		t.Errorf("lines %+v, want 5, inlined into 4", line)
	}
}

func TestLabelValuesAreBounded(t *testing.T) {
	l := newLabeller(unplaced(smallTree(t)))
	for i := range 2 * maxLabelValues {
		want := fmt.Sprint(i)
		if i >= maxLabelValues {
			want = otherValues
		}
		if got := l.bounded(sampledata.Label{Key: "lock", Value: fmt.Sprint(i)}); got != want {
			t.Fatalf("value %d is %q", i, got)
		}
	}
	if got := l.bounded(sampledata.Label{Key: "class", Value: strings.Repeat("é", 300)}); len(got) != maxLabelLength {
		t.Errorf("%d bytes, want %d", len(got), maxLabelLength)
	}
}

// Weights that are too fine for the format are rounded, and the
// file says so.
func TestRoundedPprof(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "nanoseconds")
	for i, prime := range []int64{1<<31 - 1, 2147483629, 2147483587} {
		b.Add(0, b.Stack(fmt.Sprint("f", i)), 10, prime)
	}
	b.Add(0, b.Stack("g"), 7, 1)
	tree := fixture.Must(b.Tree())(t)
	file := write(t, "pprof", subjectOf(nil, views.Options{}, &views.View{Tree: tree}))
	p := fixture.Must(profile.ParseData([]byte(file)))(t)
	if !strings.Contains(strings.Join(p.Comments, "\n"), "time is rounded to 1/1048576 nanoseconds") {
		t.Errorf("comments %q", p.Comments)
	}
	if r := readAgain(t, file); r.Profile.Total(0).Cmp(big.NewRat(7, 1)) != 0 || !r.Profile.Quantities[0].Rounded {
		t.Errorf("total %v", r.Profile.Total(0))
	}
}

// The difference of two recordings is A minus B, scaled to the whole of A.
func TestPprofDifference(t *testing.T) {
	tree := func(weight int64) *calltree.Tree {
		b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "nanoseconds")
		b.Add(0, b.Stack("f"), weight, 1)
		b.SetDenominator(0, big.NewRat(10*weight, 3))
		return fixture.Must(b.Tree())(t)
	}
	both := fixture.Must(calltree.Merge(tree(30), tree(60)))(t)
	s := subjectOf(&sampledata.Recording{}, views.Options{}, &views.View{Tree: both})
	s.Against = views.Named{Name: "old", Recording: s.Recording}
	p := fixture.Must(profile.ParseData([]byte(write(t, "pprof", s))))(t)
	if v := p.Sample[0].Value; p.DefaultSampleType != "time_difference" || v[0] != 0 || v[1] != 30 || v[2] != 30 {
		t.Errorf("%s: %v", p.DefaultSampleType, v)
	}
}
