package refine

import (
	"os"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

// TestVectorsRefine compares every refinement of the vectors
// with Down and Up, and every result's hits with the cost of its
// path.
func TestVectorsRefine(t *testing.T) {
	for _, file := range vectors.Files(t, "callpath*.json") {
		f := fixture.Must(os.Open(file))(t)
		defer f.Close()
		v, err := vectors.ReadCallPaths(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		queries := 0
		for i := range v.Cases {
			tree, m, err := v.Cases[i].Tree()
			fixture.Check(t, err)
			for _, q := range v.Cases[i].Queries {
				if q.Op != "cost" { // those are tested in callpath
					queries++
					checkQuery(t, i, tree, m, q)
				}
			}
		}
		t.Logf("%s: %d cases, %d refinements", file, len(v.Cases), queries)
	}
}

func checkQuery(t *testing.T, i int, tree *calltree.Tree, m *calltree.Membership, q vectors.CallPathQuery) {
	t.Helper()
	var got []Result
	switch q.Op {
	case "down-immediate":
		got = Down(tree, m, parse(t, q.Path), callpath.Immediate)
	case "down-extended":
		got = Down(tree, m, parse(t, q.Path), callpath.Extended)
	case "up-split":
		got = Up(tree, m, parse(t, q.Prefix), parse(t, q.Suffix))
	default:
		t.Fatalf("case %d: unknown op %q", i, q.Op)
	}
	if q.Results == nil {
		t.Errorf("case %d: %s: no results given", i, q.Op)
	}
	what := q.Op + " " + q.Path + q.Prefix + " | " + q.Suffix
	if len(got) != len(q.Results) {
		t.Errorf("case %d: %s: %d results, want %d", i, what, len(got), len(q.Results))
	}
	for j, r := range got {
		want, ok := q.Results[r.Name]
		if !ok || r.Hits.Cmp(&want.Rat) != 0 {
			t.Errorf("case %d: %s: %s has %s hits, want %s", i, what, r.Name, r.Hits.RatString(), want.RatString())
		}
		if c := callpath.Total(tree, m, r.Path).Weight; c.Cmp(r.Hits) != 0 {
			t.Errorf("case %d: %s: %s has %s hits, but its path costs %s", i, what, r.Path, r.Hits.RatString(), c.RatString())
		}
		if j > 0 {
			c := got[j-1].Hits.Cmp(r.Hits)
			if c < 0 || c == 0 && got[j-1].Name >= r.Name {
				t.Errorf("case %d: %s: %s comes before %s", i, what, got[j-1].Name, r.Name)
			}
		}
	}
}

func parse(t testing.TB, s string) callpath.Path {
	t.Helper()
	return fixture.Must(callpath.Parse(s))(t)
}
