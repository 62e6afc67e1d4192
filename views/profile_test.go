package views

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// contentOf returns the content of a tree: its root, and for
// each metric the denominator and the stacks that have hits.
func contentOf(t *calltree.Tree) map[string]string {
	said := map[string]string{"root": t.Root()}
	for _, metric := range t.Metrics() {
		for _, m := range []*calltree.Metric{metric, metric.Hits()} {
			said[m.Name+" of"] = m.Denominator.RatString() + " " + m.Unit
			for n := range int32(t.Len()) {
				if own := m.Own(n); own.Sign() != 0 {
					said[m.Name+" "+strings.Join(t.Frames(n), " ")] = own.RatString()
				}
			}
		}
	}
	return said
}

func drawWeighted(t *rapid.T) *calltree.Tree {
	root := rapid.SampledFrom([]string{calltree.RootName, "go:main.worker", "main.main"}).Draw(t, "root")
	b := calltree.NewBuilder(new(calltree.Symbols), root, "time", "samples")
	metrics := 1
	if rapid.Bool().Draw(t, "two metrics") {
		metrics = b.AddMetric(calltree.CallsName, "") + 1
	}
	counts := rapid.Bool().Draw(t, "hits")
	if counts {
		b.CountHits(0, big.NewRat(rapid.Int64Range(0, 1e9).Draw(t, "hits of"), rapid.Int64Range(1, 12).Draw(t, "whole")))
	}
	if rapid.Bool().Draw(t, "a denominator") {
		b.SetDenominator(0, big.NewRat(rapid.Int64Range(0, 1e9).Draw(t, "of"), rapid.Int64Range(1, 12).Draw(t, "whole")))
	}
	frame := rapid.SampledFrom([]string{"main.main", "main.f", "main.(*t).g", ":RUN", "go:main.worker", "@odd\x01[red]", "f"})
	for range rapid.IntRange(0, 12).Draw(t, "stacks") {
		node := b.Stack(rapid.SliceOfN(frame, 0, 5).Draw(t, "stack")...)
		num, den := rapid.Int64Range(0, 1e6).Draw(t, "hits"), rapid.Int64Range(1, 12).Draw(t, "parts")
		metric := rapid.IntRange(0, metrics-1).Draw(t, "metric")
		if metric == 0 && counts {
			b.AddHits(0, node, num, rapid.Int64Range(0, 1e3).Draw(t, "count"), den)
			continue
		}
		b.Add(metric, node, num, den)
	}
	return fixture.Must(b.Tree())(t)
}

// A tree that was written as a profile, and read again, is the same.
func TestPprofLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawWeighted(t)
		var file bytes.Buffer
		r := fixture.Must(interchange.Profile(tree))(t)
		fixture.Check(t, interchange.WritePprof(&file, r))
		in := fixture.Must(interchange.Stream(&file, "profile", interchange.Auto))(t)
		r = fixture.Must(in.Recording(interchange.Options{}))(t)
		fixture.Check(t, r.Check())
		read := fixture.Must(Server(r, Options{}))(t)
		fixture.Check(t, read.Tree.Check())
		if want, got := contentOf(tree), contentOf(read.Tree); !maps.Equal(got, want) {
			t.Fatalf("read %v\nwant %v", got, want)
		}
	})
}

// profileOf returns a profile with two classes by function, and a label.
func profileOf(t *testing.T) *sampledata.Recording {
	t.Helper()
	r := &sampledata.Recording{
		Functions: []sampledata.Function{{Name: "runtime.goexit"}, {Name: "main.worker"}, {Name: "main.add"}, {Name: "main.main"}},
		Nodes: []sampledata.Node{
			{Parent: sampledata.NoStack, Function: 0}, {Parent: 0, Function: 1, Line: 7}, {Parent: 1, Function: 2, Line: 9, Inlined: true},
			{Parent: sampledata.NoStack, Function: 3},
		},
		LabelSets: [][]sampledata.Label{nil, {{Key: "route", Value: "/a"}}}, HolderSets: [][]sampledata.GoroutineID{nil},
		Profile: &sampledata.Profile{
			Quantities: []sampledata.Quantity{{Name: "objects", Unit: "count", Parts: 1}, {Name: "space", Unit: "bytes", Parts: 1}},
			Stacks:     []sampledata.NodeID{2, 1, 3}, Labels: []sampledata.LabelSetID{1, 0, 1}, Values: []int64{1, 10, 2, 20, 3, 30},
		},
		End: new(sampledata.End),
	}
	r.Profile.Show("space")
	fixture.Check(t, r.Check())
	return r
}

func TestViewsOfAProfile(t *testing.T) {
	r := profileOf(t)
	for _, c := range []struct {
		class string
		o     Options
		want  string
	}{
		{"", Options{}, "* 60: * main.worker main.add 10, * main.worker 20, * main.main 30"},
		{"", Options{NoInlines: true}, "* 60: * main.worker 30, * main.main 30"},
		{"", Options{Granularity: ByLine}, "* 60: * main.worker:7 main.add:9 10, * main.worker:7 20, * main.main 30"},
		{"go:main.worker", Options{}, "go:main.worker 30: go:main.worker main.worker main.add 10, go:main.worker main.worker 20"},
		{"label:route=/a", Options{Classes: ClassBy{Label: "route"}}, "label:route=/a 40: label:route=/a main.worker main.add 10, label:route=/a main.main 30"},
	} {
		view := ThreadMaker(c.class)
		if c.class == "" {
			view = Server
		}
		v := fixture.Must(view(r, c.o))(t)
		var stacks []string
		m := v.Tree.Main()
		for n := range int32(v.Tree.Len()) {
			if own := m.Own(n); own.Sign() > 0 {
				stacks = append(stacks, strings.Join(v.Tree.Frames(n), " ")+" "+own.RatString())
			}
		}
		want := map[string]bool{}
		head, list, _ := strings.Cut(c.want, ": ")
		for _, s := range strings.Split(list, ", ") {
			want[s] = true
		}
		got := map[string]bool{}
		for _, s := range stacks {
			got[s] = true
		}
		if is := v.Tree.Root() + " " + m.Denominator.RatString(); is != head || !maps.Equal(got, want) {
			t.Errorf("%q: %s: %v, want %s", c.class, is, stacks, c.want)
		}
	}
}

func TestClassesOfAProfile(t *testing.T) {
	all := fixture.Must(Classes(profileOf(t), Options{Classes: ClassBy{Label: "route"}}))(t)
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprintf("%s %s of %d stacks", c.Class, c.Time.RatString(), c.Hits))
	}
	if want := "label:route=/a 40 of 2 stacks, go:main.worker 20 of 1 stacks"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if _, err := Thread(profileOf(t), "go:main.workers", Options{}); err == nil || !strings.Contains(err.Error(), "closest: go:main.worker") {
		t.Errorf("a class that is not there: %v", err)
	}
	if _, err := Timeline(profileOf(t), Options{}, 10); err == nil || !strings.Contains(err.Error(), "no times") {
		t.Errorf("a timeline of a profile: %v", err)
	}
}
