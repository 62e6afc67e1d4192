package views

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// The form of views*.json.
type (
	vectorFile struct {
		Comment string
		Cases   []vectorCase
	}
	vectorCase struct {
		Samples []vectorSample
		End     *time.Duration // nil if every sample has the weight 1
		Weights []int64
		Views   map[string]struct {
			Server vectorView
			Thread map[string]vectorView
		}
	}
	vectorSample struct {
		Time, Suspended, Weight time.Duration
		Processors              int
		Threads                 []vectorThread
	}
	vectorThread struct {
		Class    string
		Frames   []string
		State    string
		Priority int32
		Reason   string
		Holder   *int
	}
	vectorView struct {
		Denominator int64
		Time        int64 // the denominator in nanoseconds, if samples have weights
		Stacks      []struct {
			Frames []string
			Hits   string
			Time   string
		}
	}
)

func TestVectorsViews(t *testing.T) {
	for _, file := range vectors.Files(t, "views*.json") {
		var f vectorFile
		vectors.Decode(t, file, &f)
		if len(f.Cases) == 0 {
			t.Errorf("%s: no cases", file)
		}
		for i, c := range f.Cases {
			for _, how := range []recordingForm{oneSampleEach, joined, unlistedProcessors} {
				t.Run(fmt.Sprintf("%s/%d/%s", filepath.Base(file), i, how), func(t *testing.T) { c.check(t, how) })
			}
		}
	}
}

// TestVectorsWeighted has vectors of recordings whose samples
// have weights. A brute force made them, see package weighted.
func TestVectorsWeighted(t *testing.T) {
	var f vectorFile
	vectors.Decode(t, "testdata/weighted.json", &f)
	if len(f.Cases) == 0 {
		t.Error("no cases")
	}
	for i, c := range f.Cases {
		for _, how := range []recordingForm{oneSampleEach, joined, unlistedProcessors} {
			t.Run(fmt.Sprintf("%d/%s", i, how), func(t *testing.T) { c.check(t, how) })
		}
	}
}

func (c *vectorCase) check(t *testing.T, how recordingForm) {
	r := c.recording(t, how)
	for i, want := range c.Weights {
		if got := r.Weights().Of(i, i+1); got != want {
			t.Errorf("sample %d has the weight %d, want %d", i, got, want)
		}
	}
	if len(c.Views) == 0 {
		t.Error("no views")
	}
	for name, want := range c.Views {
		a := fixture.Must(ParseAccounting(name))(t)
		o := Options{Accounting: a}
		server := fixture.Must(Server(r, o))(t)
		want.Server.compare(t, name+" server", "*", server.Tree, c.End != nil)
		classes := fixture.Must(Classes(r, o))(t)
		if len(classes) != len(want.Thread) {
			t.Errorf("%s: %d classes, want %d", name, len(classes), len(want.Thread))
		}
		for class, view := range want.Thread {
			thread := fixture.Must(Thread(r, class, o))(t)
			view.compare(t, name+" "+class, class, thread.Tree, c.End != nil)
		}
	}
}

func (v *vectorView) compare(t *testing.T, what, root string, tree *calltree.Tree, weighted bool) {
	t.Helper()
	if err := tree.Check(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	whole := v.Denominator // a hit weighs 1
	if weighted {
		whole = v.Time
	}
	m := tree.Main()
	if m.Denominator.Cmp(big.NewRat(whole, 1)) != 0 || m.Hits().Denominator.Cmp(big.NewRat(v.Denominator, 1)) != 0 {
		t.Errorf("%s: denominators %v and %v, want %d and %d", what, m.Denominator, m.Hits().Denominator, whole, v.Denominator)
	}
	want, weights := make(map[string]string), make(map[string]string)
	for _, s := range v.Stacks {
		h, ok := new(big.Rat).SetString(s.Hits)
		if !ok {
			t.Fatalf("%s: hits %q", what, s.Hits)
		}
		key := strings.Join(s.Frames, "\n")
		want[key], weights[key] = h.RatString(), h.RatString()
		if weighted {
			weights[key] = s.Time
		}
	}
	if len(want) != len(v.Stacks) {
		t.Fatalf("%s: a stack occurs twice", what)
	}
	if tree.Root() != root {
		t.Errorf("%s: root %s", what, tree.Root())
	}
	compareHits(t, what, hitsOf(tree), want)
	compareHits(t, what+", weights", weightsOf(tree), weights)
}

// hitsOf lists the hits of every stack that has some.
func hitsOf(tree *calltree.Tree) map[string]string { return ownOf(tree, tree.Main().Hits()) }

// weightsOf lists the weight of every stack that has one.
func weightsOf(tree *calltree.Tree) map[string]string { return ownOf(tree, tree.Main()) }

func ownOf(tree *calltree.Tree, m *calltree.Metric) map[string]string {
	got := make(map[string]string)
	for n := range int32(tree.Len()) {
		if h := m.Own(n); h.Sign() != 0 {
			got[strings.Join(tree.Frames(n), "\n")] = h.RatString()
		}
	}
	return got
}

type fataler interface {
	Helper()
	Errorf(string, ...any)
}

func compareHits(t fataler, what string, got, want map[string]string) {
	t.Helper()
	for s, h := range want {
		if got[s] != h {
			t.Errorf("%s: %q: got %q hits, want %s", what, s, got[s], h)
		}
	}
	for s, h := range got {
		if _, ok := want[s]; !ok {
			t.Errorf("%s: %q: got %s hits, want none", what, s, h)
		}
	}
}

// A recordingForm is a way to record a case. The case does not
// say which threads of different samples are the same.
type recordingForm string

const (
	oneSampleEach      recordingForm = "one sample each"     // every thread a goroutine of its own
	joined             recordingForm = "joined"              // the n-th thread of a class is the same in all samples
	unlistedProcessors recordingForm = "unlisted processors" // joined, and the processors don't list what they run
)

func (c *vectorCase) recording(t *testing.T, how recordingForm) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(0, 0)})
	ids := make(map[string]sampledata.GoroutineID)
	var before []sampledata.GoroutineID
	for i, s := range c.Samples {
		gs := make([]sampledata.GoroutineID, len(s.Threads))
		nth := make(map[string]int)
		for j, th := range s.Threads {
			key := fmt.Sprint(th.Class, nth[th.Class])
			nth[th.Class]++
			if how == oneSampleEach {
				key = fmt.Sprint(i, j)
			}
			g, ok := ids[key]
			if !ok {
				start := b.Function(sampledata.Function{Name: strings.TrimPrefix(th.Class, "go:")})
				g = b.Goroutine(sampledata.Goroutine{ID: int64(len(ids) + 1), Start: start})
				ids[key] = g
			}
			gs[j] = g
		}
		sample := sampledata.Sample{Time: time.Duration(i), Weight: 1} // a hit weighs 1
		if c.End != nil {
			sample = sampledata.Sample{Time: s.Time, Suspended: s.Suspended, Weight: s.Weight}
		}
		var changes []sampledata.Change
		here := make(map[sampledata.GoroutineID]bool)
		for j, th := range s.Threads {
			here[gs[j]] = true
			changes = append(changes, sampledata.Change{Goroutine: gs[j], State: th.stateIn(t, b, gs)})
			if th.State == "running" && how != unlistedProcessors {
				sample.Processors = append(sample.Processors, gs[j])
			}
		}
		for len(sample.Processors) < s.Processors {
			sample.Processors = append(sample.Processors, sampledata.IdleProcessor)
		}
		for _, g := range before {
			if !here[g] {
				changes = append(changes, sampledata.Change{Goroutine: g, Gone: true})
			}
		}
		before = gs
		fixture.Check(t, b.Sample(sample, changes))
	}
	if c.End != nil {
		fixture.Check(t, b.Finish(sampledata.End{Time: *c.End}))
	}
	r := b.Recording()
	fixture.Check(t, r.Check())
	return r
}

func (th *vectorThread) stateIn(t *testing.T, b *sampledata.Builder, gs []sampledata.GoroutineID) sampledata.State {
	s := sampledata.State{Stack: stackOf(b, th.Frames...), Priority: th.Priority}
	states := map[string]sampledata.RunState{"running": sampledata.Running, "runnable": sampledata.Runnable,
		"wait": sampledata.Waiting, "monitor": sampledata.Blocked}
	run, ok := states[th.State]
	if !ok {
		t.Fatalf("state %q", th.State)
	}
	s.Run = run
	s.Reason = strings.ReplaceAll(th.Reason, "-", " ")
	if th.Holder != nil {
		s.Holders = b.HolderSet([]sampledata.GoroutineID{gs[*th.Holder]})
		s.Evidence = sampledata.Inferred
	}
	return s
}

// stackOf returns a stack of frames, each "function" or "function:line".
func stackOf(b *sampledata.Builder, frames ...string) sampledata.NodeID {
	n := sampledata.NoStack
	for _, f := range frames {
		name, line, _ := strings.Cut(f, ":")
		at, _ := strconv.Atoi(line)
		n = b.Node(sampledata.Node{Parent: n, Function: b.Function(sampledata.Function{Name: name}), Line: int32(at)})
	}
	return n
}
