package views

import (
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// A server starts two requests. The first one starts a worker,
// which starts a helper; the second one started its worker
// before it was seen. A third worker's creator was never seen.
const requests = `cpprof recording 1
start 2026-01-02T03:04:05Z
function f0 main.serve
function f1 main.handle
function f2 main.fan
function f3 main.work
function f4 main.help
node n0 f0 line=1
node n1 f1 line=10
node n2 f2 under=n1 line=20
node n3 f3 line=30
node n4 f4 line=40
node n5 f2 line=22
goroutine g0 1 start=f0
goroutine g1 2 start=f1 site=main.serve site-line=2 parent=1
goroutine g2 3 start=f1 site=main.serve site-line=2 parent=1
goroutine g3 4 start=f3 site=main.fan site-line=21 parent=2
goroutine g4 5 start=f4 site=main.work site-line=31 parent=4
goroutine g5 6 start=f3 site=main.fan site-line=21 parent=3
goroutine g6 7 start=f3 site=main.fan site-line=21 parent=99
goroutine g7 8 start=f4 site=main.work site-line=31 parent=4 system
sample 10ms
    g0 waiting n0 reason=sleep
    g1 running n1
    g2 running n1
    g5 running n3
sample 20ms
    g1 waiting n2 reason=sleep
    g3 running n3
    g4 running n4
    g6 running n3
    g7 running n4
sample 30ms
`

func TestCreatedBy(t *testing.T) {
	r := fixture.Must(sampledata.ReadText(strings.NewReader(requests)))(t)
	o := Options{CreatedBy: true, Granularity: ByLine}
	v := fixture.Must(Threads(r, o))(t)
	const handle = "* go:main.serve main.serve:2 +go:main.handle "
	compareHits(t, "all classes", spaced(hitsOf(v.Tree)), map[string]string{
		"* go:main.serve main.serve:1 :WAIT :sleep":                                                      "3",
		handle + "main.handle:10 :RUN":                                                                   "4",
		handle + "main.handle:10 main.fan:20 :WAIT :sleep":                                               "2",
		handle + "main.handle:10 main.fan:21 +go:main.work main.work:30 :RUN":                            "2",
		handle + "main.handle:10 main.fan:21 +go:main.work main.work:31 +go:main.help main.help:40 :RUN": "2",
		handle + "main.fan:21 +go:main.work main.work:30 :RUN":                                           "3",
		"* go:unknown main.fan:21 +go:main.work main.work:30 :RUN":                                       "2",
		"* go:main.help main.help:40 :RUN":                                                               "2",
	})
	v = fixture.Must(Thread(r, "go:main.handle", o))(t)
	if n := v.Tree.Main().Hits().Denominator; n.Cmp(big.NewRat(13, 1)) != 0 {
		t.Errorf("the requests own %v hits, want 13", n)
	}
	old, _ := sampledata.ReadText(strings.NewReader(strings.NewReplacer(" parent=1", "", " parent=2", "",
		" parent=3", "", " parent=4", "", " parent=99", "").Replace(requests)))
	if _, err := Threads(old, o); err == nil || !strings.Contains(err.Error(), "Go 1.21") {
		t.Errorf("without creators, the error is %v", err)
	}
}

func spaced(all map[string]string) map[string]string {
	out := make(map[string]string)
	for path, hits := range all {
		out[strings.ReplaceAll(path, "\n", " ")] = hits
	}
	return out
}

// Charged to those who started them, goroutines have the time
// that they have without, and a class has that of all goroutines
// below it.
func TestCreatedByKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		if CheckCreators(r) != nil {
			return
		}
		plain := fixture.Must(Threads(r, o))(t)
		server := fixture.Must(Server(r, o))(t)
		o.CreatedBy = true
		charged := fixture.Must(Threads(r, o))(t)
		fixture.Check(t, charged.Tree.Check())
		compareHits(t, "below the class of each", withoutCreators(charged.Tree), withoutCreators(plain.Tree))
		owned := fixture.Must(Server(r, o))(t)
		if a, b := owned.Tree.Main(), server.Tree.Main(); a.Denominator.Cmp(b.Denominator) != 0 || a.Cum(0).Cmp(b.Cum(0)) != 0 {
			t.Errorf("the Server View has %v of %v, and %v of %v without", a.Cum(0), a.Denominator, b.Cum(0), b.Denominator)
		}
		classes := fixture.Must(Classes(r, o))(t)
		below := belowClasses(charged.Tree)
		for _, c := range classes {
			v := fixture.Must(Thread(r, c.Class, o))(t)
			m := v.Tree.Main()
			if m.Denominator.Cmp(c.Time) != 0 || m.Cum(0).Cmp(c.Time) != 0 || c.Time.Cmp(below[c.Class]) != 0 {
				t.Errorf("%s has %v in its view of %v, %v in the sums, %v in the view of all", c.Class, m.Cum(0),
					m.Denominator, c.Time, below[c.Class])
			}
			delete(below, c.Class)
		}
		for class := range maps.Keys(below) {
			t.Errorf("the sums lack %s", class)
		}
	})
}

// creation returns the frames of a stack up to its typed time,
// and the index of the goroutine's own class.
func creation(frames []string) (known []string, own int) {
	for i, f := range frames[1:] {
		switch {
		case calltree.KindOf(f) == calltree.Typed:
			return frames[:i+1], own
		case calltree.KindOf(f) == calltree.Class, strings.HasPrefix(f, startedMark):
			own = i + 1
		}
	}
	return frames, own
}

// withoutCreators lists the weights of stacks without what is
// above the class of the goroutine.
func withoutCreators(t *calltree.Tree) map[string]string {
	sums := make(map[string]*big.Rat)
	for n := range int32(t.Len()) {
		if own := t.Main().Own(n); own.Sign() != 0 {
			frames := t.Frames(n)
			_, at := creation(frames)
			path := strings.TrimPrefix(strings.Join(frames[at:], "\n"), startedMark)
			if sums[path] == nil {
				sums[path] = new(big.Rat)
			}
			sums[path].Add(sums[path], own)
		}
	}
	texts := make(map[string]string)
	for path, sum := range sums {
		texts[path] = sum.RatString()
	}
	return texts
}

// belowClasses sums up what is below each class, holders of locks aside.
func belowClasses(t *calltree.Tree) map[string]*big.Rat {
	sums := make(map[string]*big.Rat)
	for n := range int32(t.Len()) {
		own := t.Main().Own(n)
		frames, _ := creation(t.Frames(n))
		seen := make(map[string]bool)
		for _, f := range frames {
			f, started := strings.CutPrefix(f, startedMark)
			if !started && calltree.KindOf(f) != calltree.Class || seen[f] {
				continue
			}
			seen[f] = true
			if sums[f] == nil {
				sums[f] = new(big.Rat)
			}
			sums[f].Add(sums[f], own)
		}
	}
	for f, sum := range sums {
		if sum.Sign() == 0 {
			delete(sums, f)
		}
	}
	return sums
}
