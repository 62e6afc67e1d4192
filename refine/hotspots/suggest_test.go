package hotspots

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

func suggested(list []*Summary) string {
	var out []string
	for _, e := range list {
		out = append(out, strings.Join(e.Path(), " "))
	}
	return strings.Join(out, ", ")
}

func TestSuggesters(t *testing.T) {
	single := NewSingle(samples(t, "go:worker",
		"20 work lock :MONITOR go:flusher flush :RUN", "10 work read lock :MONITOR :unknown-holder",
		"30 work :RUN", "5 work walk visit walk visit walk :RUN"))
	before := NewSingle(samples(t, "*", "10 a b", "20 c", "5 d"))
	change := NewComparison(samples(t, "*", "12 a b", "11 c", "5 d"), samples(t, "*", "10 a b", "20 c", "5 d"), false)
	for _, c := range []struct {
		suggester string
		profile   *Trees
		want      string
	}{
		{"HighBase", before, "c, b, d, *, a"},
		{"HighCum", before, "*, c, a, b, d"},
		{"HighBase", change, "b, *, a, d, c"},
		{"Change", change, "c, b, *, a, d"},
		{"HighBase", single, "lock, work, walk, :MONITOR, :RUN, :unknown-holder, flush, go:flusher, go:worker, read, visit"},
		{"Typed :MONITOR", single, "work lock :MONITOR, read lock :MONITOR"},
		{"Typed :WAIT", single, ""},
		{"Recursive", single, "visit walk visit, walk visit walk"},
		{"Recursive", before, ""},
	} {
		suggester := fixture.Must(ParseSuggester(c.suggester))(t)
		if got := suggested(suggester.Suggest(c.profile)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.suggester, got, c.want)
		}
	}
}

func TestCyclesAreWithinOneGoroutine(t *testing.T) {
	p := NewSingle(samples(t, "go:a", "5 f lock :MONITOR go:b f :RUN", "7 g h g", "9 g i g", "1 f lock :MONITOR go:b k k :RUN"))
	if got, want := suggested(p.Cycles()), "g i g, k k"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCyclesOfAFunctionThatRecursAreSuggested searches every stack for functions that occur twice.
func TestCyclesOfAFunctionThatRecursAreSuggested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", 1)
		recurs := make(map[string]bool)
		for n := range int32(tree.Len()) {
			frames := tree.Frames(n)
			for i, name := range frames {
				if calltree.KindOf(name) == calltree.Function && slices.Contains(frames[i+1:], name) {
					recurs[name] = true
				}
			}
		}
		list := NewSingle(tree).Cycles()
		for _, s := range list {
			path := s.Path()
			if s.Empty() || path[0] != path[len(path)-1] || slices.Contains(path[1:len(path)-1], path[0]) {
				t.Fatalf("%q is no cycle", path)
			}
			if !recurs[path[0]] {
				t.Fatalf("%q does not recur, or twice in the list", path[0])
			}
			delete(recurs, path[0])
		}
		if len(recurs) > 0 {
			t.Fatalf("no cycles of %v", recurs)
		}
	})
}

func TestParseSuggester(t *testing.T) {
	for _, name := range []string{"HighBase", "HighCum", "Typed :MONITOR", "Typed :IO-wait", "Recursive", "Change"} {
		s, err := ParseSuggester(name)
		if err != nil || s.Name != name {
			t.Errorf("%s: %s, %v", name, s.Name, err)
		}
	}
	for _, name := range []string{"", "highbase", "Typed", "Typed main", "HighBase :RUN"} {
		if _, err := ParseSuggester(name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
