package house

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/cpprof/cpprof/"

// order lists the packages in the way of the data: each may import only what stands before it, and what is in
// one entry may not import one another. A package below another in the file tree belongs to it.
var order = [][]string{
	{"calltree", "sampledata"},
	{"sampler"},
	{"interchange"},
	{"views"},
	{"callpath", "aspects"},
	{"refine"},
	{"config"},
	{"bottlenecks"},
	{"locks"},
	{"report"},
	{"session"},
	{"tui"},
	{"cmd/cpprof"},
}

// room gives the name of the package that a path belongs to, and its place in the order; internal packages
// are tools of all, and have no place.
func room(path string) (name string, place int, ok bool) {
	rel, ours := strings.CutPrefix(path, module)
	if !ours {
		return "", 0, false
	}
	for i, names := range order {
		for _, n := range names {
			if rel == n || strings.HasPrefix(rel, n+"/") {
				return n, i, true
			}
		}
	}
	return "", 0, false
}

type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestImportsFollowTheOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t) {
		from, fromPlace, ok := room(p.ImportPath)
		if !ok {
			rel := strings.TrimPrefix(p.ImportPath, module)
			if !strings.HasPrefix(rel, "internal/") && !strings.HasPrefix(rel, "testdata/") {
				t.Errorf("%s has no place in the order", rel)
			}
		}
		seen[from] = true
		for _, i := range p.Imports {
			to, toPlace, ours := room(i)
			switch {
			case !ours || from == to:
			case !ok && (to == "cmd/cpprof" || to == "tui"):
				t.Errorf("%s imports %s", p.ImportPath, i)
			case ok && toPlace >= fromPlace:
				t.Errorf("%s imports %s, which does not stand before it", p.ImportPath, i)
			}
		}
	}
	for _, n := range []string{"calltree", "sampledata", "sampler", "views", "callpath", "aspects", "refine", "report", "cmd/cpprof"} {
		if !seen[n] {
			t.Errorf("package %s is not there", n)
		}
	}
}

// Only the sampler knows Delve.
func TestOnlyTheSamplerKnowsDelve(t *testing.T) {
	for _, p := range list(t) {
		from, _, _ := room(p.ImportPath)
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "github.com/go-delve/") && from != "sampler" {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
	}
}
