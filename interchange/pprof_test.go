package interchange

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	runtimepprof "runtime/pprof"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/calltree"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"
)

// hits returns the content of a tree: its root, and for each metric the denominator and the stacks that have hits.
func hits(t *calltree.Tree) map[string]string {
	said := map[string]string{"root": t.Root()}
	for _, metric := range t.Metrics() {
		said[metric.Name+" squares"] = fmt.Sprint(metric.Squares())
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

func drawTree(t *rapid.T) *calltree.Tree {
	root := rapid.SampledFrom([]string{calltree.RootName, "go:main.worker", "main.main"}).Draw(t, "root")
	b := calltree.NewBuilder(new(calltree.Symbols), root, "time", "samples")
	metrics := 1
	if rapid.Bool().Draw(t, "two metrics") {
		metrics = b.AddMetric(calltree.CallsName, "") + 1
	}
	counts := rapid.Bool().Draw(t, "hits")
	if counts {
		b.CountHits(0, big.NewRat(rapid.Int64Range(0, 1e9).Draw(t, "hits of"), rapid.Int64Range(1, 12).Draw(t, "whole")), rapid.Float64Range(0, 1e30).Draw(t, "squares"))
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
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestPprofLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		var file bytes.Buffer
		if err := WritePprof(&file, tree); err != nil {
			t.Fatal(err)
		}
		in, err := Stream(&file, "profile", Auto)
		if err != nil {
			t.Fatal(err)
		}
		if in.Format != &pprof {
			t.Fatalf("it looks like %s", in.Format.Title)
		}
		read, err := in.Tree(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Check(); err != nil {
			t.Fatal(err)
		}
		if want, got := hits(tree), hits(read); !maps.Equal(got, want) {
			t.Fatalf("read %v\nwant %v", got, want)
		}
	})
}

// For a profile of the Go runtime, the total is the same as that of pprof's own library.
func TestReadsTheRuntimesProfiles(t *testing.T) {
	var file bytes.Buffer
	if err := runtimepprof.Lookup("goroutine").WriteTo(&file, 0); err != nil {
		t.Fatal(err)
	}
	theirs, err := profile.ParseData(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, s := range theirs.Sample {
		want += s.Value[0]
	}
	tree, err := ReadPprof(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.Main().Cum(0); want == 0 || !got.IsInt() || got.Num().Int64() != want || tree.Main().Name != "goroutine" {
		t.Errorf("%s of %s, want %d goroutines", got, tree.Main().Name, want)
	}
	if tree.Named("testing.tRunner") == calltree.None {
		t.Error("this test's caller is not in it")
	}
}

// The sample type that pprof shows comes first.
func TestDefaultSampleType(t *testing.T) {
	types := []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
	for _, c := range []struct{ theDefault, want string }{{"", "space"}, {"objects", "objects"}, {"nosuch", "space"}} {
		tree, err := ReadPprof(encoded(t, &profile.Profile{SampleType: types, DefaultSampleType: c.theDefault}))
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.Main().Name; got != c.want || len(tree.Metrics()) != 2 {
			t.Errorf("default %q: first of %d is %s, want %s", c.theDefault, len(tree.Metrics()), got, c.want)
		}
	}
}

func encoded(t testing.TB, p *profile.Profile) *bytes.Buffer {
	t.Helper()
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		t.Fatal(err)
	}
	return &file
}

func TestWrongProfiles(t *testing.T) {
	types := []*profile.ValueType{{Type: "time", Unit: "s"}}
	comment := func(c string) *bytes.Buffer {
		return encoded(t, &profile.Profile{SampleType: types, Comments: []string{c}})
	}
	for _, c := range []struct {
		file *bytes.Buffer
		want string
	}{
		{bytes.NewBufferString("plain"), "pprof profile: "},
		{bytes.NewBufferString("\x1f\x8bplain"), "gzip"},
		{encoded(t, &profile.Profile{}), "no samples"},
		{comment(`cpprof: {"Root":`), "comment"},
		{comment(`cpprof: {"Metrics":[]}`), "0 metrics for 1 sample types"},
		{comment(`cpprof: {"Metrics":[{"Parts":0}]}`), "weights of 0 parts"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Hits":1}]}`), "can't belong"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Rest":-1}]}`), "can't belong"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Part":true}]}`), "every sample type belongs"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Squares":-1}]}`), "squares is -1"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Whole":"1e999999999"}]}`), "is not a denominator"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Whole":"1/0"}]}`), "is not a denominator"},
	} {
		if _, err := ReadPprof(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestHitsThatDoNotFit(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "s")
	for range 3 {
		b.Add(0, b.Stack("f"), 1<<62, 1)
	}
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	if err := WritePprof(&bytes.Buffer{}, tree); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("%v, want that they don't fit", err)
	}
}

func FuzzReadPprof(f *testing.F) {
	b := calltree.NewBuilder(new(calltree.Symbols), "main.main", "time", "s")
	b.AddHits(0, b.Stack("f", "g"), 100, 1, 3)
	b.CountHits(0, big.NewRat(1, 1), 1e4)
	tree, err := b.Tree()
	if err != nil {
		f.Fatal(err)
	}
	var file bytes.Buffer
	if err := WritePprof(&file, tree); err != nil {
		f.Fatal(err)
	}
	z, err := gzip.NewReader(&file)
	if err != nil {
		f.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(z); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := ReadPprof(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
		if err := WritePprof(&bytes.Buffer{}, tree); err != nil {
			t.Log(err) // hits may add up to more than the format holds
		}
	})
}
