package interchange

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	runtimepprof "runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
)

// readBytes reads a file.
func readBytes(t testing.TB, data []byte, o Options) (*sampledata.Recording, error) {
	t.Helper()
	in, err := Stream(bytes.NewReader(data), "x", Auto)
	if err != nil {
		in, err = Stream(bytes.NewReader(data), "x", "pprof")
	}
	if err != nil {
		return nil, err
	}
	r, err := in.Recording(o)
	if err == nil {
		fixture.Check(t, r.Check())
	}
	return r, err
}

// For a profile of the Go runtime, the total is the same as that
// of pprof's own library.
func TestReadsTheRuntimesProfiles(t *testing.T) {
	var file bytes.Buffer
	fixture.Check(t, runtimepprof.Lookup("goroutine").WriteTo(&file, 0))
	theirs := fixture.Must(profile.ParseData(file.Bytes()))(t)
	want := int64(0)
	for _, s := range theirs.Sample {
		want += s.Value[0]
	}
	r := fixture.Must(readBytes(t, file.Bytes(), Options{}))(t)
	if got := r.Profile.Total(0); want == 0 || !got.IsInt() || got.Num().Int64() != want || r.Profile.Main().Name != "goroutine" {
		t.Errorf("%s of %s, want %d goroutines", got, r.Profile.Main().Name, want)
	}
	isThis := func(f sampledata.Function) bool {
		return f.Name == "testing.tRunner" && strings.HasSuffix(f.File, "testing.go")
	}
	if !slices.ContainsFunc(r.Functions, isThis) {
		t.Error("this test's caller is not in it")
	}
}

// The sample type that pprof shows comes first.
func TestDefaultSampleType(t *testing.T) {
	types := []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
	for _, c := range []struct{ theDefault, want string }{{"", "space"}, {"objects", "objects"}, {"nosuch", "space"}} {
		r, err := readBytes(t, encoded(t, &profile.Profile{SampleType: types, DefaultSampleType: c.theDefault}).Bytes(), Options{})
		fixture.Check(t, err)
		if got := r.Profile.Main().Name; got != c.want || len(r.Profile.Shown) != 2 {
			t.Errorf("default %q: first of %d is %s, want %s", c.theDefault, len(r.Profile.Shown), got, c.want)
		}
	}
}

func encoded(t testing.TB, p *profile.Profile) *bytes.Buffer {
	t.Helper()
	var file bytes.Buffer
	fixture.Check(t, p.Write(&file))
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
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Part":true}]}`), "every quantity is a part"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Whole":"1e999999999"}]}`), "is not a denominator"},
		{comment(`cpprof: {"Metrics":[{"Parts":1,"Whole":"1/0"}]}`), "is not a denominator"},
	} {
		if _, err := readBytes(t, c.file.Bytes(), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// writeTree writes a tree as a pprof profile.
func writeTree(w io.Writer, t *calltree.Tree) error {
	r, err := Profile(t)
	if err != nil {
		return err
	}
	return WritePprof(w, r)
}

func TestHitsThatDoNotFit(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "s")
	for range 3 {
		b.Add(0, b.Stack("f"), 1<<62, 1)
	}
	tree := fixture.Must(b.Tree())(t)
	if err := writeTree(&bytes.Buffer{}, tree); err == nil || !strings.Contains(err.Error(), "do not fit 64 bits") {
		t.Errorf("%v, want that they don't fit", err)
	}
}

func FuzzReadPprof(f *testing.F) {
	b := calltree.NewBuilder(new(calltree.Symbols), "main.main", "time", "s")
	b.AddHits(0, b.Stack("f", "g"), 100, 1, 3)
	b.CountHits(0, big.NewRat(1, 1))
	tree := fixture.Must(b.Tree())(f)
	var file bytes.Buffer
	fixture.Check(f, writeTree(&file, tree))
	z := fixture.Must(gzip.NewReader(&file))(f)
	var plain bytes.Buffer
	fixture.Must(plain.ReadFrom(z))(f)
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readBytes(t, data, Options{MaxMemory: 1 << 26})
		if err != nil || r.Profile == nil {
			return
		}
		fixture.Check(t, WritePprof(io.Discard, r))
	})
}

// Lines, inlined calls and labels are kept, also when the
// profile is written again.
func TestLabelsAndInlines(t *testing.T) {
	outer, inner := &profile.Function{ID: 1, Name: "main.main", Filename: "main.go", StartLine: 3}, &profile.Function{ID: 7, Name: "main.add"}
	l := &profile.Location{ID: 9, Line: []profile.Line{{Function: inner, Line: 20}, {Function: outer, Line: 5}}}
	at := &profile.Location{ID: 1 << 40, Address: 0x1234}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}, Function: []*profile.Function{outer, inner}, Location: []*profile.Location{l, at},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{l}, Value: []int64{3}, Label: map[string][]string{"route": {"/a"}}},
			{Location: []*profile.Location{at, l}, Value: []int64{4}, NumLabel: map[string][]int64{"size": {64}}, NumUnit: map[string][]string{"size": {"bytes"}}},
		},
	}
	file := written(t, p)
	for range 2 {
		r := fixture.Must(readBytes(t, file, Options{}))(t)
		want := `main.main:5 main.add:20(inlined) [{route /a}] 3
main.main:5 main.add:20(inlined) 0x1234:0 [{size 64 bytes}] 4
`
		if got := profileText(r); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		var again bytes.Buffer
		fixture.Check(t, WritePprof(&again, r))
		file = again.Bytes()
	}
}

// profileText writes the rows of a profile, one on a line.
func profileText(r *sampledata.Recording) string {
	var b strings.Builder
	for i, n := range r.Profile.Stacks {
		var stack []string
		for ; n != sampledata.NoStack; n = r.Nodes[n].Parent {
			node := r.Nodes[n]
			text := fmt.Sprintf("%s:%d", r.Functions[node.Function].Name, node.Line)
			if node.Inlined {
				text += "(inlined)"
			}
			stack = append(stack, text)
		}
		slices.Reverse(stack)
		fmt.Fprintln(&b, strings.Join(stack, " "), r.LabelSets[r.Profile.Labels[i]], r.Profile.Row(i)[0])
	}
	return b.String()
}
