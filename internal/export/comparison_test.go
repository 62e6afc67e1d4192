package export

import (
	"bytes"
	"encoding/csv"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/google/pprof/profile"
)

func TestFoldedComparison(t *testing.T) {
	tree := smallTree(t)
	both := fixture.Must(calltree.Merge(tree, tree))(t)
	s := subjectOf(nil, views.Options{}, &views.View{Tree: both})
	s.Against = views.Named{Name: "old", Recording: new(sampledata.Recording)}
	if got := write(t, "folded", s); !strings.Contains(got, "go:main.worker;main.worker;main.f;:MONITOR;go:main.holder;:RUN 7 7\n") {
		t.Errorf("got\n%s", got)
	}
}

// Each format but two shows a comparison.
func TestComparisons(t *testing.T) {
	r := hostileRecording(t)
	both := bothOf(t, r, r)
	for _, f := range All() {
		var out bytes.Buffer
		err := f.Write(&out, both)
		if f.Name == "csv-samples" || f.Name == "text" {
			if out.Len() > 0 || err == nil || !strings.HasPrefix(err.Error(), f.Name+" can't show a comparison: ") {
				t.Errorf("%s: %d bytes, %v", f.Name, out.Len(), err)
			}
			continue
		}
		if err != nil || out.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", f.Name, out.Len(), err)
		}
		if !f.Binary && strings.ContainsAny(out.String(), "\x1b\u2028") {
			t.Errorf("%s has a name as it is: %q", f.Name, out.String())
		}
	}
}

// bothOf returns the comparison of the Thread Views of all
// classes of two recordings.
func bothOf(t testing.TB, a, b *sampledata.Recording) *Subject {
	t.Helper()
	against := views.Named{Name: "old.cpprof", Recording: b}
	compared := fixture.Must(
		views.Compare(views.Named{Name: "run.cpprof", Recording: a}, against, views.Options{}, views.Threads))(t)
	both := fixture.Must(compared.Merge())(t)
	s := subjectOf(a, views.Options{}, both)
	s.View, s.Against = views.Threads, against
	return s
}

// costs returns what each class costs in both recordings, in whole nanoseconds.
func costs(s *Subject) map[string]*big.Int {
	all := map[string]*big.Int{}
	t := s.Session.Tree()
	for n := int32(1); int(n) < t.Len(); n = t.Ends()[n] {
		for i, name := range []string{s.Path, s.Against.Name} {
			if cum := t.Metrics()[1+i].Cum(n); cum.Sign() != 0 {
				all[t.Symbols().Name(t.Funcs()[n])+" in "+name] = exact.Nearest(cum)
			}
		}
	}
	return all
}

// A comparison has a profile of speedscope for each class in
// each recording, with the times of that recording.
func TestSpeedscopeComparison(t *testing.T) {
	s := bothOf(t, synthetic.Recording(50, 30, 0.3), synthetic.Recording(20, 50, 0.3))
	var f speedscopeFile
	decode(t, write(t, "speedscope", s), &f)
	want := costs(s)
	if len(f.Profiles) != len(want) {
		t.Errorf("%d profiles, want %d", len(f.Profiles), len(want))
	}
	for _, p := range f.Profiles {
		if cost := want[p.Name]; cost == nil || math.Abs(float64(cost.Int64()-p.EndValue)) > 1000 {
			t.Errorf("%s has %d ns, want %v", p.Name, p.EndValue, cost)
		}
	}
}

// The recordings of a comparison are two processes of a trace.
// They share no tracks.
func TestTraceEventComparison(t *testing.T) {
	a, b := synthetic.Recording(50, 30, 0.3), synthetic.Recording(20, 50, 0.3)
	var f traceFile
	decode(t, write(t, "trace-event", bothOf(t, a, b)), &f)
	tracks, processes, _ := f.replay(t)
	first := a.Header.PID
	if !strings.HasPrefix(processes[first], "run.cpprof: ") || !strings.HasPrefix(processes[first+1], "old.cpprof: ") {
		t.Errorf("processes %v", processes)
	}
	for i, r := range []*sampledata.Recording{a, b} {
		for g, want := range statesOf(r) {
			if of := tracks[int64(i*a.Goroutines.Len()+g)+1]; of == nil || of.pid != first+int64(i) || !slices.Equal(of.states, want) {
				t.Fatalf("goroutine %d of recording %d: %+v, want %q", g, i, of, want)
			}
		}
	}
}

// The graph of a comparison has both shares, red where A has
// more, and blue where it has less.
func TestGraphComparison(t *testing.T) {
	tree := func(run, wait, same int64) *calltree.Tree {
		b := calltree.NewBuilder(new(calltree.Symbols), "go:main.worker", "time", views.Nanoseconds)
		b.Add(0, b.Stack("main.encode", ":RUN"), run, 1)
		b.Add(0, b.Stack("main.add", ":MONITOR"), wait, 1)
		b.Add(0, b.Stack("main.log", ":RUN"), same, 1)
		b.SetDenominator(0, big.NewRat(100, 1))
		return fixture.Must(b.Tree())(t)
	}
	both := fixture.Must(calltree.Merge(tree(30, 50, 15), tree(60, 0, 15)))(t)
	s := subjectOf(&sampledata.Recording{Profile: &sampledata.Profile{}}, views.Options{}, &views.View{Tree: both})
	s.Against = views.Named{Name: "old.cpprof", Recording: s.Recording}
	checkGraph(t, s, map[string]string{
		"go:main.worker": "old 75.0 %, new 95.0 %: +20.0 red",
		"main.encode":    "old 60.0 %, new 30.0 %: -30.0 blue",
		"main.add":       "old 0.0 %, new 50.0 %: +50.0 red",
		"main.log":       "old 15.0 %, new 15.0 %: 0.0 grey",
	})
	for _, format := range []string{"dot", "svg"} {
		if text := write(t, format, s); !strings.Contains(text, "old is old.cpprof, new is run.cpprof; red: more in new; blue: less") || strings.Count(text, "-30.0") == 0 {
			t.Errorf("%s: %s", format, text)
		}
	}
	// Of profiles, the counts are compared, whatever share of
	// its whole each is.
	twice := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "inuse_space", "bytes")
	once := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "inuse_space", "bytes")
	twice.Add(0, twice.Stack("main.cache"), 200, 1)
	once.Add(0, once.Stack("main.cache"), 100, 1)
	a := fixture.Must(twice.Tree())(t)
	b := fixture.Must(once.Tree())(t)
	both = fixture.Must(calltree.Merge(a, b))(t)
	s = subjectOf(s.Recording, views.Options{}, &views.View{Tree: both})
	s.Against = views.Named{Name: "old.pb.gz", Recording: s.Recording}
	checkGraph(t, s, map[string]string{"*": "old 50.0 %, new 100.0 %: +50.0 red", "main.cache": "old 50.0 %, new 100.0 %: +50.0 red"})
}

// checkGraph reports an error if the graph of a comparison has
// other texts or colours than want. Its keys are the first names
// of nodes.
func checkGraph(t *testing.T, s *Subject, want map[string]string) {
	t.Helper()
	g := fixture.Must(newCallGraph(s))(t)
	got := map[string]string{}
	for i := range g.nodes {
		colour := "grey"
		switch fill := g.nodes[i].fill(); {
		case strings.HasPrefix(fill, "#ff"):
			colour = "red"
		case strings.HasSuffix(fill, "ff"):
			colour = "blue"
		}
		got[g.nodes[i].names[0]] = g.nodes[i].percent() + " " + colour
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The tables of a comparison have the numbers that each
// recording has by itself.
func TestTablesOfComparison(t *testing.T) {
	a, b := synthetic.Recording(50, 30, 0.3), synthetic.Recording(20, 50, 0.3)
	s := bothOf(t, a, b)
	for format, keys := range map[string]int{"csv-functions": 1, "csv-classes": 1, "csv-locks": 5} {
		both := rowsOf(t, format, s, keys)
		for side, r := range []*sampledata.Recording{a, b} {
			alone := subject(t, r, views.Options{}, views.Threads)
			for key, row := range rowsOf(t, format, alone, keys) {
				cells := both[key]
				if format == "csv-functions" { // own and total, of both
					row = row[1:]
					cells = []string{cells[1-side], cells[3-side]}
				} else {
					cells = cells[(1-side)*len(row):][:len(row)]
				}
				if !slices.Equal(cells, row) {
					t.Errorf("%s: %q is %v in recording %d, want %v", format, key, cells, side, row)
				}
			}
		}
	}
}

// rowsOf returns the rows of a table but the first one by their
// first cells.
func rowsOf(t testing.TB, format string, s *Subject, keys int) map[string][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(write(t, format, s))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", format, len(rows), err)
	}
	by := map[string][]string{}
	for _, row := range rows[1:] {
		key := strconv.Quote(strings.Join(row[:keys], ","))
		if by[key] != nil {
			t.Errorf("%s: two rows of %s", format, key)
		}
		by[key] = row[keys:]
	}
	return by
}

// The entries of a comparison have what they weigh in each of
// the two recordings.
func TestRefinedComparison(t *testing.T) {
	old := calltree.NewBuilder(new(calltree.Symbols), "go:main.worker", "time", "nanoseconds")
	old.Add(0, old.Stack("main.worker", ":RUN"), 4, 1)
	old.Add(0, old.Stack("main.worker", "main.g", ":WAIT"), 5, 1)
	old.Add(0, old.Stack("main.worker", "runtime.Gosched", ":LOAD"), 3, 1) // which is also in an aspect
	before := fixture.Must(old.Tree())(t)
	both := fixture.Must(calltree.Merge(smallTree(t), before))(t)
	s := subjectOf(&sampledata.Recording{}, views.Options{}, &views.View{Tree: both})
	s.Against = views.Named{Name: "old", Recording: s.Recording}
	for _, path := range []string{"*", "* main.worker"} {
		fixture.Check(t, s.Session.Apply(refine.Step{Kind: refine.KindDown, Text: path}))
	}
	s.Refined = true
	want := "go:main.worker;main.worker;:RUN 4 10\ngo:main.worker;main.worker;main.f 0 7\ngo:main.worker;main.worker;main.g 5 0\ngo:main.worker;main.worker;runtime.Gosched 3 0\n"
	if got := write(t, "folded", s); !sameLines(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	p := fixture.Must(profile.ParseData([]byte(write(t, "pprof", s))))(t)
	if len(p.Sample) != 4 {
		t.Errorf("%d stacks in the profile, want those of 4 entries: %v", len(p.Sample), p)
	}
}

// sameLines reports whether two texts have the same lines, in any order.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
