package house

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

const module = "github.com/cpprof/cpprof/"

// order lists the packages in the direction of the data: each
// may import only those before it, and packages in one entry may
// not import one another. A package includes the packages below
// it in the file tree, but for those with an entry of their own.
var order = [][]string{
	{"views/calltree", "sampledata"},
	{"sampler"},
	{"sampledata/interchange"},
	{"views"},
	{"callpath", "aspects"},
	{"refine"},
	{"internal/config"},
	{"refine/hotspots"},
	{"views/locks"},
	{"views/calls"},
	{"internal/metrics"},
	{"internal/live"},
	{"why"},
	{"internal/report"},
	{"internal/page"},
	{"internal/export"},
	{"internal/agent", "internal/mcp"},
	{"tui/session"},
	{"tui"},
	{"cmd/cpprof", "cmd/kubectl-cpprof", "docs/ask"},
}

// platforms are those that have files of their own.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// tags are the build tags of tests that run only on request.
const tags = "matrix"

// room returns the package of the order that contains a path,
// and the package's index in the order. Internal packages that
// the order does not name have no index: all packages may use
// them.
func room(path string) (name string, place int, ok bool) {
	rel, ours := strings.CutPrefix(path, module)
	if !ours {
		return "", 0, false
	}
	for i, names := range order {
		for _, n := range names {
			if (rel == n || strings.HasPrefix(rel, n+"/")) && len(n) > len(name) {
				name, place, ok = n, i, true
			}
		}
	}
	return name, place, ok
}

// A listed package is the output of the go command for one platform.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// all returns the imports of a package and of its tests.
func (p listed) all() []string {
	imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	slices.Sort(imports)
	return slices.Compact(imports)
}

// listedOn are the packages of the module by platform, as far as
// list was called.
var listedOn = map[string][]listed{}

// list returns the packages of the module for one platform.
func list(t *testing.T, platform string) []listed {
	t.Helper()
	if all := listedOn[platform]; all != nil {
		return all
	}
	cmd := exec.Command("go", "list", "-tags", tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = "../.."
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		fixture.Check(t, d.Decode(&p))
		all = append(all, p)
	}
	listedOn[platform] = all
	return all
}

// onEveryPlatform runs a test on the packages of each platform.
func onEveryPlatform(t *testing.T, test func(*testing.T, []listed)) {
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) { test(t, list(t, platform)) })
	}
}

func TestImportsFollowTheOrder(t *testing.T) {
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		seen := map[string]bool{}
		for _, p := range packages {
			name, _, ok := room(p.ImportPath)
			seen[name] = true
			rel := strings.TrimPrefix(p.ImportPath, module)
			if !ok && !strings.HasPrefix(rel, "internal/") && !strings.HasPrefix(rel, "testdata/") {
				t.Errorf("%s has no place in the order", rel)
			}
		}
		for _, n := range slices.Concat(order...) {
			if !seen[n] {
				t.Errorf("package %s of the order does not exist", n)
			}
		}
		for _, mistake := range mistakes(packages) {
			t.Error(mistake)
		}
	})
}

// mistakes returns the imports that the order forbids. The
// import of an internal package counts as an import of all that
// it imports: otherwise a package could use a later package
// through an internal one.
func mistakes(packages []listed) []string {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.ImportPath] = p.Imports
	}
	var found []string
	for _, p := range packages {
		from, fromPlace, ok := room(p.ImportPath)
		for _, path := range through(p.all(), imports) {
			to, toPlace, ours := room(path[len(path)-1])
			switch {
			case !ours || from == to:
			case !ok && (to == "cmd/cpprof" || to == "tui"), ok && toPlace >= fromPlace:
				chain := strings.Join(path, ", which imports ")
				found = append(found, p.ImportPath+" imports "+chain+", which is not before it in the order")
			}
		}
	}
	return found
}

// through returns the imports, each as a path of one element.
// For an internal package of this module, it also returns the
// paths through it to the packages that it imports.
func through(direct []string, imports map[string][]string) (paths [][]string) {
	for _, i := range direct {
		paths = append(paths, []string{i})
		if strings.HasPrefix(i, module+"internal/") {
			for _, rest := range through(imports[i], imports) {
				paths = append(paths, append([]string{i}, rest...))
			}
		}
	}
	return paths
}

func TestMistakes(t *testing.T) {
	packages := []listed{
		{ImportPath: module + "internal/tool", Imports: []string{module + "views"}},
		{ImportPath: module + "views", Imports: []string{module + "sampledata", "fmt"}},
		{ImportPath: module + "sampler", Imports: []string{module + "sampler/sub"}, XTestImports: []string{module + "internal/tool"}},
		{ImportPath: module + "aspects", TestImports: []string{module + "callpath"}},
	}
	want := []string{
		module + "sampler imports " + module + "internal/tool, which imports " + module + "views, which is not before it in the order",
		module + "aspects imports " + module + "callpath, which is not before it in the order",
	}
	if got := mistakes(packages); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Only the sampler imports Delve.
func TestOnlyTheSamplerKnowsDelve(t *testing.T) {
	onEveryPlatform(t, func(t *testing.T, packages []listed) {
		for _, p := range packages {
			from, _, _ := room(p.ImportPath)
			for _, i := range p.all() {
				if strings.HasPrefix(i, "github.com/go-delve/") && from != "sampler" {
					t.Errorf("%s imports %s", p.ImportPath, i)
				}
			}
		}
	})
}
