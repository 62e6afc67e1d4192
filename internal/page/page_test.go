package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/klauspost/compress/flate"
)

// headerOf unpacks the header of a page's data.
func headerOf(t testing.TB, data []byte) (h header) {
	t.Helper()
	raw := fixture.Must(io.ReadAll(flate.NewReader(bytes.NewReader(data))))(t)
	length, n := binary.Uvarint(raw)
	fixture.Check(t, json.Unmarshal(raw[n:n+int(length)], &h))
	return h
}

// The page has no address of anything outside of it, and its
// policy allows its own style and script only.
func TestSelfContained(t *testing.T) {
	var out bytes.Buffer
	fixture.Check(t, Write(&out, synthesized(50, 5, 0.2)))
	text := out.String()
	if bad := regexp.MustCompile(`(?i)https?://|src=|href=|@import|url\(`).FindString(text); bad != "" {
		t.Errorf("the page has %q", bad)
	}
	want := fmt.Sprintf(policy, hash(static().style), hash(static().script), "'none'")
	if !strings.Contains(strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(text), want) {
		t.Errorf("the page has no policy %q", want)
	}
}

// Ten minutes at 100 Hz are less than 10 MB.
func TestSizeLong(t *testing.T) {
	fixture.Long(t) // it makes a recording of ten minutes
	var out bytes.Buffer
	fixture.Check(t, Write(&out, synthesized(60_000, 50, 0.05)))
	t.Logf("%.1f MB", float64(out.Len())/1e6)
	if out.Len() >= 10_000_000 {
		t.Errorf("ten minutes are %d bytes", out.Len())
	}
}

// The histories of a page have the same slices, as many moments
// as fit, and nothing is lost.
func TestSlices(t *testing.T) {
	r := synthetic.Recording(333, 20, 0.2)
	histories := func(most int) (all []*views.History) {
		for _, make := range makers {
			h := fixture.Must(make(r, views.Options{}, most))(t)
			all = append(all, h)
		}
		return all
	}
	var every []map[string]calltree.Total
	for _, h := range histories(math.MaxInt) {
		every = append(every, exactly(h.Tree, total(h, nil, r.Weights())))
	}
	for _, most := range []int{1, 100, 1000, 5000, 1_000_000} {
		all := histories(most)
		c := fit(r, all, most)
		if all[0].Each != c.each || all[1].Each != c.each || all[0].Len()+all[1].Len() > most && len(c.samples) > 1 {
			t.Errorf("at most %d moments: %d and %d in slices of %d and %d, clock of %d", most, all[0].Len(), all[1].Len(), all[0].Each, all[1].Each, c.each)
		}
		for i, h := range all {
			got := exactly(h.Tree, total(h, nil, r.Weights()))
			if !maps.EqualFunc(got, every[i], func(a, b calltree.Total) bool { return a.Weight.Cmp(b.Weight) == 0 && a.Hits.Cmp(b.Hits) == 0 }) {
				t.Errorf("at most %d moments: the sums of history %d differ", most, i)
			}
		}
	}
	if c := fit(r, histories(math.MaxInt), math.MaxInt); c.each != 1 {
		t.Errorf("slices of %d samples although all have room", c.each)
	}
}

// exactly adds up the sums of a side by stack and kind: portions
// may have different numbers of parts, and nodes different
// numbers.
func exactly(tree *calltree.Tree, s side) map[string]calltree.Total {
	all := make(map[string]calltree.Total)
	for _, m := range s.sums {
		p := s.portions[m.Portion]
		weight := new(big.Int).Lsh(big.NewInt(m.Weight.Hi), 26)
		weight.Add(weight, big.NewInt(m.Weight.Lo))
		t := calltree.Total{Weight: new(big.Rat).SetFrac(weight, big.NewInt(p.Parts)), Hits: big.NewRat(m.Hits, p.Parts)}
		stack := fmt.Sprint(p.Kind, tree.Frames(p.Node))
		if before, ok := all[stack]; ok {
			t = t.Plus(before)
		}
		all[stack] = t
	}
	return all
}

// A page of a comparison has the stacks of both recordings; one
// of a tree has nothing else.
func TestContents(t *testing.T) {
	p := synthesized(100, 10, 0.2)
	p.Against = views.Named{Name: "old.cpprof", Recording: synthetic.Recording(80, 12, 0.1)}
	data := fixture.Must(Data(p))(t)
	h := headerOf(t, data)
	if h.Against != "old.cpprof" || len(h.Trees) != 2 || h.Trees[1].Against == nil || h.Trees[1].Against.Sums == 0 || h.Trees[1].Side.Spells == 0 {
		t.Errorf("%+v", h.Trees)
	}
	v := fixture.Must(views.Server(p.Recording, p.Options))(t)
	both := fixture.Must(calltree.Merge(v.Tree, v.Tree))(t)
	p.Tree, p.Title = both, "a part"
	data = fixture.Must(Data(p))(t)
	if h := headerOf(t, data); len(h.Views) != 1 || h.Against != "old.cpprof" || h.Trees[0].Against == nil || h.Trees[0].Against.Sums != h.Trees[0].Side.Sums {
		t.Errorf("a part of both: %+v, against %s: %+v", h.Views, h.Against, h.Trees)
	}
	p.Tree, p.Against = v.Tree, views.Named{}
	data = fixture.Must(Data(p))(t)
	if h := headerOf(t, data); len(h.Views) != 1 || h.Views[0].Title != "a part" || h.Slices != 0 || h.Trees[0].Side.Sums == 0 {
		t.Errorf("%+v, %d slices, %+v", h.Views, h.Slices, h.Trees)
	}
}

// A page of two profiles has the stacks of both. It is refused
// if they count different things.
func TestTwoProfiles(t *testing.T) {
	profile := func(root, unit string, names ...string) *sampledata.Recording {
		b := calltree.NewBuilder(new(calltree.Symbols), root, "space", unit)
		for i, name := range names {
			b.Add(0, b.Stack(name), int64(i+1), 1)
		}
		return fixture.Must(interchange.Profile(fixture.Must(b.Tree())(t)))(t)
	}
	p := &Page{Name: "new.pb.gz", Recording: profile(calltree.RootName, "bytes", "f", "g")}
	p.Against = views.Named{Name: "old.pb.gz", Recording: profile(calltree.RootName, "bytes", "g", "h", "k")}
	h := headerOf(t, fixture.Must(Data(p))(t))
	// with a sum of the whole on each side
	if tree := h.Trees[0]; h.Against != "old.pb.gz" || tree.Nodes != 5 || tree.Side.Sums != 3 || tree.Against == nil || tree.Against.Sums != 4 {
		t.Errorf("against %q: %+v, %+v", h.Against, tree, tree.Against)
	}
	for want, other := range map[string]*sampledata.Recording{
		"the view of new.pb.gz is of *, and that of old.pb.gz is of main": profile("main", "bytes", "g"),
		"is of * in bytes, the other of * in objects":                     profile(calltree.RootName, "objects", "g"),
	} {
		p.Against.Recording = other
		if _, err := Data(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// bigTree returns a tree of a million nodes.
func bigTree(t testing.TB) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", views.Nanoseconds)
	random := rand.New(rand.NewPCG(1, 2))
	var fns []calltree.Func
	for i := range 20_000 {
		fns = append(fns, b.Symbols().Intern(fmt.Sprintf("example.com/pkg%d.(*type%d).method%d", i%97, i%613, i)))
	}
	way := []int32{0}
	for b.Len() < 1_000_000 {
		way = way[:1+random.IntN(len(way))]
		for len(way) < 60 && random.IntN(24) > 0 {
			way = append(way, b.Child(way[len(way)-1], fns[random.IntN(1+random.IntN(len(fns)))]))
		}
		b.Add(0, way[len(way)-1], 1+random.Int64N(1e7), 1)
	}
	return fixture.Must(b.Tree())(t)
}

// BenchmarkMillion writes a page of a million nodes.
func BenchmarkMillion(b *testing.B) {
	p := synthesized(2, 2, 1)
	p.Tree, p.Title = bigTree(b), "a million nodes"
	for b.Loop() {
		var out bytes.Buffer
		fixture.Check(b, Write(&out, p))
		b.ReportMetric(float64(out.Len())/1e6, "MB")
	}
}

// TestMillion shows a million nodes in a browser, and says how
// long it takes to open and to zoom.
func TestMillion(t *testing.T) {
	b := newTab(t)
	p := synthesized(2, 2, 1)
	p.Tree, p.Title = bigTree(t), "a million nodes"
	b.open(p)
	t.Logf("opened in %.2f s", js[float64](b, "performance.now() / 1000"))
	longest := js[float64](b, `(() => {
		let longest = 0;
		for (let i = 0; i < 40; i++) {
			const g = cpprof.graph, from = performance.now();
			cpprof.zoom(i % 8 ? g.children(g.focus, 0)[0] ?? g.calls.top : g.calls.top);
			longest = Math.max(longest, performance.now() - from);
		}
		return longest;
	})()`)
	t.Logf("the longest of 40 zooms took %.0f ms", longest)
	if nodes := js[int](b, "cpprof.trees[0].nodes"); nodes != p.Tree.Len() {
		t.Errorf("%d nodes, want %d", nodes, p.Tree.Len())
	}
	weight := p.Tree.Main().Cum(0).RatString()
	if got := js[string](b, "String(cpprof.current.exact([0]).weight)"); got != weight {
		t.Errorf("the page says %s, want %s", got, weight)
	}
	if got := js[string](b, "cpprof.current.exact([0]).cost.decimal(3)"); got != "1.000" {
		t.Errorf("the root costs %s", got)
	}
	b.picture("million")
	b.calm()
}
