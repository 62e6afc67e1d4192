package refine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

const charToByte = "sun.io.CharToByteConverter"

// figure1 is a Server View with the costs of the paper's figure
// 1. Other places that convert characters have three hits each,
// and so stay below the threshold.
func figure1(t testing.TB) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", "samples")
	b.SetDenominator(0, big.NewRat(1000, 1))
	add := func(hits int64, stack string) { b.Add(0, b.Stack(strings.Fields(stack)...), hits, 1) }
	convert := " j.io.PrintWriter.close j.io.BufferedWriter.close j.io.BufferedWriter.flush j.io.OutputStreamWriter.write " + charToByte
	add(108, "smtp.run tools.dbplist.save"+convert)
	add(8, "smtp.run tools.dbplist.save j.io.PrintWriter.close")
	add(96, "queue.run tools.dbplist.save j.util.Hashtable.get")
	add(100, "smtp.run smtp.receive tools.msg.write_bfile"+convert)
	add(35, "queue.run tools.msg.write_bfile"+convert)
	add(38, "smtp.run smtp.receive tools.msg.write_bfile j.io.write")
	add(8, "smtp.run tools.msg.write_hfile"+convert)
	add(30, "smtp.run tools.msg.write_hfile j.io.write")
	for i := range 10 {
		add(3, fmt.Sprintf("smtp.run tools.other%d", i)+convert)
	}
	add(547, "gc.run")
	return fixture.Must(b.Tree())(t)
}

// shown prints what Walk visits: the cost with three decimals,
// and the label.
func shown(s *Session) string {
	var b strings.Builder
	s.Walk(func(e *Entry, depth int) {
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", depth), s.Cost(e).FloatString(3), e.Label())
		if n := s.Hidden(e); n > 0 {
			fmt.Fprintf(&b, " (%d hidden)", n)
		}
		b.WriteByte('\n')
	})
	return b.String()
}

func do(t testing.TB, s *Session, kind Kind, text string) {
	t.Helper()
	fixture.Check(t, s.Apply(Step{kind, text}))
}

func expect(t testing.TB, s *Session, want string) {
	t.Helper()
	if got := shown(s); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("shown:\n%swant:%s", got, want)
	}
}

// TestFigure1 splits upward from the conversion of characters
// until the profile is the paper's figure 1.
func TestFigure1(t *testing.T) {
	s := NewSession(figure1(t), nil)
	path := charToByte
	for _, caller := range []string{
		"j.io.OutputStreamWriter.write", "j.io.BufferedWriter.flush", "j.io.BufferedWriter.close", "j.io.PrintWriter.close",
	} {
		do(t, s, KindUp, "* | "+path)
		path = caller + " " + path
		if s.Find(parse(t, "* .."+path)) == nil {
			t.Fatalf("no entry * ..%s in\n%s", path, shown(s))
		}
	}
	do(t, s, KindUp, "* | "+path)
	s.SetThreshold(Threshold{Hits: big.NewRat(8, 1)})
	expect(t, s, `
1.000 * (60 hidden)
  0.212 ..tools.dbplist.save
    0.116 j.io.PrintWriter.close
      0.108 j.io.BufferedWriter.close
        0.108 j.io.BufferedWriter.flush
          0.108 j.io.OutputStreamWriter.write
            0.108 sun.io.CharToByteConverter
  0.173 ..tools.msg.write_bfile
    0.135 j.io.PrintWriter.close
      0.135 j.io.BufferedWriter.close
        0.135 j.io.BufferedWriter.flush
          0.135 j.io.OutputStreamWriter.write
            0.135 sun.io.CharToByteConverter
  0.038 ..tools.msg.write_hfile
    0.008 j.io.PrintWriter.close
      0.008 j.io.BufferedWriter.close
        0.008 j.io.BufferedWriter.flush
          0.008 j.io.OutputStreamWriter.write
            0.008 sun.io.CharToByteConverter
`)
}

// TestSplitKeepsDirectCalls checks that a split does not lose
// the calls that have no caller in between.
func TestSplitKeepsDirectCalls(t *testing.T) {
	s := session(t, "* f", "* a f", "* a f", "* b")
	do(t, s, KindExtended, "*")
	do(t, s, KindUp, "* | f")
	expect(t, s, `
1.000 *
  0.500 ..a
    0.500 f
  0.250 ..b
  0.250 f
`)
}

func TestUndoRedoReplay(t *testing.T) {
	s := session(t, "* a b :RUN", "* a c :RUN", "* d b :WAIT", "* d :RUN")
	before := shown(s)
	do(t, s, KindDown, "*")
	down := shown(s)
	do(t, s, KindExtended, "* a")
	do(t, s, KindPrune, "not d")
	expect(t, s, `
0.500 *
  0.500 a
    0.500 ..:RUN
    0.250 ..b
    0.250 ..c
`)
	pruned := shown(s)
	steps := s.Steps()

	s.Undo()
	s.Undo()
	if got := shown(s); got != down {
		t.Errorf("after two of three steps are undone:\n%swant:\n%s", got, down)
	}
	if !s.Undo() || s.Undo() {
		t.Error("the beginning is not three steps back")
	}
	if got := shown(s); got != before {
		t.Errorf("at the beginning again:\n%swant:\n%s", got, before)
	}
	for s.Redo() {
	}
	if got := shown(s); got != pruned {
		t.Errorf("redone:\n%swant:\n%s", got, pruned)
	}
	if s.Tree().Main().Cum(0).Cmp(big.NewRat(2, 1)) != 0 {
		t.Error("redo did not restore the pruned tree")
	}

	text := fixture.Must(json.Marshal(steps))(t)
	var read []Step
	fixture.Check(t, json.Unmarshal(text, &read))
	again := session(t, "* a b :RUN", "* a c :RUN", "* d b :WAIT", "* d :RUN")
	for _, step := range read {
		do(t, again, step.Kind, step.Text)
	}
	if got := shown(again); got != pruned {
		t.Errorf("replayed from %s:\n%swant:\n%s", text, got, pruned)
	}
}

func TestStepAfterUndoForgetsTheRest(t *testing.T) {
	s := session(t, "* a b", "* c")
	do(t, s, KindDown, "*")
	s.Undo()
	do(t, s, KindExtended, "*")
	if s.Redo() || len(s.Steps()) != 1 {
		t.Errorf("steps %v", s.Steps())
	}
}

func TestThresholdAndCollapse(t *testing.T) {
	s := session(t, "* a b", "* a b", "* a c", "* d")
	do(t, s, KindDown, "*")
	do(t, s, KindDown, "* a")
	s.SetThreshold(Threshold{Cost: big.NewRat(1, 2)})
	expect(t, s, `
1.000 * (1 hidden)
  0.750 a (1 hidden)
    0.500 b
`)
	s.Collapse(parse(t, "* a"), true)
	expect(t, s, `
1.000 * (1 hidden)
  0.750 a (1 hidden)
`)
	s.SetThreshold(Threshold{})
	s.Collapse(parse(t, "* a"), false)
	expect(t, s, `
1.000 *
  0.750 a
    0.500 b
    0.250 c
  0.250 d
`)
}

// TestAuto refines single calls, then the heavier branch; it
// stops at the threshold, and lists no aspects.
func TestAuto(t *testing.T) {
	stacks := []string{"* rare x"}
	for i := range 30 {
		stacks = append(stacks, "* main serve "+[]string{"encode :RUN", "read :WAIT :IO-wait", "encode zip :RUN"}[i%3])
	}
	tree := build(t, stacks...)
	m := calltree.NewMembership(tree.Symbols(), []string{"@all"}, func(int, string) bool { return true })
	s := NewSession(tree, m)
	s.SetThreshold(Threshold{Hits: big.NewRat(10, 1)})
	steps := s.Auto(s.Root().Path, DefaultAutoSteps)
	expect(t, s, `
1.000 * (1 hidden)
  0.968 main
    0.968 serve
      0.645 encode
        0.323 :RUN
        0.323 zip
          0.323 :RUN
      0.323 read
        0.323 :WAIT
          0.323 :IO-wait
`)
	if len(s.Steps()) != steps {
		t.Errorf("%d steps, but Auto returned %d", len(s.Steps()), steps)
	}
	if more := s.Auto(s.Root().Path, DefaultAutoSteps); more != 0 {
		t.Errorf("%d steps were left", more)
	}
	for s.Undo() {
	}
	if s.Auto(s.Root().Path, 1); len(s.Steps()) != 1 {
		t.Errorf("steps %v, want one", s.Steps())
	}
}

func TestStepsThatFindNothing(t *testing.T) {
	s := session(t, "* main.work net.Read :WAIT", "* main.idle")
	do(t, s, KindDown, "*")
	before := shown(s)
	for _, c := range []struct {
		step Step
		want string
	}{
		{Step{KindDown, "main.wrok"}, "main.wrok does not occur in this view: did you mean main.work?"},
		{Step{KindExtended, ":WAIT"}, "no calls below it"},
		{Step{KindDown, "main.idle net.Read"}, "no stack satisfies the path"},
		{Step{KindUp, "* | main.work"}, "no callers between"},
		{Step{KindFollow, ":WAIT"}, "no calls below it"},
		{Step{KindPrune, "@net"}, "there is no aspect @net"},
	} {
		err := s.Apply(c.step)
		if !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.step, err, c.want)
		}
	}
	var syntax *callpath.SyntaxError
	if err := s.Apply(Step{KindUp, "* main"}); !errors.As(err, &syntax) {
		t.Errorf("a split without a bar: %v", err)
	}
	if err := s.Apply(Step{Kind: 99}); err == nil {
		t.Error("an unknown kind passes")
	}
	var k Kind
	if err := k.UnmarshalText([]byte("sideways")); err == nil {
		t.Error("an unknown kind is read")
	}
	if got := shown(s); got != before || len(s.Steps()) != 1 {
		t.Errorf("changed to\n%s", got)
	}
}

// TestPathsAddTheEntriesAbove checks that a step adds the
// entries that lead to its path, from the root.
func TestPathsAddTheEntriesAbove(t *testing.T) {
	s := session(t, "* a b c d", "* a b e")
	do(t, s, KindDown, "b ..c")
	expect(t, s, `
1.000 *
  1.000 ..b
    0.500 ..c
      0.500 d
`)
	if e := s.Find(parse(t, "b ..c")); e == nil || e.Key() != "* ..b ..c" || e.Hits.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("found %v", e)
	}
	if e := s.Find(parse(t, "b ..d")); e != nil {
		t.Errorf("found %v", e)
	}
}

func session(t testing.TB, stacks ...string) *Session {
	t.Helper()
	s := NewSession(build(t, stacks...), nil)
	s.SetThreshold(Threshold{})
	return s
}

// build makes a tree of stacks with one hit each.
func build(t testing.TB, stacks ...string) *calltree.Tree {
	t.Helper()
	var b *calltree.Builder
	for _, stack := range stacks {
		frames := strings.Fields(stack)
		if b == nil {
			b = calltree.NewBuilder(new(calltree.Symbols), frames[0], "time", "samples")
		}
		b.Add(0, b.Stack(frames[1:]...), 1, 1)
	}
	return fixture.Must(b.Tree())(t)
}

func TestCloneGoesOnByItself(t *testing.T) {
	s := NewSession(figure1(t), nil)
	c := s.Clone()
	fixture.Check(t, c.Apply(Step{KindDown, "*"}))
	c.Collapse(c.Root().Path, true)
	if len(s.Steps()) != 0 || s.Root().Len() != 1 || s.Collapsed(s.Root()) {
		t.Errorf("a change of the clone changed the original: %v", s.Steps())
	}
	fixture.Check(t, s.Apply(Step{KindExtended, "*"}))
	if got := c.Steps(); len(got) != 1 || got[0].Kind != KindDown {
		t.Errorf("a change of the original changed its clone: %v", got)
	}
}

func TestPathAddsOneEntry(t *testing.T) {
	s := NewSession(figure1(t), nil)
	do(t, s, KindPath, "smtp.run")
	do(t, s, KindPath, "* ..tools.dbplist.save j.util.Hashtable.get")
	want := "1.000 *\n  0.322 ..smtp.run\n  0.212 ..tools.dbplist.save\n    0.096 j.util.Hashtable.get\n"
	if got := shown(s); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if err := s.Apply(Step{KindPath, "* gc.run smtp.run"}); !errors.Is(err, ErrNothing) {
		t.Errorf("a path that no stack satisfies: %v", err)
	}
}

// The ten-samples heuristic counts hits, however much they
// weigh; costs and the order are by weight.
func TestThresholdCountsHits(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", "nanoseconds")
	b.AddHits(0, b.Stack("few"), 900, 2, 1)
	b.AddHits(0, b.Stack("many"), 100, 20, 1)
	tree := fixture.Must(b.Tree())(t)
	s := NewSession(tree, nil)
	fixture.Check(t, s.Apply(Step{KindDown, "*"}))
	few, many := s.Root().Children[0], s.Root().Children[1]
	if few.Key() != "* few" || s.Visible(few) || !s.Visible(many) {
		t.Errorf("%s comes first, visible: %v, %v", few.Key(), s.Visible(few), s.Visible(many))
	}
	if cost := s.Cost(few); cost.Cmp(big.NewRat(9, 10)) != 0 {
		t.Errorf("%s costs %v", few.Key(), cost)
	}
	s.SetThreshold(Threshold{Cost: big.NewRat(1, 2)})
	if !s.Visible(few) || s.Visible(many) {
		t.Errorf("by cost, visible: %v, %v", s.Visible(few), s.Visible(many))
	}
}
