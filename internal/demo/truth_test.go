package demo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
)

// TestTruthReads checks the paths of Truth: their notation,
// their aspects, and that the source has their functions.
func TestTruthReads(t *testing.T) {
	c := fixture.Must(config.Parse("cpprof.yaml", Config()))(t)
	known := map[string]bool{"os.(*File).Write": true}
	for _, f := range functions(t) {
		known[f] = true
	}
	check := func(name string) {
		switch class, isClass := strings.CutPrefix(name, "go:"); {
		case name == "*", name[0] == ':', known[name], isClass && known[class]:
		case name[0] == '@':
			if _, ok := c.Aspects.Lookup(name); !ok {
				t.Errorf("no aspect %s", name)
			}
		default:
			t.Errorf("no function %s", name)
		}
	}
	for _, p := range Truth() {
		for _, e := range p.Evidence {
			path, err := callpath.Parse(e.Path)
			if err != nil {
				t.Error(err)
				continue
			}
			if path.Elements[0].Name != e.View {
				t.Errorf("%s: %s does not begin with the view's root, %s", p.Name, e.Path, e.View)
			}
			for _, el := range path.Elements {
				check(el.Name)
			}
		}
	}
}

// functions returns the names of the server's functions in the
// form of the Go runtime.
func functions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../cmd/cpprof/orderdesk*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no server: %v", err)
	}
	var names []string
	for _, file := range files {
		tree := fixture.Must(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case f.Recv != nil:
				names = append(names, "main.("+types.ExprString(f.Recv.List[0].Type)+")."+f.Name.Name)
			default:
				names = append(names, "main."+f.Name.Name)
			}
		}
	}
	return names
}
